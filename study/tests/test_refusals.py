"""Bad input: every refusal names the value and its place. A row is a call and the key words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield_study import sim
from wayfield_study.engine import load_config
from wayfield_study.experiments import (
    EXPERIMENTS,
    STUDIES,
    MazeCell,
    add_methods,
    directed,
    find_method,
    find_study,
)
from wayfield_study.lattice_search import search
from wayfield_study.rivals import GamePLaplacian
from wayfield_study.sweeps import MidrangeSweeps
from wayfield_study.witnesses import subdivision

HERE = Path()
ALL = STUDIES["all"]
MEDIUM, LARGE = (wf.load_layout(name) for name in ("medium", "large"))
PLACES = sim.ogbench_coordinates(MEDIUM)
NARROW, TALL = wf.Layout.from_text("####\n#..#\n####"), wf.Layout.from_text("###\n#.#\n#.#\n###")


def plan(layout: wf.Layout, goal: int = 3, refinement: int = 1) -> wf.plans.planning.Plan:
    graph = wf.grid_graph(layout, refinement)
    return wf.plan(graph, wf.cost_to_go(graph, goal), goal)


ROWS: list[tuple[Callable[[], Any], str]] = [
    # sweeps and rivals
    *((lambda bad=bad: MidrangeSweeps(bad), "sweeps must be a whole number")  # type: ignore[misc]
      for bad in (-1, 1.5, "300", None, True, np.nan)),
    *((lambda bad=bad: MidrangeSweeps(start=bad), "start must be one of")  # type: ignore[misc]
      for bad in ("zero", None, ["upper"])),
    *((lambda bad=bad: MidrangeSweeps(tolerance=bad), "tolerance must be")  # type: ignore[misc]
      for bad in (-0.5, np.nan, np.inf, "0.5", True)),
    *((lambda bad=bad: MidrangeSweeps(relaxation=bad), "relaxation must be")  # type: ignore[misc]
      for bad in (0.0, -0.5, 1.5, np.nan, "0.5", None)),
    (lambda: GamePLaplacian(1.5), "p must be"),
    # small graphs
    (lambda: search((4,)), "lattice must be two numbers"),
    (lambda: search((1, 1)), "a lattice of one vertex"),
    (lambda: search((0, 4)), "lattice must be a whole number of at least 1"),
    (lambda: search(5), "lattice must be a collection, got 5"),  # type: ignore[arg-type]
    (lambda: search(candidates=-1), "candidates must be a whole number"),
    (lambda: search(candidates=1, seed=-3), "seed must be a whole number"),
    (lambda: subdivision([0]), "k must be a whole number of at least 1, got 0"),
    (lambda: subdivision(3), "ks must be a collection, got 3"),  # type: ignore[arg-type]
    # studies, methods and cells
    (lambda: find_study("papre"), "unknown study 'papre'; did you mean paper?"),
    (lambda: find_study("weather"), "known are paper, all, directed, decisions, pointmaze"),
    (lambda: ALL.profile("huge"), "no profile 'huge'; it has paper, quick, full"),
    *((lambda goals=goals: ALL.tasks(ALL.profile("quick", goals)), "goals")  # type: ignore[misc]
      for goals in (0, 513, 1.5)),
    (lambda: STUDIES["directed"].profile("quick", 4), "no option for the number of goals"),
    (lambda: add_methods(STUDIES["directed"], ["amle"]), "no experiment of the study directed"),
    (lambda: find_method("amlee"), "unknown method 'amlee'; did you mean amle?"),
    (lambda: find_method("nowhere:f"), "cannot import nowhere:f: No module named 'nowhere'"),
    (lambda: find_method("math:nothing"), "has no attribute 'nothing'"),
    (lambda: find_method("math:pi"), "method 'math:pi' must be an extension such as AMLE()"),
    (lambda: MazeCell("umaze", 2, 0.0, 1), "a label fraction above 0 or a label count"),
    (lambda: MazeCell("umaze", 2, 0.1, 1, label_count=3), "fraction above 0 or a label count"),
    *((lambda goals=goals: MazeCell("medium", 4, 0.02, 54, goals),  # type: ignore[misc]
       f"from 1 to 512, got {goals}") for goals in (0, 513)),
    (lambda: directed.read_grid({"worlds": ["moon"]}, HERE), "grid.worlds[0] must be one of"),
    (lambda: directed.read_grid({"sizes": [3]}, HERE), "grid.sizes[0] must be a whole number"),
    (lambda: directed.read_grid({"label_fractions": [0.0]}, HERE), "grid.label_fractions[0]"),
    (lambda: directed.read_grid({"seeds": [-1]}, HERE), "grid.seeds[0]"),
    (lambda: directed.read_grid({"goals": 3}, HERE), "unknown key grid.goals"),
    # coordinates and forecasts
    (lambda: PLACES.of(wf.grid_graph(LARGE)), "must be on a graph of"),
    (lambda: sim.ogbench_coordinates(NARROW).of(wf.grid_graph(TALL, 2)), "with other positions"),
    (lambda: sim.ogbench_coordinates(NARROW).of(wf.Graph.from_edges([0], [1])), "other positions"),
    (lambda: sim.foresee(plan(LARGE), PLACES), "the plan must be on a graph of"),
    (lambda: sim.foresee(plan(MEDIUM), PLACES, [416]), "starts[0] = 416 is out of range"),
    (lambda: sim.foresee(plan(MEDIUM), PLACES, tries=0), "tries must be a whole number"),
    (lambda: sim.foresee(plan(MEDIUM), PLACES, look_ahead=-1.0), "look_ahead must be a finite"),
    (lambda: sim.foresee(plan(MEDIUM), PLACES, seconds=0.0), "seconds must be a finite number"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), ROWS, ids=[words for _, words in ROWS])
def test_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(wf.InputError) as error:
        call()
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("methods = ['amlee']", "grid.methods[0]: unknown method 'amlee'; did you mean amle?"),
        ("methods = [3]", "grid.methods[0] must be the name of a method, got 3"),
        ("methods = []", "grid.methods must be a nonempty list, got []"),
        ("label_counts = [0]", "grid.label_counts[0] must be a whole number of at least 1"),
        ("label_counts = [9999999]", "grid.label_counts[0] must be at most"),
        ("methods = ['amle']\nexperiments = ['iteration_audit']", "iteration_audit takes no"),
    ],
)
def test_refused_in_a_file(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "study.toml").write_text(f"[grid]\n{line}", encoding="utf-8")
    with pytest.raises(wf.InputError) as error:
        load_config(tmp_path / "study.toml", EXPERIMENTS)
    assert words in str(error.value)


class Lost:
    """A planner whose sub-goals are none."""

    def subgoal(self, observation: Any, goal: Any) -> Any:
        return [float("nan"), 0.0]


def walk(planner: Any = None, **more: Any) -> sim.Walk:
    return sim.walk("pointmaze-medium", planner or plan(MEDIUM), **more)


def make(text: str, *more: Any) -> sim.Maze:
    return sim.make(wf.Layout.from_text(text), *more)


def heavy_ant() -> sim.Walk:
    maze = sim.make("antmaze-medium")
    maze.env.unwrapped.model.actuator_gear[:, 0] = 150
    return sim.walk(maze.env, plan(MEDIUM))


WITH_BODIES: list[tuple[Callable[[], Any], str]] = [
    (lambda: sim.make("antmaze-umaze"), "OGBench has no maze 'umaze'"),
    (lambda: sim.make("AntMaze_Huge-v5"), "AntMaze_Huge"),
    (lambda: sim.make("AntMaze_Large-v1"), "version v1"),
    (lambda: sim.make("humanoidmaze-medium"), "unknown environment"),
    (lambda: sim.make(""), "unknown environment"),
    (lambda: sim.make(3), "maze must be a name or a wayfield.Layout, got int"),  # type: ignore[arg-type]
    (lambda: make("...\n..."), "cell (0, 0) of 'custom' is free and at the border"),
    (lambda: make("####\n#>.#\n####"), "no arrows, costs or teleports"),
    (lambda: make("####\n#5.#\n####"), "no arrows, costs or teleports"),
    (lambda: make("#####\n#..##\n#####\n1,1 -> 1,2"), "no arrows, costs or teleports"),
    (lambda: make("###\n#.#\n###", "humanoid"), "body must be one of"),
    (lambda: make("###\n#.#\n###", "ant", "d4rl"), "suite must be one of"),
    (lambda: sim.walk(object(), plan(MEDIUM)), "got object"),
    (heavy_ant, "controller, got 150 and 0.1 s"),
    (lambda: walk(plan(LARGE, 0, 2)), "must be on a graph of"),
    (lambda: walk(goal=7), "leads to vertex 3, but the goal is at vertex 7"),
    (lambda: walk(start=(-4.0, 0.0)), "the start (-4, 0) lies in a wall of 'medium'"),
    (lambda: walk(goal=(1e9, 0.0)), "lies in a wall"),
    (lambda: walk(start=26), "start 26 is not a vertex"),
    (lambda: walk(start=(0.0, float("nan"))), "is not a finite number"),
    (lambda: walk(start=(0.0,)), "start has 1 entries, expected 2"),
    (lambda: walk(seed=-1), "seed must be a whole number"),
    (lambda: walk(limit=0), "limit must be a whole number"),
    (lambda: walk(look_ahead=0.0), "look_ahead must be a finite number"),
    (lambda: walk(controller="ant.npz"), "controller must be a function of"),
    (lambda: walk("harmonic", goal=(0.0, 0.0)), "planner must be a wayfield.Plan or have a method"),
    (lambda: walk(Lost()), "goal must be (x, y)"),
    (lambda: walk(Lost(), goal=(4.0, 0.0), start=(0.0, 0.0)), "the planner's sub-goal"),
    (lambda: sim.wander("pointmaze-medium", 0), "steps must be a whole number"),
    (lambda: sim.wander("pointmaze-medium", 9, "explore"), "style must be one of"),  # type: ignore[arg-type]
    (lambda: sim.wander("pointmaze-medium", 9, noise=-1.0), "noise must be a finite number"),
    (lambda: sim.wander("pointmaze-medium", 9, seed=-1), "seed must be a whole number"),
]


@pytest.mark.filterwarnings("ignore")  # of gymnasium
@pytest.mark.parametrize(("call", "words"), WITH_BODIES, ids=[words for _, words in WITH_BODIES])
def test_refused_by_bodies(call: Callable[[], Any], words: str) -> None:
    for package in ("mujoco", "ogbench", "gymnasium_robotics"):
        pytest.importorskip(package)
    test_refused(call, words)


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(wf.WayfieldError, match=r"pip install '\.\[sim\]' in your clone"):
        sim.make("antmaze-medium")
