"""PointMaze: physics beside a naive twin and MuJoCo, collectors, graphs, planners, the study."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import wayfield as wf
from shell import wayfield
from wayfield import replay
from wayfield.typing import FloatArray
from wayfield_study.engine import Records, Row, Store, by_experiment, run
from wayfield_study.experiments import STUDIES, pointmaze
from wayfield_study.experiments.pointmaze import (
    ARMS,
    DATASETS,
    LESS_DATA,
    NO_GRAPH,
    OFFICIAL,
    OURS,
    REFERENCE,
    SUCCESS,
    PointCell,
    say_steps,
    say_success,
)
from wayfield_study.experiments.pointmaze.maze import (
    SIZES,
    TASKS,
    Episodes,
    LandmarkScene,
    PointMaze,
    collect_buffer,
    draw_episodes,
    load_point_maze,
    make_scene,
    places,
)
from wayfield_study.experiments.pointmaze.planners import (
    GRAPHS,
    PointProblem,
    chance_of,
    hindsight_labels,
    make_graph,
)
from wayfield_study.kernels.point_maze import ENTRANCE, PUSH, RADIUS, STEP, push_out, sent

STUDY = STUDIES["pointmaze"]
QUICK = STUDY.tasks(STUDY.profile("quick"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The quick profile, with two of the five tasks: Planner takes seconds per goal."""
    store = Store(tmp_path_factory.mktemp("pointmaze") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pointmaze, "TASKS", 2)
        assert run(QUICK, store, workers=0).failed == {}
    return store


@pytest.fixture(scope="module")
def tables(store: Store) -> dict[str, Records]:
    rows = by_experiment({task: store.look(task).rows for task in QUICK})
    return {name: Records.of(some) for name, some in rows.items()}


# ------------------------------------------------------------------- experiments


def test_every_planner_is_there(tables: dict[str, Records]) -> None:
    rows = tables["point_success"]
    assert rows.where(graph="time").values("arm") == [arm.name for arm in ARMS]
    drawn = [arm.name for arm in ARMS if arm.name not in NO_GRAPH]
    assert rows.where(graph="xy-10").values("arm") == drawn
    for row in rows:
        assert row["pairs"] == row["episodes"] == 20
        assert row["reached"] == sum(row["by_task"])
        assert (0.0 <= row["predicted"] <= 1.0) == (row["arm"] == OURS)  # rivals: NaN
        assert (row["steps"] > 0) == (row["reached"] > 0)


def test_our_planner_arrives_more_often_than_shortest_paths(tables: dict[str, Records]) -> None:
    rows = tables["point_success"].where(graph="time")
    ours, theirs = (rows.where(arm=arm).ratio("reached", "pairs") for arm in (OURS, "dijkstra"))
    assert ours > theirs
    assert theirs <= 0.7


def test_with_few_data_moves_are_borrowed_from_afar(tables: dict[str, Records]) -> None:
    """In many places some directions were never taken; the nearest rows that did must do."""
    (ours,) = tables["point_shares"].where(arm=OURS)
    assert ours["reached"] >= 19  # of 20
    assert ours["predicted"] < ours["reached"] / ours["pairs"]


def test_the_profiles() -> None:
    standard = [task.cell for task in STUDY.tasks() if task.experiment is SUCCESS]
    assert len(standard) == len(DATASETS) * len(GRAPHS) * 3
    assert {cell.episodes for cell in standard} == {100}
    less = [task.cell for task in STUDY.tasks() if task.experiment is LESS_DATA]
    assert {cell.share for cell in less} == set(pointmaze.SHARES)
    assert len({task.key for task in STUDY.tasks()}) == len(STUDY.tasks())
    evaluation = STUDY.profile("official")
    assert not [e for e in STUDY.experiments if e is not OFFICIAL and e.cells(evaluation)]
    assert len(OFFICIAL.cells(evaluation)) == 3
    assert not OFFICIAL.cells(STUDY.profile())


# ------------------------------------------------------------------- OGBench's own evaluation


def test_what_the_official_evaluation_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ogbench", None)
    assert STUDY.left_out() == {}
    assert "pip install '.[sim]'" in STUDY.left_out(STUDY.profile("official"))["point_official"]
    done = wayfield("study", "pointmaze", "--official")
    assert done.code == 2
    assert "pip install '.[sim]'" in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.filterwarnings("ignore")  # of gymnasium
def test_the_official_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ogbench")
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    cell = PointCell("teleport-stitch", "time", 0, 0.1, 500, 4)
    scene = cell.draw()
    first = replace(scene, maze=replace(scene.maze, tasks=scene.maze.tasks[:2]))
    monkeypatch.setattr(PointCell, "draw", lambda _: first)
    rows = pointmaze.run_official(cell)
    assert [row["arm"] for row in rows] == [*pointmaze.RIVALS, OURS]
    assert all(row["pairs"] == 4 and len(row["by_task"]) == 2 for row in rows)
    assert rows[-1]["reached"] >= 3


# ------------------------------------------------------------------- words


def made(reached: int, pairs: int = 100, graph: str = "xy-5") -> Row:
    return {"arm": OURS, "graph": graph, "reached": reached, "pairs": pairs, "steps": 7 * reached}


def test_success_is_said_with_its_interval() -> None:
    assert say_success(Records.of([made(100), made(100)])) == "100"
    assert say_success(Records.of([made(0)])) == "0"
    assert say_success(Records.of([made(50)])) == "50 (40–60)"
    assert say_success(Records(())) == "–"
    assert (say_steps(Records.of([made(50)])), say_steps(Records.of([made(0)]))) == ("7", "–")


# ------------------------------------------------------------------- store and report


MAZES = tuple(TASKS)


@pytest.fixture(scope="module")
def teleport() -> LandmarkScene:
    return make_scene("teleport-stitch", 0.1, 500, 0)


# ------------------------------------------------------------------- physics


def naive_push(walls: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Every block that is dented adds what is missing along its normal, the deepest dent first."""
    dents = []
    for cell in np.argwhere(walls):
        middle = 4.0 * cell[::-1] - 4.0
        away = place - np.clip(place, middle - 2.0, middle + 2.0)
        gap = np.linalg.norm(away)
        if 1e-9 < gap < RADIUS:
            dents.append((RADIUS - gap, away / gap))
    push = np.zeros(2)
    for depth, normal in sorted(dents, key=lambda dent: -dent[0]):
        push += max(PUSH * depth - push @ normal, 0.0) * normal
    return place + push


@pytest.mark.parametrize("name", MAZES)
def test_pushing_and_its_naive_twin(name: str) -> None:
    maze = load_point_maze(name)
    rng = np.random.default_rng(0)
    for centre in maze.cells.centres:
        for place in centre + rng.uniform(-1.95, 1.95, (5, 2)):
            ours = push_out(maze.blocks.walls, *place)
            assert ours == pytest.approx(naive_push(maze.blocks.walls, place), abs=1e-12)


def test_teleports_send_to_every_exit() -> None:
    blocks = load_point_maze("teleport").blocks
    x, y = blocks.entrances[0] + (0.0, ENTRANCE - 1e-9)
    for k, luck in enumerate((0.0, 0.34, 0.99)):
        assert sent(blocks, x, y, luck) == tuple(blocks.exits[k])
    assert sent(blocks, x, y + 1e-6, 0.0) == (x, y + 1e-6)


def as_in_mujoco(name: str, episodes: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random walks in the environment: where balls were put, and where they went there and here."""
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("ogbench.locomaze")
    env = gymnasium.make(f"pointmaze-{name}-v0", terminate_at_goal=False).unwrapped
    maze, rng = load_point_maze(name), np.random.default_rng(0)
    assert np.array_equal(env.maze_map == 1, maze.blocks.walls)
    assert [(task["init_ij"], task["goal_ij"]) for task in env.task_infos] == list(maze.tasks)
    env.reset(options={"task_id": 1})
    put, theirs, ours = [], [], []
    for _ in range(episodes):
        env.set_xy(rng.choice(maze.cells.centres) + rng.uniform(-1, 1, 2))
        heading = rng.normal(size=2)
        for _ in range(steps):
            heading = 0.9 * heading + 0.5 * rng.normal(size=2)
            put.append(env.get_xy() + STEP * np.clip(heading, -1, 1))
            observation, *_ = env.step(np.clip(heading, -1, 1))
            theirs.append(observation)
            ours.append(push_out(maze.blocks.walls, *put[-1]))
    env.close()
    return np.array(put), np.array(theirs), np.array(ours)


@pytest.mark.filterwarnings("ignore")  # of gymnasium
@pytest.mark.parametrize("name", MAZES)
def test_the_physics_are_mujocos(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    put, theirs, ours = as_in_mujoco(name, 40, 50)
    gap = np.abs(ours - theirs).max(axis=1)
    walls = load_point_maze(name).blocks.walls
    single = np.array([_dents(walls, place) < 2 for place in put])
    assert single.mean() > 0.9
    assert gap[single].max() < 5e-5  # of which are most of the steps
    assert gap[~single].max(initial=0.0) < 0.08  # between blocks MuJoCo has friction
    assert (np.abs(put - theirs).max(axis=1) > 0.05).any()  # walls were hit


def _dents(walls: np.ndarray, place: np.ndarray) -> int:
    middles = 4.0 * np.argwhere(walls)[:, ::-1] - 4.0
    away = place - np.clip(place, middles - 2.0, middles + 2.0)
    return int((np.linalg.norm(away, axis=1) < RADIUS).sum())


# ------------------------------------------------------------------- mazes and collectors


def test_ways_between_cells_lead_there() -> None:
    maze = load_point_maze("giant")
    cells, hops = maze.cells, maze.hops
    for goal in (0, 17, 50):
        for cell in range(len(cells.centres)):
            following = cells.onward[goal, cell]
            assert hops[goal, following] == max(hops[goal, cell] - 1, 0)
    middle = cells.numbers[1, 5]  # of a hallway
    assert middle not in cells.targets
    assert cells.numbers[1, 1] in cells.targets  # a dead end


@pytest.mark.parametrize("dataset", ["giant-stitch", "giant-navigate", "teleport-stitch"])
def test_a_buffer(dataset: str) -> None:
    share = 0.01
    buffer = collect_buffer(dataset, seed=3, share=share)
    episodes, length = SIZES.get(dataset, SIZES[dataset.rsplit("-", 1)[1]])
    count = round(share * episodes)
    maze = load_point_maze(dataset.rsplit("-", 1)[0])
    assert buffer.observations.shape == buffer.actions.shape == (count * length, 2)
    assert np.array_equal(np.flatnonzero(buffer.terminals), length * np.arange(1, count + 1) - 1)
    assert np.abs(buffer.actions).max() <= 1.0
    cells = np.floor((buffer.observations[:, ::-1] + 6.0) / 4.0).astype(int)
    assert (maze.cells.numbers[tuple(cells.T)] >= 0).all()  # nobody is in a wall
    steps = np.linalg.norm(np.diff(buffer.observations, axis=0), axis=1)[~buffer.terminals[:-1]]
    far = steps > 1.0
    assert far.any() == bool(maze.layout.teleports)
    starts = np.flatnonzero(~buffer.terminals[:-1])[far]
    away = buffer.observations[starts][:, None] - maze.blocks.entrances
    assert (np.linalg.norm(away, axis=2).min(axis=1, initial=np.inf) <= ENTRANCE + 1e-4).all()
    ends = buffer.observations[starts + 1][:, None] - maze.blocks.exits
    assert (np.linalg.norm(ends, axis=2).min(axis=1, initial=np.inf) < 0.5).all()


# ------------------------------------------------------------------- graphs


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_on_landmarks(teleport: LandmarkScene, name: str) -> None:
    graph = make_graph(teleport, name)
    assert graph.num_vertices == len(teleport.states) == 500
    if name != "time":
        k = int(name.split("-")[1])
        assert not graph.directed
        assert np.diff(graph.indptr).min() >= k
        assert graph.lengths.min() >= 1.0


# ------------------------------------------------------------------- planners


def room(seed: int = 0) -> LandmarkScene:
    """A small maze of one bent hallway, and a buffer of walks through it."""
    layout = wf.Layout.from_text("#####\n#...#\n###.#\n#...#\n#####")
    maze = PointMaze(layout, (((1, 1), (3, 1)),) * 5)
    rng = np.random.default_rng(seed)
    corners = places([(1, 1), (1, 3), (3, 3), (3, 1)])
    line = np.concatenate([np.linspace(*pair, 40) for pair in pairwise(corners)])
    walks = [line[::way] + rng.normal(0, 0.15, line.shape) for way in (1, -1) for _ in range(60)]
    observations = np.concatenate(walks).astype(np.float32)
    terminals = np.zeros(len(observations), dtype=bool)
    terminals[len(line) - 1 :: len(line)] = True
    actions = np.diff(observations, axis=0, append=observations[-1:]) / STEP
    made = replay.replay_graph(observations, terminals=terminals, actions=actions, landmarks=60)
    buffer = collect_buffer("giant-stitch", 0, 0.0002)._replace(
        observations=observations, actions=actions, terminals=terminals
    )
    return LandmarkScene(maze, buffer, made, seed)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_every_planner_walks_round_a_bend(arm) -> None:
    scene = room()
    place = places([(3, 1)])[0]
    targets, arrival = arm.policy(PointProblem(scene, make_graph(scene, "time"), place))
    drawn = draw_episodes(scene.maze, 0, 10, 0)
    steps = drawn.walk(scene, targets)
    assert (steps > 0).all()
    assert steps.max() < 400
    assert (arrival is None) == (arm.name != OURS)
    if arrival is not None:
        assert predicted(scene, drawn, arrival) == pytest.approx(1.0, abs=0.02)


def predicted(scene: LandmarkScene, drawn: Episodes, arrival: FloatArray) -> FloatArray:
    """The probability of arrival at each start: that of its square of a tenth of a unit."""
    return arrival[tuple((10.0 * (drawn.ends[:, 0] - scene.corner)).astype(int).T)]


def test_a_false_edge_through_the_wall() -> None:
    """Nearest neighbours across the wall: Dijkstra bumps into it, Planner walks round it."""
    scene = room()
    place = places([(3, 1)])[0]
    far = make_graph(scene, "xy-50")
    drawn = draw_episodes(scene.maze, 0, 10, 0)
    targets = {arm.name: arm.policy(PointProblem(scene, far, place))[0] for arm in ARMS}
    assert (drawn.walk(scene, targets[REFERENCE]) == -1).all()
    assert (drawn.walk(scene, targets[OURS]) > 0).all()


def test_hindsight_labels_are_upper_bounds_that_somebody_walked() -> None:
    scene = room()
    problem = PointProblem(scene, make_graph(scene, "time"), places([(3, 1)])[0])
    labels = hindsight_labels(problem)
    known = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    assert all(known[int(goal)] == 0.0 for goal in problem.goals)
    others = [value for vertex, value in known.items() if vertex not in problem.goals]
    assert min(others) > 0
    start = int(scene.replay.nearest(places([(1, 1)])[0]))
    assert 90 < known[start] < 130  # 120 rows, less what lies within reach


def test_routes_end_where_nothing_leads_on() -> None:
    scene = room()
    problem = PointProblem(scene, make_graph(scene, "time"), places([(3, 1)])[0])
    n = len(scene.states)
    nowhere = problem.route(np.full(n, -1), np.zeros(n, dtype=bool))
    assert nowhere.able.sum() == len(problem.goals)
    others = np.setdiff1d(np.arange(n), problem.goals)
    assert not np.array_equal(nowhere.steps(scene)[others], others)  # to the nearest that has a way


# ------------------------------------------------------------------- chance


def test_chances_are_what_was_counted(teleport: LandmarkScene) -> None:
    chance, buffer = chance_of(teleport), teleport.replay
    leaps = np.bincount(buffer.graph.tails, buffer.jump_counts, len(teleport.states))
    assert ((chance.odds > 0) == (leaps > 0)).all()
    assert chance.exits.sum(axis=1)[leaps > 0] == pytest.approx(1.0)
    assert (chance.odds <= 1.0).all()
    exits = teleport.maze.blocks.exits
    _, heads = chance.exits.nonzero()
    away = np.linalg.norm(teleport.states[heads][:, None] - exits, axis=2).min(axis=1)
    assert np.median(away) < 1.0
