"""Beyond the paper: noisy labels, other mazes, other rules.

**Noise.** Independent normal errors of standard deviation σ, in steps, on every label but the
goal's; their largest size is the labels' ``error``. The paper's two ends and p = 8 are planned on
as they are. The exact AMLE is also tried as it should be used: steepest descent with exit ties on
the labels that are left when false sinks are dropped, which on an undirected graph reaches from
everywhere.

**Held out.** The arms of the main experiment on public maps that the paper has not seen.

**Ties.** Tie rules and greedy rules on exact AMLE fields. On the maze itself, all lengths 1, argmin
Q and steepest descent are one rule, and only ties differ: by index, by index within a tolerance, by
exit. On the same maze with lengths drawn from 1 to 9, ``lengths = "random"``, the rules differ too,
though labels and field stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np

import wayfield as wf
from wayfield.plans.planning import RuleName, TieName

from ..engine import Records, Row
from ..paper.grid import AUDIT_SEEDS, SEEDS
from ..paper.measures import on_cells
from ..report import Chart, Mark, Section, StudyFinding, Table, against
from .comparison import COUNTED, SUCCESS, across, failing, success
from .mazes import Draw, MazeCell, cells_by_profile, grid, maze_experiment
from .rollout import rows_of
from .trial import EXACT, EXACT_EXIT, HARMONIC, Arm, Trial, power_arm

SIGMAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
TRIMMED = replace(EXACT_EXIT, name="amle_trimmed", title="AMLE, false sinks dropped", rule="slope")
AS_THEY_ARE = (HARMONIC, power_arm(8), EXACT)
MAZES = ("umaze", "umaze-eval", "medium-eval", "large-eval", "giant")
LONGEST = 9
TOLERANCE = 1e-9
"""Relative to the largest label."""
RULES: dict[RuleName, str] = {"q": "argmin Q", "slope": "steepest descent"}
TIES: tuple[TieName, ...] = ("index", "exit")

cells_of = partial(cells_by_profile, paper=16, full=64)
SMALL = partial(grid, ["medium"], [4], [0.08], SEEDS[:1])
"""One small cell."""
THREE = partial(grid, label_fractions=[0.02, 0.05, 0.12], seeds=AUDIT_SEEDS)


def mark_and_count(rows: Records, arm: str) -> tuple[Mark, str]:
    """Whether every start of an arm reaches, as a mark; and how many of all starts fail."""
    lost, starts = failing(rows, arm, "_all"), rows.where(arm=arm).total("starts_all")
    return "new" if lost == 0 else "differs", f"{lost:,} of {starts:,}"


# -------------------------------------------------------------------- noisy labels


def run_noise(cell: MazeCell) -> list[Row]:
    """Return one row for every σ and arm."""
    exact = cell.draw()
    rows: list[Row] = []
    for sigma in SIGMAS:
        noisy = with_noise(exact, sigma)
        trimmed = [
            wf.drop_false_sinks(noisy.graph, labels, int(goal), wf.AMLE(bracket=False))
            for labels, goal in zip(noisy.labels, noisy.goals, strict=True)
        ]
        dropped = sum(labels.dropped.size for labels in trimmed)
        trial, safe = Trial(noisy), Trial(replace(noisy, labels=list(trimmed)))
        about: Row = {"sigma": sigma, "error": max(labels.error for labels in noisy.labels)}
        rows += [about | {"dropped": 0} | trial.row(arm) for arm in AS_THEY_ARE]
        rows.append(about | {"dropped": dropped} | safe.row(TRIMMED))
    return rows


def with_noise(drawn: Draw, sigma: float) -> Draw:
    """Add normal errors to all labels but the goals'; for another σ the same ones, scaled."""
    noisy = []
    for index, (labels, goal) in enumerate(zip(drawn.labels, drawn.goals, strict=True)):
        rng = np.random.default_rng([drawn.label_seed, index])
        errors = np.where(labels.vertices == goal, 0.0, rng.normal(size=len(labels)))
        values = labels.values + sigma * errors
        error = float(np.abs(values - labels.values).max())
        noisy.append(wf.Labels(labels.vertices, values, error))
    return replace(drawn, labels=noisy)


def by_noise(rows: Records) -> list[Chart]:
    """Draw success against the noise."""
    arms = (*AS_THEY_ARE, TRIMMED)
    return [
        against(chosen, "sigma", arms, f"Success against noise, lf = {lf:g}", lambda s: f"σ {s:g}")
        for lf, chosen in rows.by("label_fraction").items()
    ]


@on_cells
def at_most_noise(rows: Records) -> Iterator[StudyFinding]:
    """Report success at the highest noise level."""
    worst = max(rows.values("sigma"))
    noisy, (mark, lost) = rows.where(sigma=worst), mark_and_count(rows, "amle_trimmed")
    yield StudyFinding(
        mark,
        "What is left when the labels are noisy?",
        f"At σ = {worst:g} steps, plain argmin-Q planning reaches from "
        f"{success(noisy, 'harmonic'):.1%} of the starts on harmonic and "
        f"{success(noisy, 'amle'):.1%} on AMLE values. With false sinks dropped and steepest "
        f"descent, {lost} starts fail, over all σ.",
    )


SECTION = Section(
    "noise",
    "Beyond the paper: noisy labels",
    "Normal errors of standard deviation σ, in steps, on every label but the goal's. "
    "“False sinks dropped” leaves out the labels that would trap a walk, and walks by "
    "steepest descent with exit ties.",
    charts=by_noise,
    tables=lambda rows: [across(rows, ["sigma"], "by-sigma", "Success by σ", SUCCESS)],
    findings=at_most_noise,
)
cells = cells_of(SMALL, partial(THREE, refinements=[8]))
NOISE = maze_experiment("noise", "Noisy labels", 1, run_noise, cells, 34.0, SECTION)


# -------------------------------------------------------------------- other mazes


@on_cells
def on_other_mazes(rows: Records) -> Iterator[StudyFinding]:
    """Report success on mazes that the paper has not seen."""
    if not {"amle_exit", "harmonic"} <= set(rows.values("arm")):
        return
    mark, lost = mark_and_count(rows, "amle_exit")
    shares = {str(maze): success(some, "harmonic") for maze, some in rows.by("maze").items()}
    worst = min(shares, key=lambda maze: shares[maze])
    yield StudyFinding(
        mark,
        "Does it hold on other mazes?",
        f"On {len(shares)} public maps the paper has not used, harmonic reaches from "
        f"{shares[worst]:.1%} ({worst}) to {max(shares.values()):.1%} of the starts; the exact "
        f"AMLE with exit ties fails from {lost}.",
    )


SECTION = Section(
    "held-out",
    "Beyond the paper: mazes it has not seen",
    "The same arms on other public maps.",
    tables=lambda rows: [across(rows, ["maze"], "by-maze", "Success by maze", SUCCESS)],
    findings=on_other_mazes,
)
cells = cells_of(partial(grid, MAZES, [3], [0.05], SEEDS[:1]), partial(THREE, mazes=MAZES))
HELD_OUT = maze_experiment(
    "held_out", "Held-out mazes", 2, rows_of, cells, 3.0, SECTION, compares=True
)


# -------------------------------------------------------------------- ties and rules


def run_ties(cell: MazeCell) -> list[Row]:
    """Return one row for every kind of lengths, rule, tie rule and tolerance."""
    unit = cell.draw()
    rows: list[Row] = []
    for lengths, drawn in (("unit", unit), ("random", with_random_lengths(unit))):
        trial = Trial(drawn)
        largest = max(float(labels.values.max()) for labels in drawn.labels)
        for rule, ties, tolerance in product(RULES, TIES, (0.0, TOLERANCE)):
            name = f"{rule}_{ties}" + ("_tolerance" if tolerance else "")
            within = tolerance * largest
            arm = Arm(name, name, method=EXACT.method, ties=ties, rule=rule, tie_tolerance=within)
            about: Row = {"lengths": lengths, "rule": rule, "ties": ties, "tolerance": tolerance}
            rows.append(about | trial.row(arm))
    return rows


def with_random_lengths(drawn: Draw) -> Draw:
    """Draw a length from 1 to 9 for every edge; the labels keep their places."""
    graph = drawn.graph
    once = graph.tails < graph.indices
    rng = np.random.default_rng([drawn.label_seed, LONGEST])
    lengths = rng.integers(1, LONGEST, size=int(once.sum()), endpoint=True).astype(np.float64)
    rough = wf.Graph.from_edges(graph.tails[once], graph.indices[once], lengths, graph.num_vertices)
    truths = [wf.cost_to_go(rough, int(goal)) for goal in drawn.goals]
    labels = [
        wf.Labels(known.vertices, truth[known.vertices])
        for known, truth in zip(drawn.labels, truths, strict=True)
    ]
    return replace(drawn, graph=rough, truths=truths, labels=labels)


def by_planner(rows: Records) -> list[Table]:
    """Tabulate success by lengths, rule, tie rule and tolerance."""
    groups = rows.by("lengths", "rule", "ties", "tolerance").items()
    named = {
        f"{lengths} lengths, {RULES[rule]}, {ties} ties{' within 10⁻⁹' if tolerance else ''}": some
        for (lengths, rule, ties, tolerance), some in groups
    }
    note = "Success is the mean over cells, failing starts are counted."
    return [Table.of("ties", "Exact AMLE by planner", "planner", named, COUNTED, note)]


@on_cells
def on_lengths(rows: Records) -> Iterator[StudyFinding]:
    """Compare the greedy rules on edges of unequal length."""
    rough = rows.where(lengths="random", tolerance=0.0, ties="exit")
    if not len(rough):
        return
    q, slope = (rough.where(rule=rule).ratio("reached_all", "starts_all") for rule in RULES)
    yield StudyFinding(
        "new" if slope == 1.0 else "differs",
        "Is argmin Q the right rule when edges have lengths?",
        "On the same mazes with random lengths, exact labels, the exact AMLE and exit ties, argmin "
        f"Q reaches from {q:.1%} of all starts and steepest descent from {slope:.1%}. On unit "
        "lengths the two are one rule.",
    )


SECTION = Section(
    "ties",
    "Beyond the paper: ties and rules",
    "Exact AMLE fields under both greedy rules and both tie rules, on the maze (unit "
    "lengths) and on the same maze with random lengths.",
    tables=by_planner,
    findings=on_lengths,
)
TIES_AND_RULES = maze_experiment(
    "ties", "Ties and rules", 1, run_ties, cells_of(SMALL, grid), 1.3, SECTION
)
EXPERIMENTS = (NOISE, HELD_OUT, TIES_AND_RULES)
