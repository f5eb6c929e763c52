"""The paper's comparison, walked by an ant, and whether the graph's verdict predicts the outcome.

Graph, labels and fields are the paper's; goals and starts are vertices with a metre of room, as
OGBench's own tasks have it. The ant of OGBench's AntMaze follows each plan, the sub-goal one cell
ahead of where it is, planned anew at every step, for at most 1,000 steps. All arms walk from the
same starts in the same postures. The plan on the true distances is the control: what it loses is
the controller's fault.

Every episode has two forecasts. The graph's verdict is whether the plan leads from the start's
vertex to the goal. `sim.foresee` moves a point with the ant's momentum and girth along the same
plan without any physics, and asks whether a loop leaks.

**The ant's own buffer**, OGBench's protocol: the ant wanders about a maze (`sim.wander`), a
`replay.Planner` is made of where it was, and the ant then walks OGBench's five tasks by the
planner's sub-goals: start and goal up to a metre off the middles of their cells, at most 1,000
steps. The graph distance is the control; it knows the maze, which the planner does not. x and y
are observed, and the controller was trained without this data: published figures of agents that
learn everything from a buffer are for another task.

Columns: ``episodes`` = ``arrived`` + ``looped`` + ``fell`` + ``out_of_time``; ``steps`` of those
that arrived; ``graph`` and ``foreseen``, the starts that the graph's verdict and the forecast
expected to arrive; ``graph_right`` and ``foreseen_right``. On a buffer also ``predicted``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield import replay
from wayfield.checks import missing
from wayfield.numerics.workers import one_thread
from wayfield.words import number_of, percent
from wayfield_study.sweeps import MidrangeSweeps

from ..engine import Profile, Records, Row
from ..paper.grid import LABEL_FRACTIONS, MAZES, REFINEMENTS, SEEDS
from ..report import Chart, Look, StudyFinding, Table, against
from ..sim import Coordinates, Ending, Maze, foresee, make, ogbench_coordinates, walk, wander
from ..sim.walking import Style
from .comparison import Settings, make_experiment, share_of
from .mazes import seeds_of
from .trial import EXACT, HARMONIC, Arm, power_arm

SWEEPS = Arm(
    "sweeps", "AMLE, 300 sweeps", "sweeps", "square", method=MidrangeSweeps(300, "harmonic")
)
"""The AMLE left unfinished, by plain sweeps."""
ARMS: tuple[Arm, ...] = (HARMONIC, SWEEPS, power_arm(8), EXACT)
CONTROL = Look("distance", "graph distance", "oracle", "diamond")
LOOKS: tuple[Look, ...] = (*ARMS, CONTROL)
GOALS, STARTS = 5, 4
GIANT = "giant"
FORECASTS = {"graph": "the graph's verdict", "foreseen": "forecast"}
"""Columns that count the starts expected to arrive, and what to call the forecast."""


_make_once = cache(make)
"""One ant for each maze in every worker: an episode starts it afresh."""
FEWEST_EPISODES = 50
"""Episodes of an arm without which nothing is stated."""


@dataclass(frozen=True)
class AntCell(Settings):
    """Settings of one cell; every arm walks its ``goals × starts`` episodes.

    Attributes
    ----------
    maze : str
        One of OGBench's maps.
    refinement : int
        Vertices along the side of a maze cell, r.
    label_fraction : float
        Share of the vertices that are labelled, lf.
    seed : int
        Of labels, goals, starts and postures.
    goals, starts : int
        Goals, and starts for each of them.
    """

    maze: str
    refinement: int
    label_fraction: float
    seed: int
    goals: int = GOALS
    starts: int = STARTS

    def draw(self) -> AntDraw:
        """Build the graph and draw labels, goals, starts and the seeds of the episodes.

        Examples
        --------
        >>> drawn = AntCell("medium", 4, 0.02, 54).draw()
        >>> drawn.graph.num_vertices, drawn.starts.shape, len(drawn.labels)
        (416, (5, 4), 5)
        """
        layout = wf.load_layout(self.maze)
        graph = wf.grid_graph(layout, self.refinement)
        places = ogbench_coordinates(layout, self.refinement)
        for_labels, for_goals, for_starts, for_walks = seeds_of(self).spawn(4)
        roomy, shape = places.roomy, (self.goals, self.starts)
        goals = np.random.default_rng(for_goals).choice(roomy, self.goals, replace=False)
        others = np.random.default_rng(for_starts).integers(roomy.size - 1, size=shape)
        others += others >= np.searchsorted(roomy, goals)[:, None]  # never the goal itself
        seeds = np.random.default_rng(for_walks).integers(2**31, size=shape)
        label_seed = int(for_labels.generate_state(1)[0])
        labels = [
            wf.sample_labels(graph, int(goal), self.label_fraction, label_seed) for goal in goals
        ]
        return AntDraw(graph, places, goals, roomy[others], seeds, labels)


@dataclass(frozen=True, eq=False)
class AntDraw:
    """What a cell's seed settles; labels are the same vertices for every goal, and the goal."""

    graph: wf.Graph
    places: Coordinates
    goals: NDArray[np.int64]
    starts: NDArray[np.int64]
    seeds: NDArray[np.int64]
    labels: list[wf.Labels]


# -------------------------------------------------------------------- the walks


def run(cell: AntCell) -> list[Row]:
    """Return one row for every arm.

    ``episodes`` = ``arrived`` + ``looped`` + ``fell`` + ``out_of_time``; ``steps`` are those of
    the episodes that arrived, in all; ``graph`` and ``foreseen`` count the starts that were
    expected to arrive, and ``graph_right`` and ``foreseen_right`` those of which it came true or
    whose failure was expected.
    """
    drawn, maze = cell.draw(), _make_once(f"antmaze-{cell.maze}")
    each_goal = (drawn.goals.tolist(), drawn.labels, drawn.starts, drawn.seeds)
    rows = []
    with one_thread():
        for look in LOOKS:
            endings: Counter[str] = Counter()
            counts = dict.fromkeys(["steps", *(c for f in FORECASTS for c in (f, f"{f}_right"))], 0)
            for goal, labels, starts, seeds in zip(*each_goal, strict=True):
                values = wf.cost_to_go(drawn.graph, goal)
                if isinstance(look, Arm):
                    values = wf.extend(drawn.graph, labels, look.method).values
                route = wf.plan(drawn.graph, values, goal)
                pairs = zip(starts.tolist(), seeds.tolist(), strict=True)
                went = [walk(maze, route, start=start, seed=seed) for start, seed in pairs]
                arrived = np.array([each.arrived for each in went])
                endings.update(each.ending for each in went)
                counts["steps"] += sum(each.steps for each in went if each.arrived)
                foreseen = foresee(route, drawn.places, starts)
                for name, expected in (("graph", route.reached[starts]), ("foreseen", foreseen)):
                    counts[name] += int(expected.sum())
                    counts[f"{name}_right"] += int((expected == arrived).sum())
            ends = count_endings(endings)
            rows.append({"arm": look.name, "episodes": drawn.starts.size, **ends, **counts})
    return rows


def count_endings(endings: Counter[str]) -> Row:
    """Return the columns that count walks by how they end."""
    return {ending.replace(" ", "_"): endings[ending] for ending in Ending}


SIMULATED: dict[str, Any] = {
    "lacks": lambda: missing("mujoco", "sim") or missing("ogbench", "sim"),
    "packages": ("mujoco", "ogbench"),
}
"""What experiments with the ant have in common."""


# -------------------------------------------------------------------- cells


def cells(profile: Profile) -> list[AntCell]:
    """Return the paper's grid, and giant mazes at its coarsest; three small cells if quick."""
    if profile.name == "quick":
        some = (("medium", 4, 0.02), ("large", 8, 0.02), ("medium", 12, 0.05))
        return [AntCell(*each, SEEDS[0], goals=2, starts=4) for each in some]
    papers = [
        AntCell(maze, r, lf, seed)
        for seed, maze, r, lf in product(SEEDS, MAZES, REFINEMENTS, LABEL_FRACTIONS)
    ]
    giant = product(SEEDS, LABEL_FRACTIONS)
    return papers + [AntCell(GIANT, REFINEMENTS[0], lf, seed, starts=3) for seed, lf in giant]


def effort(cell: AntCell) -> float:
    """Estimate the effort: walks grow with the maze, and loops with the resolution."""
    return wf.load_layout(cell.maze).num_free * cell.goals * cell.starts * (1 + cell.refinement / 8)


# -------------------------------------------------------------------- what is shown


def charts(rows: Records) -> Iterator[Chart]:
    """Draw success against labels, maze by maze and resolution by resolution."""
    how = share_of("arrived", "episodes"), ("labels", "arrived")
    for (maze, r), some in rows.by("maze", "refinement").items():
        title = f"{maze}, r = {r}: ants that arrive"
        yield against(some, "label_fraction", LOOKS, title, percent, (), *how)


def say_share(rows: Records) -> str:
    """Write the share of the episodes that arrive, with Wilson's interval."""
    return "{:.3f} [{:.3f}, {:.3f}]".format(*share_of("arrived", "episodes")(rows))


def say_steps(rows: Records) -> str:
    """Write the mean number of steps of the episodes that arrive."""
    return f"{rows.ratio('steps', 'arrived'):.0f}" if rows.total("arrived") else "–"


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success, endings, and what was predicted."""
    places, groups = list(rows.by("maze", "refinement")), rows.by("arm", "maze", "refinement")
    lines = []
    for look in LOOKS:
        each = (*(groups[look.name, *place] for place in places), rows.where(arm=look.name))
        lines.append([look.title, *map(say_share, each)])
    heads = ["arm", *(f"{maze}, r = {r}" for maze, r in places), "all"]
    note = "Share of the episodes in which the ant arrives within 1,000 steps."
    yield Table("arrived", "Ants that arrive", heads, lines, note)

    lines = []
    for look in LOOKS:
        some = rows.where(arm=look.name)
        counts = [f"{some.total(ending.replace(' ', '_')):,}" for ending in Ending]
        lines.append([look.title, f"{some.total('episodes'):,}", *counts, say_steps(some)])
    heads = ["arm", "episodes", *Ending, "steps of those that arrive"]
    yield Table("endings", "How the walks end", heads, lines)

    # predicted against walked, by resolution: all arms, then the harmonic one alone
    lines = []
    for r, some in sorted(rows.by("refinement").items()):
        for who, chosen in (("all arms", some), ("harmonic", some.where(arm=HARMONIC.name))):
            episodes, arrived = chosen.total("episodes"), chosen.total("arrived")
            forecasts = {
                title: (chosen.total(name), chosen.total(f"{name}_right"))
                for name, title in FORECASTS.items()
            }
            forecasts["expecting all to arrive"] = episodes, arrived  # what a forecast has to beat
            for title, (expected, right) in forecasts.items():
                # right = both + neither = 2 both + episodes - expected - arrived
                both = (right - episodes + expected + arrived) // 2
                neither = episodes - expected - arrived + both
                counts = [f"{n:,}" for n in (both, expected - both, arrived - both, neither)]
                lines.append([f"r = {r}, {who}, {title}", *counts, f"{right / episodes:.1%}"])
    heads = ["forecast", "expected and arrived", "expected, did not", "not expected, yet arrived"]
    note = (
        "The graph's verdict: whether the plan leads from the start's vertex to the goal. The "
        "forecast: whether a point with the ant's momentum and girth gets there, without physics, "
        "or the plan leads there from an eighth or more of the vertices within a metre of the loop."
    )
    heads += ["neither", "right"]
    yield Table("predicted", "Predicted against walked", heads, lines, note)


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report how many ants arrive, by arm."""
    cells = len(rows.distinct("maze", "refinement", "label_fraction", "seed"))
    scope = f"{number_of(rows.total('episodes'), 'episodes')} of {number_of(cells, 'cells')}."
    control = rows.where(arm=CONTROL.name)
    if control.total("episodes") < FEWEST_EPISODES:
        return
    shares = {name: some.ratio("arrived", "episodes") for name, some in rows.by("arm").items()}
    yield StudyFinding(
        "new",
        "Does it hold for the ant?",
        f"On the true distances {shares[CONTROL.name]:.1%} of the ants arrive, by the exact AMLE "
        f"{shares[EXACT.name]:.1%}, after 300 sweeps {shares[SWEEPS.name]:.1%}, by p = 8 "
        f"{shares['p8']:.1%}, by harmonic plans {shares[HARMONIC.name]:.1%}. Of the control's "
        f"{number_of(control.total('episodes'), 'ants')} {control.total('fell'):,} fell.",
        scope,
    )


EXPERIMENT = make_experiment(
    "antmaze", 2, run, cells, {"charts": charts, "tables": tables, "findings": findings},
    effort=effort,
    **SIMULATED,
)  # fmt: skip


# -------------------------------------------------------------------- the ant's own buffer

PLANNER = Look("planner", "planner, from the ant's own buffer", "exit", "diamond")
BUFFER_LOOKS = (PLANNER, CONTROL)
STEPS = {"medium": 50_000, "large": 100_000, "giant": 200_000, "teleport": 100_000}
"""Steps in the buffer; OGBench's own have a million."""
EPISODES = 10
"""For each of the five tasks."""
REFINEMENT = 4
"""Of the control's graph."""


@dataclass(frozen=True)
class AntBufferCell(Settings):
    """Settings of one cell.

    Attributes
    ----------
    maze : str
        One of OGBench's maps.
    style : {"navigate", "stitch"}
        How the ant wandered.
    buffer : int
        Steps that it wandered.
    seed : int
        Of the buffer and of the episodes.
    each : int
        Episodes for each of the five tasks.
    """

    maze: str
    style: Style
    buffer: int
    seed: int
    each: int = EPISODES

    def draw(self) -> tuple[Maze, dict[str, Any]]:
        """Open the maze and record the wandering ant."""
        maze = make(f"antmaze-{self.maze}")
        return maze, wander(maze, self.buffer, self.style, seed=self.seed)


def run_buffer(cell: AntBufferCell) -> list[Row]:
    """Return one row for the planner and one for the control.

    ``episodes`` = ``arrived`` + ``looped`` + ``fell`` + ``out_of_time``; ``predicted`` is the
    planner's mean probability of arrival.
    """
    with one_thread():
        maze, data = cell.draw()
        planner = replay.Planner(data)
        graph = wf.grid_graph(maze.layout.without_teleports(), REFINEMENT)
        places = maze.coordinates.at(REFINEMENT)
        # start, goal and seed of every episode: the same for both arms
        inner, episodes = maze.env.unwrapped, []
        rng = np.random.default_rng([cell.seed, int.from_bytes(cell.maze.encode())])
        for task, _ in product(inner.task_infos, range(cell.each)):
            middles = (np.array(inner.ij_to_xy(task[name])) for name in ("init_ij", "goal_ij"))
            start, goal = (middle + rng.uniform(-1, 1, 2) for middle in middles)
            episodes.append((start, goal, int(rng.integers(2**31))))
        rows = []
        for look in BUFFER_LOOKS:
            went, predicted = [], []
            for start, goal, seed in episodes:
                route: Any = planner
                if look is CONTROL:  # the true distances, teleports shunned
                    vertex = places.vertex(goal)
                    route = wf.plan(graph, wf.cost_to_go(graph, vertex), vertex)
                went.append(walk(maze, route, goal=goal, start=start, seed=seed))
                predicted.append(1.0 if look is CONTROL else float(planner.reach(start, goal)))
            counts = count_endings(Counter(each.ending for each in went))
            steps = sum(each.steps for each in went if each.arrived)
            about = {"arm": look.name, "episodes": len(went), **counts, "steps": steps}
            rows.append(about | {"predicted": round(float(np.mean(predicted)), 4)})
        return rows


def buffer_cells(profile: Profile) -> list[AntBufferCell]:
    """Return four mazes, two of them also with short episodes; a small buffer if quick."""
    if profile.name == "quick":
        return [AntBufferCell("medium", "navigate", 20_000, 0, each=1)]
    stitched = [AntBufferCell(maze, "stitch", STEPS[maze], 0) for maze in ("medium", "large")]
    return [AntBufferCell(maze, "navigate", steps, 0) for maze, steps in STEPS.items()] + stitched


def buffer_tables(rows: Records) -> list[Table]:
    """Tabulate success by maze and style, and how it ended."""
    lines = []
    for (maze, style), some in rows.by("maze", "style").items():
        for look in BUFFER_LOOKS:
            chosen = some.where(arm=look.name)
            counts = [str(chosen.total(ending.replace(" ", "_"))) for ending in Ending]
            shares = [say_share(chosen), f"{chosen.mean('predicted'):.3f}"]
            arrived = f"{counts[0]} of {chosen.total('episodes')}"
            name = f"{maze}, {style}, {look.title}"
            lines.append([name, arrived, *shares, *counts[1:], say_steps(chosen)])
    heads = ["maze, buffer, arm", "arrived", "share", "predicted", "looped", "fell", "out of time"]
    heads.append("steps of those that arrive")
    note = "OGBench's five tasks. The control knows the maze; the planner has seen the buffer only."
    return [Table("buffer", "From the ant's own buffer", heads, lines, note)]


BUFFER = make_experiment(
    "antmaze_buffer", 1, run_buffer, buffer_cells, {"tables": buffer_tables},
    effort=lambda cell: cell.buffer / 100 + 40 * cell.each * 5,
    **SIMULATED,
)  # fmt: skip
