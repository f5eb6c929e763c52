"""From a buffer to the goal, on many worlds: who arrives, and whose predictions hold.

A cell is a world and a seed. Its buffer is collected by persistent random actions, every planner
reads it, and each task is walked many times (`worlds` has the worlds' common part, `planners` the
planners). Constants of the planner are chosen on the worlds of ``tuned.toml``. The figures that
count are those of ``held_back.toml``: worlds that were written separately and whose data chose no
constant.

For every task: walks that arrive, the predicted probability at the start, the interval around it,
and the steps of those that arrive. An interval *holds* if the walked share is in it, and holds *up
to chance* if it meets the 95 % interval of the walked share.

Columns: ``set`` is ``tuned`` or ``held back``; ``task``, ``walks``, ``arrived``, ``died``,
``predicted``, ``low`` and ``high`` (the 90 % interval), ``steps``, ``refused`` (the planner raised
an error), and the ``verdict`` of `Planner.check`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import wayfield as wf
from wayfield import replay

from ...engine import NO_ROWS, Profile, Records, Row, Study, Tables
from ...engine.statistics import wilson_interval
from ...report import Chart, Cover, Look, Series, StudyFinding, Table, Tile, scatter
from ..comparison import Settings, make_experiment
from .planners import Guide, GuidePlan, Oracle, counts, neighbours, ours, shortest
from .worlds import SETS, StartGoal, World, make_buffer

WALKS, SEED = 40, 1
INTERVAL_LEVEL = 0.9
OVER, NARROW = 0.1, 0.3
"""A prediction that much too high is overconfident; an interval below that width is narrow."""
LOOKS = (
    Look("subgoals", "Planner, sub-goals", "exit", "diamond"),
    Look("actions", "Planner, actions", "exact-line", "triangle"),
    Look("dijkstra", "Dijkstra, observed arcs", "line-a"),
    Look("neighbours", "nearest neighbours", "line-c", "square"),
    Look("counts", "count VI, coordinates given", "line-d"),
    Look("oracle", "oracle", "oracle"),
)
OURS = ("subgoals", "actions")


@dataclass(frozen=True)
class BufferCell(Settings):
    """A world of one of the two sets, and a seed of its buffer and walks."""

    set: str
    world: str
    seed: int
    walks: int = WALKS

    def draw(self) -> tuple[World, dict[str, Any]]:
        """Make the world and its buffer."""
        world = SETS[self.set][self.world]
        return world, make_buffer(world, self.seed)


def cells(profile: Profile) -> list[BufferCell]:
    """Return every world; two small ones for the quick profile."""
    if profile.name == "quick":
        few = (("tuned", "two rooms, few rows"), ("held back", "few rows"))
        return [BufferCell(which, world, 1, 8) for which, world in few]
    return [BufferCell(which, world, SEED) for which, worlds in SETS.items() for world in worlds]


# -------------------------------------------------------------------- walks


def run(cell: BufferCell) -> list[Row]:
    """Return one row for every arm and task."""
    world, data = cell.draw()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it warns of is in the verdict
        planner = replay.Planner(data)
        verdict = planner.check().verdict
        guides: dict[str, Guide] = {"subgoals": ours(world, planner, by_actions=False)}
        if world.has_actions:
            guides["actions"] = ours(world, planner, by_actions=True)
        guides["dijkstra"] = shortest(world, data, cell.seed)
        guides["neighbours"] = neighbours(world, data, cell.seed)
        if world.has_actions:
            guides["counts"] = counts(world, data, cell.seed)
        guides["oracle"] = Oracle(world, cell.seed)
        rows = []
        for arm, guide in guides.items():
            for number, task in enumerate(world.tasks):
                rng = np.random.default_rng([cell.seed, number, 34])
                row = walk(world, guide, task, cell.walks, rng)
                said, low, high = "", np.nan, np.nan
                if arm in OURS:
                    said = verdict
                    low, high = interval(world, planner, task, cell.walks, rng)
                about = {"arm": arm, "task": number, "verdict": said}
                rows.append(about | row | {"low": low, "high": high})
    return rows


def walk(
    world: World, guide: Guide, task: StartGoal, walks: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Walk a task many times at once; return what was predicted and how the walks ended.

    A planner that refuses to plan, by an `InputError`, predicts 0; one that refuses on the way
    leaves the walks where they are.
    """
    goal, states = np.array(task[1]), np.tile(np.array(task[0]), (walks, 1))
    alive, steps = np.ones(walks, dtype=bool), np.full(walks, np.nan)
    predicted, refused = 0.0, False
    try:
        plan: GuidePlan = guide(goal)
        predicted = float(np.mean(plan.reach(world.observe(states, rng))))
        for step in range(1, world.budget + 1):
            live = np.flatnonzero(alive & np.isnan(steps))
            if not live.size:
                break
            seen = world.observe(states[live], rng)
            states[live] = world.step(states[live], plan.act(states[live], seen), rng)
            alive[live] = ~(world.fatal(states[live]) & world.deadly)
            there = live[world.arrived(states[live], goal) & alive[live]]
            steps[there] = step
    except wf.InputError:
        refused = True
    arrived = ~np.isnan(steps)
    return {
        "predicted": predicted,
        "arrived": int(arrived.sum()),
        "died": int((~alive).sum()),
        "refused": refused,
        "steps": float(steps[arrived].mean()) if arrived.any() else np.nan,
    }


def interval(
    world: World, planner: Any, task: StartGoal, walks: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the planner's interval at the start, the mean over what is seen there."""
    seen = world.observe(np.tile(np.array(task[0]), (walks, 1)), rng)
    goal = world.seen(np.array(task[1])[None])[0]
    try:
        low, high = planner.reach_interval(seen, goal, level=INTERVAL_LEVEL)
    except wf.InputError:
        return 0.0, 1.0
    return float(np.mean(low)), float(np.mean(high))


# -------------------------------------------------------------------- what is shown


def figures(rows: Records) -> dict[str, float]:
    """Return the summary of the tasks of an arm.

    Arrival, its mean difference from the prediction, the share of overconfident tasks; of the tasks
    with an interval the share that it holds in, strictly and up to chance, and that is narrow.
    """
    walked = rows.share("arrived", "walks")
    gap = rows.column("predicted") - walked
    low, high = rows.column("low"), rows.column("high")
    given = np.isfinite(low)
    ends = np.array([wilson_interval(row["arrived"], row["walks"]) for row in rows])
    holds = (low <= walked + 1e-9) & (walked <= high + 1e-9)
    meets = (low <= ends[:, 1]) & (ends[:, 0] <= high)

    def mean(of: Any) -> float:
        return float(of[given].mean()) if given.any() else np.nan

    return {
        "arrival": float(walked.mean()),
        "gap": float(np.abs(gap).mean()),
        "over": float((gap > OVER).mean()),
        "holds": mean(holds),
        "meets": mean(meets),
        "narrow": mean(high - low < NARROW),
    }


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate the summary, success by world, every task of ours, and the verdicts."""
    heads = {
        "arrival": "arrive",
        "gap": "|predicted − walked|",
        "over": "predicted > 0.1 too high",
        "holds": "interval holds",
        "meets": "up to chance",
        "narrow": "narrower than 0.3",
    }
    for which, some in rows.by("set").items():
        name, arms, lines = which.replace(" ", "-"), some.by("arm"), []
        for look in LOOKS:
            if look.name in arms:
                summary = figures(arms[look.name])
                lines.append([look.title, *(_number(summary[name]) for name in heads)])
        title = f"Worlds {which}: arrival and prediction"
        note = f"Means over {len(some.distinct('world', 'seed', 'task'))} tasks; shares of them."
        yield Table(f"summary-{name}", title, ["planner", *heads.values()], lines, note)
        lines = []
        for world, group in some.by("world").items():
            arms, line = group.by("arm"), [world]
            for look in LOOKS:
                arm = arms.get(look.name, NO_ROWS)
                if not len(arm):
                    line.append("–")
                    continue
                said, share = arm.mean("predicted"), arm.share("arrived", "walks").mean()
                line.append(f"{share:.2f}" if np.isnan(said) else f"{share:.2f} / {said:.2f}")
            lines.append(line)
        title, planners = f"Worlds {which}: walked / predicted", [look.title for look in LOOKS]
        yield Table(f"worlds-{name}", title, ["world", *planners], lines, "Means over tasks.")

    lines = [
        [
            row["set"], row["world"], row["arm"], str(row["task"] + 1),
            f"{row['arrived'] / row['walks']:.2f}", f"{row['predicted']:.2f}",
            f"{_number(row['low'])} – {_number(row['high'])}",
            "–" if np.isnan(row["steps"]) else f"{row['steps']:.0f}",
            row["verdict"] or "–",
        ]
        for row in rows
        if row["arm"] in OURS
    ]  # fmt: skip
    columns = ["set", "world", "arm", "task", "walked", "predicted", "interval", "steps", "verdict"]
    note = "Steps are those of the walks that arrive."
    yield Table("tasks", "Every task", columns, lines, note)

    lines = []
    for (which, verdict), some in rows.where(arm="subgoals").by("set", "verdict").items():
        summary = figures(some)
        shown = (_number(summary[name]) for name in ("arrival", "gap", "over"))
        count = len(some.distinct("world", "seed"))
        lines.append([which, verdict or "none", f"{count} worlds", *shown])
    columns = ["set", "verdict of check()", "worlds", "arrive", "|predicted − walked|", "too high"]
    yield Table("verdicts", "What the verdicts are worth", columns, lines)


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def charts(rows: Records) -> list[Chart]:
    """Draw walked against predicted, every task a mark."""
    found = []
    for which, some in rows.by("set").items():
        series = []
        for look in LOOKS[:-1]:
            arm = some.where(arm=look.name)
            pairs = zip(arm.column("predicted"), arm.share("arrived", "walks"), strict=True)
            points = [(float(said), float(share)) for said, share in pairs]
            series.append(Series(look.title, look.colour, points, (), look.shape))
        title = f"Worlds {which}: predicted and walked"
        found.append(scatter(title, series, ("predicted", "walked")))
    return found


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report arrival and honesty on the worlds held back."""
    kept = rows.where(set="held back")
    if len(kept.values("world")) < len(SETS["held back"]):
        return  # too few to say anything
    arms = {arm: figures(some) for arm, some in kept.by("arm").items()}
    ours = arms["subgoals"]
    rivals = {look.title: arms[look.name] for look in LOOKS[2:-1]}
    yield StudyFinding(
        "new"
        if ours["arrival"] > max(rival["arrival"] for rival in rivals.values())
        else "differs",
        "Does a plan from a buffer arrive in worlds that were held back?",
        f"{ours['arrival']:.0%} of the walks by sub-goals arrive, and "
        f"{arms['actions']['arrival']:.0%} of those by actions; "
        + ", ".join(f"{title}: {rival['arrival']:.0%}" for title, rival in rivals.items())
        + f"; the oracle: {arms['oracle']['arrival']:.0%}.",
    )
    yield StudyFinding(
        "new" if ours["over"] <= 0.05 else "differs",
        "Does the planner keep what it predicts?",
        f"Predictions differ from the walked share by {ours['gap']:.2f} on average, and are more "
        f"than {OVER} too high in {ours['over']:.0%} of the tasks.",
    )


def cover(study: Study, found: Tables) -> Cover:
    """Return what comes before the sections."""
    kept = found.get(EXPERIMENT.name, NO_ROWS).where(set="held back", arm="subgoals")
    tiles = []
    if len(kept):
        summary = figures(kept)
        tiles = [
            Tile("arrive", f"{summary['arrival']:.2f}", "worlds held back, by sub-goals"),
            Tile("off by", f"{summary['gap']:.2f}", "predicted against walked, on average"),
        ]
    note = "Constants were chosen on the tuned worlds; data of the others chose none."
    return Cover(study.title, note=note, tiles=tiles)


EXPERIMENT = make_experiment(
    "buffers", 1, run, cells,
    {"charts": charts, "tables": tables, "findings": findings},
    effort=lambda cell: float(SETS[cell.set][cell.world].rows),
)  # fmt: skip
