"""Bodies that walk: mazes of both suites, the shipped weights, endings, and bad input."""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield import replay
from wayfield.plans.planning import Plan
from wayfield_study import sim
from wayfield_study.sim.controllers import AntController, observe, torques
from wayfield_study.sim.walking import steps_ahead

pytest.importorskip("mujoco")
pytest.importorskip("ogbench")
pytest.importorskip("gymnasium_robotics")
pytestmark = pytest.mark.filterwarnings("default")  # of packages that are not ours

STANDING = np.array([0, 0, 0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1.0])


def true_plan(layout: wf.Layout, refinement: int, goal: int) -> Plan:
    graph = wf.grid_graph(layout, refinement)
    return wf.plan(graph, wf.cost_to_go(graph, goal), goal)


@pytest.fixture(scope="module")
def medium() -> sim.Maze:
    return sim.make("antmaze-medium")


# ------------------------------------------------------------------- the controllers


def test_the_weights_are_those_of_their_provenance() -> None:
    folder = resources.files("wayfield_study.sim") / "weights"
    told = re.search(r"SHA-256: `(\w+)`", (folder / "README.md").read_text(encoding="utf-8"))
    assert told is not None
    assert hashlib.sha256((folder / "ant.npz").read_bytes()).hexdigest() == told[1]


def test_the_shipped_weights_still_walk(medium: sim.Maze) -> None:
    plan = true_plan(medium.layout, 1, 25)
    walks = [sim.walk(medium, plan, start=start, seed=7) for start in (20, 12, 4)]
    assert [walk.ending for walk in walks] == ["arrived"] * 3
    assert all(walk.metres / walk.seconds > 0.8 for walk in walks)  # it walks, not crawls


def test_a_quarter_turn_changes_nothing() -> None:
    """The same posture a quarter turn further, its legs renumbered: the same inputs."""
    rng = np.random.default_rng(0)
    position, velocity = STANDING.copy(), rng.normal(size=14)
    position[7:] += rng.normal(0, 0.2, 8)
    target = np.array([3.0, 0.5])
    features, turns = observe(position, velocity, target)
    for k in range(1, 4):
        turned, speed = position.copy(), velocity.copy()
        half = -k * np.pi / 4  # the body turns back while the legs move on
        turned[3:7] = np.cos(half), 0, 0, np.sin(half)
        sign = np.tile([1.0, -1.0, -1.0, 1.0], 2)
        joints = np.roll(position[7:].reshape(4, 2), k, axis=0)
        rates = np.roll(velocity[6:].reshape(4, 2), k, axis=0)
        for legs in (joints, rates):
            legs[:, 1] *= np.roll(sign[:4], k) * sign[:4]
        turned[7:], speed[6:] = joints.ravel(), rates.ravel()
        c, s = np.cos(2 * half), np.sin(2 * half)
        spin = np.array([[c, s], [-s, c]])
        speed[3:5] = spin @ velocity[3:5]
        again, more = observe(turned, speed, target)
        np.testing.assert_allclose(again, features, atol=1e-12)
        assert (more - turns) % 4 == k


def test_torques_come_back_to_their_legs() -> None:
    action = np.arange(8.0)
    sign = [1, -1, -1, 1]
    for turns in range(4):
        dealt = torques(action, turns).reshape(4, 2)
        for leg, (hip, ankle) in zip([3, 0, 1, 2], dealt, strict=True):
            assert hip == action[(leg - turns) % 4]
            assert ankle == action[4 + (leg - turns) % 4] * sign[leg]


def test_other_weights_are_read(tmp_path: Path) -> None:
    with resources.as_file(resources.files("wayfield_study.sim") / "weights" / "ant.npz") as path:
        same = AntController(path)
    args = (STANDING, np.zeros(14), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(same(*args), AntController()(*args))
    np.savez(tmp_path / "other.npz", w0=np.zeros(3))
    with pytest.raises(wf.InputError, match="does not hold the weights of an ant"):
        AntController(tmp_path / "other.npz")


# ------------------------------------------------------------------- the mazes


@pytest.mark.parametrize("which", ["arena", "medium", "large", "giant", "teleport"])
def test_ogbench_has_our_maps_where_we_say(which: str) -> None:
    maze = sim.make(f"pointmaze-{which}-navigate-v0")
    assert maze.layout == wf.load_layout(which)
    inner = maze.env.unwrapped
    cells = np.argwhere(maze.layout.free)
    np.testing.assert_allclose(
        maze.coordinates.xy, [inner.ij_to_xy(tuple(cell)) for cell in cells.tolist()]
    )
    for cell, xy in zip(cells.tolist(), maze.coordinates.xy, strict=True):
        assert list(inner.xy_to_ij(xy)) == cell


@pytest.mark.parametrize(
    "name", ["UMaze", "Open", "Medium", "Large", "Large_Diverse_GR", "Medium_Diverse_G"]
)
@pytest.mark.parametrize("body", ["PointMaze_{}-v3", "AntMaze_{}-v5"])
def test_gymnasium_robotics_has_our_maps_where_we_say(name: str, body: str) -> None:
    maze = sim.make(body.format(name))
    assert maze.layout.name == name.partition("_")[0].lower()
    ruler = maze.env.unwrapped.maze
    cells = np.argwhere(maze.layout.free)
    np.testing.assert_allclose(
        maze.coordinates.xy, [ruler.cell_rowcol_to_xy(cell) for cell in cells]
    )
    for cell, xy in zip(cells.tolist(), maze.coordinates.xy, strict=True):
        assert ruler.cell_xy_to_rowcol(xy).tolist() == cell


@pytest.mark.parametrize("suite", ["ogbench", "gymnasium-robotics"])
@pytest.mark.parametrize("body", ["ant", "point"])
@pytest.mark.parametrize("text", ["#####\n#...#\n#.#.#\n#####", "###\n#.#\n###"])
def test_a_maze_of_ones_own(text: str, body: Any, suite: Any) -> None:
    """Gymnasium-Robotics would look in a tiny one for a start far from its goal for ever."""
    layout = wf.Layout.from_text(text)
    maze = sim.make(layout, body, suite)
    assert (maze.layout, maze.body, maze.suite) == (layout, body, suite)
    walk = sim.walk(maze, true_plan(layout, 4, 5), start=10)
    assert walk.arrived
    assert np.hypot(*(walk.path[-1] - walk.goal)) <= maze.tolerance
    np.testing.assert_array_equal(walk.goal, maze.coordinates.at(4).xy[5])


def test_environments_made_elsewhere_are_taken() -> None:
    import gymnasium
    import gymnasium_robotics
    import ogbench

    env = ogbench.make_env_and_datasets("pointmaze-medium-navigate-v0", env_only=True)
    assert sim.walk(env, true_plan(wf.load_layout("medium"), 4, 200), start=0).arrived
    gymnasium.register_envs(gymnasium_robotics)
    other = gymnasium.make("PointMaze_UMaze-v3")
    walk = sim.walk(other, true_plan(wf.load_layout("umaze"), 4, 100), start=0)
    assert walk.arrived
    for each in (env, other):
        Path(getattr(each.unwrapped, "tmp_xml_file_path", "") or each.unwrapped.fullpath).unlink()


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path)
    try:
        for maze in ("antmaze-medium", "AntMaze_UMaze-v5", "PointMaze_UMaze-v3", ROOM):
            sim.make(maze)
        with pytest.raises(wf.InputError):
            sim.make("AntMaze_Huge-v5")
        assert tempfile.gettempdir() == str(tmp_path)
    finally:
        tempfile.tempdir = before
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------- walks


def test_the_same_seed_walks_the_same_way(medium: sim.Maze) -> None:
    plan = true_plan(medium.layout, 4, 170)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    one = sim.walk(medium, plan, seed=3, limit=50)
    other = sim.walk("antmaze-medium", plan, seed=3, limit=50)
    np.testing.assert_array_equal(one.positions, other.positions)
    np.testing.assert_array_equal(one.start, other.start)
    assert not np.array_equal(sim.walk(medium, plan, seed=4, limit=50).path, one.path)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    clear = medium.coordinates.at(4)
    assert clear.clearance[clear.vertex(one.start)] >= 1


def test_teleports_are_drawn_by_the_seed() -> None:
    maze = sim.make("pointmaze-teleport")
    graph = wf.grid_graph(maze.layout.without_teleports(), 1)
    goal = maze.coordinates.vertex(maze.env.unwrapped.ij_to_xy((4, 6)))
    plan = wf.plan(graph, wf.cost_to_go(graph, goal), goal)
    start = maze.coordinates.vertex(maze.env.unwrapped.ij_to_xy((3, 6)))
    walks = [sim.walk(maze, plan, start=start, seed=s, limit=30) for s in (0, 0, *range(1, 9))]
    np.testing.assert_array_equal(walks[0].path, walks[1].path)
    assert len({tuple(walk.path[-1].round()) for walk in walks}) > 1


class To:
    """A planner of nothing but sub-goals: a function of the body's x and y."""

    def __init__(self, subgoal: Callable[[float, float], tuple[float, float]]) -> None:
        self._subgoal = subgoal

    def subgoal(self, observation: Any, goal: Any) -> tuple[float, float]:
        return self._subgoal(*observation[:2])


ROOM = wf.Layout.from_text("######\n#....#\n#....#\n#..#.#\n######", "room")


def round_and_round(x: float, y: float) -> tuple[float, float]:
    """Round the middle of the room, (4, 2), two metres from it, the left way about."""
    angle = math.atan2(y - 2, x - 4) + 1.0
    return 4 + 2 * math.cos(angle), 2 + 2 * math.sin(angle)


@pytest.mark.parametrize(("body", "half_a_round"), [("point", 20), ("ant", 40)])
def test_endings_of_walks_made_by_hand(body: Any, half_a_round: int) -> None:
    """Round and round is a loop, however fast; so is a push against a wall that leads nowhere."""
    maze = sim.make(ROOM, body)
    far = {"goal": (12.0, 8.0), "start": (2.0, 2.0), "limit": 600}
    looped = sim.walk(maze, To(round_and_round), **far)
    assert looped.ending == "looped"
    assert looped.metres > 20
    pushed = sim.walk(maze, To(lambda x, y: (8.0, 8.0)), **far | {"start": (4.0, 8.0)})
    assert pushed.ending == "looped"
    assert pushed.path[:, 0].max() < 6  # the wall begins there
    resting = sim.walk(maze, To(lambda x, y: (x, y)), **far)
    assert resting.ending == "looped"
    once = sim.walk(maze, To(round_and_round), **far | {"limit": half_a_round})
    assert once.ending == "out of time"  # not yet where it has been
    home = sim.walk(maze, To(lambda x, y: (12.0, y + 3 if x > 11 else y)), **far)
    assert home.ending == "arrived"


@pytest.mark.parametrize("planner", [To(round_and_round), To(lambda x, y: (x, y))])
@pytest.mark.parametrize("after", [0, 30])
def test_an_ant_on_its_back_has_fallen_whatever_it_was_doing(
    planner: To, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    maze = sim.make(ROOM, "ant")
    step, count = type(maze).step, 0

    def overturned(self: Any, action: Any) -> None:
        nonlocal count
        if count == after:
            position = self.position
            position[2:7] = 0.4, 0, 1, 0, 0
            self.env.unwrapped.set_state(position, self.velocity)
        count += 1
        step(self, action)

    monkeypatch.setattr(type(maze), "step", overturned)
    walk = sim.walk(maze, planner, goal=(12.0, 8.0), start=(2.0, 2.0))
    assert walk.ending is sim.Ending.FELL
    assert after * 0.1 + 2 <= walk.seconds < after * 0.1 + 6


def test_who_begins_at_the_goal_has_arrived(medium: sim.Maze) -> None:
    walk = sim.walk(medium, true_plan(medium.layout, 1, 25), start=25)
    assert (walk.ending, walk.steps, walk.subgoals.shape) == ("arrived", 0, (0, 2))


def test_sub_goals_lie_a_cell_ahead_and_end_at_the_goal() -> None:
    maze = sim.make("pointmaze-medium")
    plan = true_plan(maze.layout, 4, 400)
    goal = maze.coordinates.at(4).xy[400] + 0.3
    walk = sim.walk(maze, plan, goal=goal, start=0)
    assert walk.arrived
    np.testing.assert_array_equal(walk.subgoals[-1], goal)
    ahead = steps_ahead(plan, 4)
    np.testing.assert_array_equal(walk.subgoals[0], maze.coordinates.at(4).xy[ahead[0]])
    near = sim.walk(maze, plan, goal=goal, start=0, look_ahead=0.25)
    np.testing.assert_array_equal(near.subgoals[0], maze.coordinates.at(4).xy[plan.successor[0]])


def test_an_answer_and_other_planners_guide_too() -> None:
    maze = sim.make("pointmaze-medium")
    graph = wf.grid_graph(maze.layout, 1)
    answer = wf.solve(graph, wf.sample_labels(graph, 25, fraction=0.3, seed=0), 25)
    assert sim.walk(maze, answer, start=0).arrived

    class Straight:
        def subgoal(self, observation: Any, goal: Any) -> Any:
            seen.append((observation.shape, len(goal)))
            return goal

    seen: list[Any] = []
    goal = [*maze.coordinates.xy[1], 0.0]  # an observation that begins with x, y
    assert sim.walk(maze, Straight(), goal=goal, start=(0.0, 0.0)).arrived
    assert set(seen) == {((2,), 3)}
    seen.clear()
    sim.walk("antmaze-medium", Straight(), goal=goal, start=(0.0, 0.0), limit=3)
    assert set(seen) == {((3,), 3)}  # as many numbers as the goal has


# ------------------------------------------------------------------- buffers


def test_a_body_wanders_the_same_way_again() -> None:
    maze = sim.make("pointmaze-medium")
    one, other = (sim.wander(maze, 450, "stitch", seed=3) for _ in range(2))
    np.testing.assert_array_equal(one["observations"], other["observations"])
    assert one["terminals"].nonzero()[0].tolist() == [199, 399, 449]
    steady = sim.wander(maze, 450, "stitch", seed=3, noise=0.0)
    assert not np.array_equal(one["observations"][:200], steady["observations"][:200])
    steps = np.hypot(*np.diff(one["observations"], axis=0).T)
    assert steps[~one["terminals"][:-1]].max() < 0.5  # no leaps within an episode


def test_a_planner_of_wanderings_leads_to_the_goal() -> None:
    maze = sim.make("pointmaze-medium")
    planner = replay.Planner(sim.wander(maze, 20_000, seed=1))
    goal = maze.coordinates.xy[25]
    walk = sim.walk(maze, planner, goal=goal, start=maze.coordinates.xy[0])
    assert walk.arrived
    assert planner.reach(walk.start, goal) > 0.9


# ------------------------------------------------------------------- bad input


def test_a_controller_of_ones_own(medium: sim.Maze) -> None:
    plan = true_plan(medium.layout, 1, 25)
    walks = [
        sim.walk(medium, plan, start=20, seed=7, controller=given)
        for given in (None, AntController(), lambda *_: np.zeros(8))
    ]
    np.testing.assert_array_equal(walks[0].path, walks[1].path)
    assert walks[0].arrived
    assert not walks[2].arrived
    with pytest.raises(wf.InputError, match=r"controller must be a function of .* got str"):
        sim.walk(medium, plan, controller="ant.npz")  # type: ignore[arg-type]
