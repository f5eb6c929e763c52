"""Decisions with a stated risk: moves that are proved, audits, routes, and where to measure next.

Worlds are of three sorts. In *right* ones the graph is the world. In one with *passages* the world
has eight that the graph lacks: the premise of the interval test still holds. In *wrong* ones arcs
are false or cost more than the graph says. A move is right if no arc of the graph is better in the
world. The plan is that of the AMLE.

**Proved.** Shares of moves and routes proved by the interval test, and how many of these are wrong:
none should be. Beside them the mean distance of a state to the labels, and to the set Γ where
labels and distances determine the cost-to-go: the sharper fill distance. In right worlds also the
share of inverted pairs of neighbours, beside the most that it can be for the distribution of action
gaps and that of the errors, or of the errors that the labels allow (`audit.fidelity`).

**Audits.** Each draw of audits certifies a set of moves, or bounds the cost of routes. A draw is a
*violation* if the share of wrong moves in the set, or of routes beyond the bound, exceeds the risk.
Moves are audited one by one, and the draw is a violation if this is so after any of the audits:
nobody can stop at a worse moment. The probability of a violation is at most one minus the
confidence. Arms without a confidence bound the mean of the share instead.

**Labels.** A few labels, drawn at random, as far apart as possible, or by `wf.next_labels`, one
after the other.

**Influence.** The number of labels that a value rests on, by its derivative (`field.influence`):
those with any weight, those above a hundredth, and the effective number 1 / Σ w².

Columns of audits: ``draws``, 100 for each cell (10 with held-out labels); ``violations``;
``risk``, the mean share that is wrong; ``value``, the share certified after 30 audits, or for
routes the median bound on cost over least cost; ``audits``, the mean number until .9 of the moves
are certified. Of influence: ``labels`` with any weight, ``heavy`` ones, ``effective``, and
``traced``, the states that have a derivative.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import wayfield as wf
from wayfield import audit, travel
from wayfield.advice import Answer
from wayfield.certificates import Audit, HeldOutAudit, audit_held_out
from wayfield.fields import Method
from wayfield.fields.base import takes_directed
from wayfield.graphs.labels import label_distance
from wayfield.typing import BoolArray, FloatArray

from ..engine import Profile, Records, Row
from ..report import StudyFinding, Table
from . import directed
from .comparison import Settings, make_experiment
from .wrong_worlds import DecisionCase, make_wrong_world

RIGHT = ("medium", "large", "medium-eval", "large-eval", "giant", *directed.WORLDS)
PASSAGES = ("medium + passages", "large-eval + passages")
WRONG = ("walls", "patch", "road")
WORLDS = (*RIGHT, *PASSAGES, *WRONG)
REFINEMENT, SIZE = 8, 2_000
"""Of mazes, and of directed worlds."""
FRACTIONS = (0.02, 0.05, 0.12)
SEEDS = 20
DRAWS, SPLITS = 100, 10
"""Draws of audits and of routes for each cell, and draws of the labels that are held out."""
AUDITS, RISK, CONFIDENCE = 30, 0.1, 0.9
MOST_AUDITS, ENOUGH = 100, 0.9
"""Audits of a draw, and the share of certified moves whose first audit is noted."""
STATES, HEAVY = 30, 0.01
"""States of a cell whose influence is traced; weights above this count as heavy."""
TITLES = {"amle": "AMLE", "harmonic": "harmonic"}
COUNTS = (5, 10, 20)
"""Numbers of labels, the goal's included."""
AMLE = wf.AMLE(bracket=False)


@dataclass(frozen=True)
class DecisionCell(Settings):
    """A world, how many of its states are labelled, and a seed."""

    world: str
    label_fraction: float
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator, the cell's own."""
        name = f"{self.world.replace(' ', '-')}-lf{self.label_fraction:g}-s{self.seed}"
        return np.random.default_rng([*name.encode(), 32])

    def draw(self) -> DecisionCase:
        """Make the world."""
        if self.world in directed.WORLDS:
            world = directed.make_world(self.world, SIZE, 3_200 + self.seed)
            graph, goal = world.graph, world.goal
            return DecisionCase(graph, goal, wf.cost_to_go(graph, goal), graph.lengths)
        if self.world in WRONG:
            return make_wrong_world(self.world, 3_200 + self.seed)
        rng = np.random.default_rng([*self.world.encode(), self.seed])
        maze, _, more = self.world.partition(" + ")
        graph = wf.grid_graph(wf.load_layout(maze), REFINEMENT)
        n, goal = graph.num_vertices, int(rng.integers(graph.num_vertices))
        truth = wf.cost_to_go(graph, goal)
        if more:
            a, b = rng.integers(0, n - 1, (2, 8))
            b += b >= a
            once = graph.tails < graph.indices
            tails, heads = np.append(graph.tails[once], a), np.append(graph.indices[once], b)
            lengths = np.append(graph.lengths[once], np.full(8, 3.0))
            truth = wf.cost_to_go(wf.Graph.from_edges(tails, heads, lengths, n), goal)
        return DecisionCase(graph, goal, truth, graph.lengths)

    def labels(self, case: DecisionCase) -> wf.Labels:
        """Draw states that can reach the goal, and label them with the truth; the goal is one."""
        able = np.setdiff1d(np.flatnonzero(np.isfinite(case.truth)), [case.goal])
        count = min(round(self.label_fraction * case.truth.size), able.size)
        drawn = np.append(self.rng.choice(able, count, replace=False), case.goal)
        return wf.Labels(drawn, case.truth[drawn])


def cells(profile: Profile) -> list[DecisionCell]:
    """Return every world and label fraction, or a few for the quick profile."""
    if profile.name == "quick":
        return [DecisionCell(world, 0.05, 0) for world in ("medium", "terrain maze", "walls")]
    return [DecisionCell(w, f, s) for s, w, f in product(range(SEEDS), WORLDS, FRACTIONS)]


def right_cells(profile: Profile) -> list[DecisionCell]:
    """Return those whose graph is right: elsewhere distances do not bound the cost."""
    return [cell for cell in cells(profile) if cell.world in RIGHT]


# -------------------------------------------------------------------- proved moves


def run_proved(cell: DecisionCell) -> list[Row]:
    """One row: counts of decisions, of proved ones and of wrong ones among them, and distances."""
    case = cell.draw()
    graph, goal, labels = case.graph, case.goal, cell.labels(case)
    answer = wf.solve(graph, labels, goal, AMLE, check=False)
    found = answer.certificate.intervals
    right, _ = case.judge(answer.plan.successor)
    decides = np.isfinite(case.truth) & answer.plan.reachable
    decides[goal] = False
    known = labels.vertices
    if not found.refuted:
        known = np.flatnonzero(found.upper - found.lower <= 1e-9 * (1.0 + found.lower))
    row: Row = {
        "decisions": int(decides.sum()),
        "proved": int((found.proved & decides).sum()),
        "routes": int((found.route_proved & decides).sum()),
        "wrong": int((found.proved & decides & ~right).sum()),
        "refuted": int(found.refuted),
    }
    for name, at in (("to_labels", labels.vertices), ("to_known", known)):
        away = label_distance(graph, wf.Labels(at, np.zeros(at.size)))
        row[name] = float(away[np.isfinite(away)].mean())
    bounds = (np.nan, np.nan, np.nan)
    if cell.world in RIGHT:
        field = audit.ordering(graph, answer.field, case.truth, goal)
        plain, by_labels = (
            audit.fidelity(field, errors) for errors in (None, answer.certificate.error_bound)
        )
        bounds = (plain.inverted, plain.bound, by_labels.bound)
    return [row | dict(zip(("inverted", "if_errors", "if_labels"), bounds, strict=True))]


def by_world(
    rows: Records, name: str, title: str, heads: dict[str, str], form: str, note: str = ""
) -> Table:
    """Tabulate the means of some columns: a row for each world, the label fractions in a cell."""
    lines = []
    for world, group in rows.by("world").items():
        fractions = group.by("label_fraction").values()
        texts = [" / ".join(f"{some.mean(each):{form}}" for some in fractions) for each in heads]
        lines.append([world, *texts])
    note = f"{note} At label fractions {' / '.join(map(str, FRACTIONS))}.".strip()
    return Table(name, title, ["world", *heads.values()], lines, note)


def tables_proved(rows: Records) -> list[Table]:
    """Tabulate shares, distances and inversions by world."""
    heads = {
        "proved": "moves proved",
        "routes": "routes proved",
        "refuted": "premise refuted",
        "to_labels": "distance to labels",
        "to_known": "distance to Γ",
        "inverted": "inverted pairs",
        "if_errors": "at most, by errors",
        "if_labels": "at most, by labels",
    }
    shares = Records.of(
        row | {name: row[name] / row["decisions"] for name in ("proved", "routes")} for row in rows
    )
    title = "What labels and distances prove"
    return [by_world(shares, "proved", title, heads, ".2f", "Means over seeds.")]


def findings_proved(rows: Records) -> Iterator[StudyFinding]:
    """Report whether a proved move was wrong."""
    sound = Records.of(row for row in rows if row["world"] not in WRONG)
    false = Records.of(row for row in rows if row["world"] in WRONG)
    yield StudyFinding(
        "new" if sound.total("wrong") == 0 else "differs",
        "Are proved moves right?",
        f"{sound.total('wrong'):,} of {sound.total('proved'):,} proved moves are wrong where the "
        f"premise holds. Where arcs are false or too cheap the labels refute it in "
        f"{false.total('refuted')} of {len(false)} cells; in the others "
        f"{false.total('wrong'):,} of {false.total('proved'):,} are wrong.",
    )


PROVED = make_experiment(
    "proved", 1, run_proved, cells, {"tables": tables_proved, "findings": findings_proved}
)


# -------------------------------------------------------------------- audits


def run_audits(cell: DecisionCell) -> list[Row]:
    """One row for every arm: draws, violations, and means of what was certified and of its risk."""
    case, rng = cell.draw(), cell.rng
    graph, goal, labels = case.graph, case.goal, cell.labels(case)
    answer = wf.solve(graph, labels, goal, AMLE, check=False)
    right, cost = case.judge(answer.plan.successor)
    rows = []
    # elsewhere the premise of proved moves is false
    arms = {"": False} | ({} if cell.world in WRONG else {"proved_": True})
    for prefix, proved in arms.items():
        audits = (
            wf.audit_decisions(answer, RISK, CONFIDENCE, use_proved=proved, seed=draw)
            for draw in range(DRAWS)
        )
        risks, shares, counts = np.transpose([audited(one, right) for one in audits])
        rows.append(summary(f"{prefix}audits", risks, shares) | {"audits": float(counts.mean())})

    # half of the labels are held out: the plan is another one, and executed once from each of them
    # for every arm the risk of each draw, and the share or factor that it states
    splits: dict[str, list[tuple[float, float]]] = {prefix: [] for prefix in arms}
    others = np.flatnonzero(labels.vertices != goal)
    for _ in range(SPLITS):
        held = np.zeros(len(labels), dtype=bool)
        held[rng.choice(others, others.size // 2, replace=False)] = True
        kept, rest = (wf.Labels(labels.vertices[w], labels.values[w]) for w in (~held, held))
        half = wf.solve(graph, kept, goal, AMLE, check=False)
        good, moves = case.judge(half.plan.successor)
        for prefix, draws in splits.items():
            sample = audit_held_out(half, rest, RISK, CONFIDENCE, use_proved=arms[prefix])
            done = sample.certify(sample.judge(executed(half, sample, moves)))
            draws.append((wrong_share(done.certified, good), done.share))
    rows += [summary(f"{name}held_out", *np.transpose(draws)) for name, draws in splits.items()]

    # routes: cost over least cost from audited starts
    plan = answer.plan
    starts = np.flatnonzero(plan.reachable & np.isfinite(case.truth) & (case.truth > 0.0))
    paid = np.full(plan.values.size, np.inf)
    paid[goal] = 0.0
    for x in np.argsort(plan.steps, kind="stable"):
        if plan.reached[x] and x != goal:
            paid[x] = cost[x] + paid[plan.successor[x]]
    ratio = paid[starts] / case.truth[starts]
    sure: dict[str, Any] = {"confidence": CONFIDENCE, "population": starts.size}
    for arm, stated in (("routes_mean", {}), ("routes", sure)):
        found = []
        for _ in range(DRAWS):
            some, factor = ratio[rng.choice(starts.size, AUDITS, replace=False)], np.inf
            with suppress(wf.InputError):  # too many of them never arrive
                factor = travel.cost_bound(np.ones(AUDITS), some, 1.0 - RISK, **stated).factor
            found.append(((ratio > factor * (1.0 + 1e-12)).mean(), factor))
        rows.append(summary(arm, *np.transpose(found)))
    return rows


def audited(one: Audit, right: BoolArray) -> tuple[float, float, float]:
    """Return the largest risk after any audit, the share after 30, and the audits for .9 of all.

    A draw that never certifies that many counts as `MOST_AUDITS`.
    """
    worst, share = wrong_share(one.result.certified, right), one.result.share
    enough = 0.0 if share >= ENOUGH else np.inf
    for count in range(1, MOST_AUDITS + 1):
        if one.state is None:
            break
        done = one.record(bool(right[one.state]))
        worst = max(worst, wrong_share(done.certified, right))
        share = done.share if count <= AUDITS else share
        enough = min(enough, count) if done.share >= ENOUGH else enough
    return worst, share, min(enough, MOST_AUDITS)


def wrong_share(certified: BoolArray, right: BoolArray) -> float:
    """Share of wrong moves among those certified; 0 if there are none."""
    return float((certified & ~right).sum()) / max(int(certified.sum()), 1)


def summary(arm: str, risks: FloatArray, values: FloatArray) -> Row:
    """Return the row of an arm from the risk of each draw, and the share or factor it states."""
    return {
        "arm": arm,
        "draws": risks.size,
        "violations": int((risks > RISK * (1.0 + 1e-9)).sum()),
        "risk": float(risks.mean()),
        "value": float(np.median(values) if "routes" in arm else values.mean()),
        "audits": np.nan,
    }


def executed(answer: Answer, one: HeldOutAudit, cost: FloatArray) -> FloatArray:
    """Return the world's cost of the plan's route from each held-out label to its end."""
    at, paid = one.states.copy(), np.where(one.ends < 0, np.inf, 0.0)
    while (on := np.flatnonzero((at != one.ends) & np.isfinite(paid))).size:
        paid[on] += cost[at[on]]
        at[on] = answer.plan.successor[at[on]]
    return paid


ARMS = {
    "audits": "30 audits", "proved_audits": "30 audits and proved moves",
    "held_out": "half of the labels held out",
    "proved_held_out": "half of the labels held out, and proved moves",
    "routes": "30 routes", "routes_mean": "30 routes, on average",
}  # fmt: skip


def tables_audits(rows: Records) -> list[Table]:
    """Tabulate what every arm certifies, its violations and its mean risk by world."""
    found = []
    for arm, title in ARMS.items():
        some = rows.where(arm=arm)
        rates = Records.of(row | {"violated": row["violations"] / row["draws"]} for row in some)
        what = "cost over least cost, at most" if "routes" in arm else "share certified"
        heads = {"value": what, "violated": "violations", "risk": "mean risk"}
        if "audits" in arm:
            heads |= {"audits": f"audits for {ENOUGH:g} of the moves"}
        note = "It bounds the mean risk only." if "mean" in arm else ""
        found.append(by_world(rates, f"audits-{arm}", f"By {title}", heads, ".3f", note))
    return found


def findings_audits(rows: Records) -> Iterator[StudyFinding]:
    """Report the largest share of violations, and the largest mean risk."""
    groups = rows.by("arm", "world", "label_fraction")
    rates = {
        key: some.ratio("violations", "draws")
        for key, some in groups.items()
        if "mean" not in key[0]
    }
    risks = {key: some.mean("risk") for key, some in groups.items() if "mean" in key[0]}
    worst, riskiest = max(rates, key=lambda key: rates[key]), max(risks, key=lambda key: risks[key])
    sure = Records.of(row for row in rows if "mean" not in row["arm"])
    yield StudyFinding(
        "new" if rates[worst] <= 1.0 - CONFIDENCE and risks[riskiest] <= RISK else "differs",
        "Do audits hold what they state?",
        f"Of {sure.total('draws'):,} draws that state a risk of {RISK:g} with confidence "
        f"{CONFIDENCE:g}, {sure.total('violations'):,} exceed it; most often {ARMS[worst[0]]} on "
        f"{worst[1]}, label fraction {worst[2]:g}: {rates[worst]:.1%} of the draws. Where the risk "
        f"is stated on average, the largest mean is {risks[riskiest]:.3f} ({ARMS[riskiest[0]]}, "
        f"{riskiest[1]}).",
    )


AUDITED = make_experiment(
    "audits", 2, run_audits, cells,
    {
        "about": f"Moves certified by {AUDITS} audits, one after another, or by held-out labels at "
        f"a risk of {RISK:g}, and routes whose cost is bounded from {AUDITS} others, in worlds "
        "whose graph is right, lacks passages, or is wrong.",
        "tables": tables_audits, "findings": findings_audits,
    },
)  # fmt: skip


# -------------------------------------------------------------------- where to measure next


def run_labels(cell: DecisionCell) -> list[Row]:
    """One row for every arm and number of labels: mean cost over least cost, and right moves."""
    case = cell.draw()
    graph, goal, truth = case.graph, case.goal, case.truth
    able = np.isfinite(truth)
    able[goal] = False
    rows: list[Row] = []
    for arm in ("random", "farthest", "next"):
        labels, more = wf.Labels([goal], [0.0]), cell.rng.permutation(np.flatnonzero(able))
        for count in range(2, max(COUNTS) + 1):
            x = int(more[count])
            if arm == "farthest":
                x = int(np.argmax(np.where(able, label_distance(graph, labels), -1.0)))
            elif arm == "next" and (found := wf.next_labels(graph, labels, goal)).size:
                x = int(found[0])
            vertices = np.append(labels.vertices, x)
            labels = wf.Labels(vertices, truth[vertices])
            if count in COUNTS:
                plan = wf.plan(graph, wf.extend(graph, labels, AMLE, unreachable="nan"), goal)
                right, _ = case.judge(plan.successor)
                some = able & plan.reached
                rows.append({
                    "arm": arm,
                    "labels": count,
                    "cost_ratio": float((plan.cost[some] / truth[some]).mean()),
                    "right": float(right[able].mean()),
                    "reached": float(plan.reached[able].mean()),
                })  # fmt: skip
    return rows


def tables_labels(rows: Records) -> list[Table]:
    """Tabulate cost ratio and share of right moves by world, arm and number of labels."""
    lines = [
        [f"{world}, {count} labels"]
        + [
            f"{some.mean('cost_ratio'):.3f} ({some.mean('right'):.2f})"
            for some in group.by("arm").values()
        ]
        for (world, count), group in rows.by("world", "labels").items()
    ]
    heads = ["world", "random", "as far apart as possible", "by next_labels"]
    note = "Mean cost over least cost of the starts that arrive (share of right moves); over seeds."
    return [Table("labels", "Where to measure next", heads, lines, note)]


def findings_labels(rows: Records) -> Iterator[StudyFinding]:
    """Compare the arms at ten labels."""
    some = rows.where(labels=COUNTS[1]).by("arm")
    ratios = {arm: some[arm].mean("cost_ratio") for arm in ("random", "farthest", "next")}
    yield StudyFinding(
        "new" if ratios["next"] == min(ratios.values()) else "differs",
        "Where should one measure next?",
        f"With {COUNTS[1]} labels plans cost {ratios['next']:.3f} times the least if labels are "
        f"measured where bounds are widest, {ratios['farthest']:.3f} times if they are as far "
        f"apart as possible, and {ratios['random']:.3f} times if they are drawn at random.",
    )


CHOSEN = make_experiment(
    "next_labels", 1, run_labels,
    lambda profile: [cell for cell in right_cells(profile) if cell.label_fraction == FRACTIONS[1]],
    {"tables": tables_labels, "findings": findings_labels},
)  # fmt: skip
# -------------------------------------------------------------------- which labels decide


def run_influence(cell: DecisionCell) -> list[Row]:
    """Return one row per method that the graph allows: mean numbers of labels per value."""
    case = cell.draw()
    graph, labels = case.graph, cell.labels(case)
    free = np.setdiff1d(np.flatnonzero(np.isfinite(case.truth)), labels.vertices)
    drawn = cell.rng.choice(free, min(STATES, free.size), replace=False)
    rows: list[Row] = []
    methods: dict[str, Method] = {"amle": AMLE, "harmonic": wf.Harmonic(bracket=False)}
    for arm, method in methods.items():
        if takes_directed(method) or not graph.directed:
            field = wf.extend(graph, labels, method, unreachable="nan")
            weights = []
            for x in drawn.tolist():
                with suppress(wf.InputError):  # on a directed graph a value may be discontinuous
                    weights.append(field.influence(x).weights)
            rows.append({
                "arm": arm,
                "known": len(labels),
                "traced": len(weights),
                "labels": float(np.mean([w.size for w in weights])),
                "heavy": float(np.mean([(w > HEAVY).sum() for w in weights])),
                "effective": float(np.mean([1.0 / (w @ w) for w in weights])),
            })  # fmt: skip
    return rows


def tables_influence(rows: Records) -> list[Table]:
    """Tabulate labels per value by world and method."""
    heads = {
        "known": "labels in all", "labels": "labels per value", "heavy": "above .01",
        "effective": "1 / Σ w²",
    }  # fmt: skip
    title, note = "On how many labels a value rests", f"Means over seeds and {STATES} states."
    return [
        by_world(some, f"influence-{arm}", f"{title}, {TITLES[arm]}", heads, ".1f", note)
        for arm, some in rows.by("arm").items()
    ]


def findings_influence(rows: Records) -> Iterator[StudyFinding]:
    """Compare the AMLE with the harmonic extension."""
    arms = rows.by("arm")
    few, many = (arms[arm].mean("labels") for arm in ("amle", "harmonic"))
    yield StudyFinding(
        "new",
        "On how many labels does a value rest?",
        f"On {few:.1f} on average for the AMLE, on {many:.0f} for the harmonic extension.",
    )


INFLUENCE = make_experiment(
    "influence", 1, run_influence, right_cells,
    {"tables": tables_influence, "findings": findings_influence},
)  # fmt: skip
EXPERIMENTS = (PROVED, AUDITED, CHOSEN, INFLUENCE)
