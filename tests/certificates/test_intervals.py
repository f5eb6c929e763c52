"""The interval test: in rationals, in worlds with more arcs than the graph, and its corners."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
import wayfield_verify
from wayfield.certificates import next_labels
from wayfield.certificates.intervals import interval_test
from wayfield.certificates.kernels import proved_moves
from wayfield.graphs.labels import label_distance
from worlds import ANY_LENGTH, PATH, maze_problem, path, random_graph, rows


def exact_distances(graph: wf.Graph, source: int, *, back: bool = False) -> dict[int, Fraction]:
    """Distances from a vertex, or to it, in rationals: Bellman and Ford's algorithm."""
    found = {source: Fraction(0)}
    for _ in range(graph.num_vertices):
        for x, row in rows(graph).items():
            for y, length in row.items():
                a, b = (y, x) if back else (x, y)
                if a in found and found.get(b, inf) > found[a] + Fraction(length):
                    found[b] = found[a] + Fraction(length)
    return found


def a_wider_world(rng: np.random.Generator, graph: wf.Graph) -> wf.Graph:
    """The graph, with arcs that it lacks, and some of its arcs cheaper."""
    n, more = graph.num_vertices, rng.integers(0, 4)
    tails = np.append(graph.tails, rng.integers(0, n, more))
    heads = np.append(graph.indices, rng.integers(0, n, more))
    lengths = np.append(graph.lengths, rng.integers(1, 4, more))
    apart = tails != heads
    pairs = {}
    for x, y, length in zip(tails[apart], heads[apart], lengths[apart], strict=True):
        pairs[x, y] = min(pairs.get((x, y), inf), length)
    ends = np.array(list(pairs))
    return wf.Graph.from_edges(ends[:, 0], ends[:, 1], list(pairs.values()), n, directed=True)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, 0.5]))
def test_whatever_is_proved_is_optimal_in_a_wider_world(seed, directed, error) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(3, 16)), ANY_LENGTH, directed=directed)
    goal = int(rng.integers(graph.num_vertices))
    world = a_wider_world(rng, graph)
    exact = exact_distances(world, goal, back=True)
    truth = np.array([float(exact.get(x, inf)) for x in range(graph.num_vertices)])
    able = np.flatnonzero(np.isfinite(truth))
    drawn = np.union1d(rng.choice(able, rng.integers(1, able.size + 1)), [goal])
    noise = error * rng.uniform(-0.99, 0.99, drawn.size) * (drawn != goal)
    labels = wf.Labels(drawn, truth[drawn] + noise, error)
    answer = wf.solve(graph, labels, goal, wf.AMLE(fill="cost" if directed else "flat"))
    found, moves = answer.certificate.intervals, answer.plan.successor
    assert not found.refuted
    for x in range(graph.num_vertices):
        least = exact.get(x, inf)
        assert found.lower[x] <= least <= found.upper[x]
        if x in exact:
            assert (
                abs(Fraction(float(answer.values[x])) - least) <= answer.certificate.error_bound[x]
                if np.isfinite(answer.values[x])
                else answer.certificate.error_bound[x] == inf
            )
        if found.proved[x] and x != goal:
            row = rows(graph)[x]
            costs = {y: Fraction(length) + exact[y] for y, length in row.items() if y in exact}
            assert costs[int(moves[x])] == min(costs.values())
        if found.route_proved[x]:
            # the graph's own distance may be longer than the world's: the route is the graph's best
            assert answer.plan.reached[x]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", ["unit", "whole", "real"])
def test_sweeps_and_shortest_paths_give_the_same_intervals(kind: str, shuffled: bool) -> None:
    """A grid numbered by rows is swept; one numbered at random is not."""
    rng = np.random.default_rng(7)
    grid = np.arange(900).reshape(30, 30)
    grid = rng.permutation(900)[grid] if shuffled else grid
    tails = np.concatenate([grid[1:].ravel(), grid[:, 1:].ravel()])
    heads = np.concatenate([grid[:-1].ravel(), grid[:, :-1].ravel()])
    lengths = {
        "unit": np.ones(tails.size),
        "whole": rng.integers(1, 9, tails.size).astype(float),
        "real": rng.lognormal(size=tails.size),
    }[kind]
    graph = wf.Graph.from_edges(tails, heads, lengths)
    for count in (1, 8, 200):
        goal, truth = int(grid[3, 4]), wf.cost_to_go(graph, int(grid[3, 4]))
        drawn = np.union1d(rng.choice(900, count, replace=False), [goal])
        found = interval_test(graph, wf.Labels(drawn, truth[drawn]), wf.plan(graph, truth, goal))
        apart = np.array([wf.cost_to_go(graph, int(z)) for z in drawn])
        upper = (truth[drawn][:, None] + apart).min(axis=0)
        lower = np.maximum(0.0, (truth[drawn][:, None] - apart).max(axis=0))
        if kind == "real":
            room = found.label_error * (1.0 + 1e-6) + 1e-12
            assert 0.0 < found.label_error < 1e-9
            assert ((found.upper > upper) & (found.upper <= upper + room)).all()
            assert ((found.lower <= lower) & (found.lower >= lower - room)).all()
        else:
            assert (found.upper == upper).all()
            assert (found.lower == lower).all()


def test_proved_moves_and_routes_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(6)
    seen = set()
    for trial in range(60):
        graph = random_graph(rng, 12, ("unit", "whole", "real"), directed=trial % 2 == 1)
        lower = rng.integers(0, 6, 12) + rng.choice([0.0, 0.1], 12)
        upper = lower + rng.choice([0.0, 0.0, 0.3, inf], 12, p=[0.4, 0.3, 0.2, 0.1])
        successor = wf.plan(graph, rng.integers(0, 5, 12).astype(float), 0).successor
        moves, routes = proved_moves(graph.arcs, lower, upper, successor, 0, 2.0**-52)
        arcs = rows(graph)
        for x in range(12):
            c, expected = int(successor[x]), x == 0
            if c != x and upper[c] < inf:
                cost = {y: Fraction(length) + Fraction(lower[y]) for y, length in arcs[x].items()}
                own = Fraction(arcs[x][c]) + Fraction(upper[c])
                expected = all(own <= other for y, other in cost.items() if y != c)
            assert moves[x] == expected
            at, steps = x, 0
            while at != 0 and moves[at] and steps < 12:
                at, steps = int(successor[at]), steps + 1
            assert routes[x] == (at == 0)
            seen.add((bool(moves[x]), bool(routes[x])))
    assert seen == {(False, False), (True, False), (True, True)}


def test_labels_that_contradict_the_graph_prove_nothing() -> None:
    for values in ([0.0, 3.5], [0.0, -0.5]):
        answer = wf.solve(PATH, wf.Labels([0, 3], values), goal=0, check=False)
        found = answer.certificate.intervals
        assert found.refuted
        assert not found.proved.any()
        assert not found.route_proved.any()
        assert (answer.certificate.error_bound == inf).all()
        assert "contradict" in repr(found)
        assert "contradict" in repr(answer.certificate)
        assert "proved    no moves: labels and graph contradict each other" in answer.summary()
    # within their error the same labels agree
    assert not wf.solve(PATH, wf.Labels([0, 3], [0.0, 3.5], 0.5), 0).certificate.intervals.refuted


def test_labels_summed_in_doubles_do_not_contradict_their_graph() -> None:
    """Labels may be sums of lengths such as 0.1 in another order than the test uses."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        graph = random_graph(rng, 300, "real", backbone="tree")
        goal = int(rng.integers(300))
        truth = np.array(_summed_backwards(graph, goal))
        drawn = np.union1d(rng.choice(300, 40, replace=False), [goal])
        answer = wf.solve(graph, wf.Labels(drawn, truth[drawn]), goal)
        assert not answer.certificate.intervals.refuted
        assert 0.0 < answer.certificate.intervals.label_error < 1e-10
        assert answer.certificate.proved.mean() > 0.2


def _summed_backwards(graph: wf.Graph, goal: int) -> list[float]:
    """Return costs-to-go along shortest paths, each summed from its vertex to the goal."""
    plan = wf.plan(graph, wf.cost_to_go(graph, goal), goal, rule="q")
    arcs = rows(graph)
    return [
        sum(arcs[a][b] for a, b in pairwise(plan.rollout(x).path.tolist()))
        for x in range(graph.num_vertices)
    ]


def test_a_state_that_reaches_no_label_is_not_proved() -> None:
    one_way = wf.Graph.from_edges([0, 2, 2], [1, 1, 3], directed=True)
    found = interval_test(one_way, wf.Labels([1], [0.0]), wf.plan(one_way, [1.0, 0, 1, 5], 1))
    assert found.upper.tolist() == [1.0, 0.0, 1.0, inf]
    # 3 may lead on in the world, at no cost that the graph knows, but a move costs 1 at least
    assert found.proved.tolist() == [True, True, True, False]


@given(st.integers(0, 2**32 - 1))
def test_the_error_is_at_most_twice_the_distance_to_paths_between_labels(seed: int) -> None:
    """The sharper fill distance: Γ = {M = W} has the shortest paths from labels to the goal."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(3, 20)), ("unit", "whole"), backbone="tree")
    goal = int(rng.integers(graph.num_vertices))
    truth = wf.cost_to_go(graph, goal)
    able = np.flatnonzero(np.isfinite(truth))
    drawn = np.union1d(rng.choice(able, rng.integers(1, 5)), [goal])
    labels = wf.Labels(drawn, truth[drawn])
    answer = wf.solve(graph, labels, goal)
    found = answer.certificate.intervals
    known = np.flatnonzero(found.lower == found.upper)
    to_known = label_distance(graph, wf.Labels(known, truth[known]))
    assert (np.abs(answer.values - truth)[able] <= (found.upper - found.lower)[able] + 1e-12).all()
    assert ((found.upper - found.lower)[able] <= 2.0 * to_known[able]).all()
    assert (to_known <= label_distance(graph, labels)).all()
    for z in drawn:
        from_label = wf.cost_to_go(graph, int(z))
        between = np.flatnonzero(from_label + truth == truth[z])
        assert np.isin(between, known).all()


# -------------------------------------------------------------------- where to measure next


def test_labelling_goal_and_ends_makes_every_extension_exact() -> None:
    graph, _ = maze_problem("medium", 4, goal=7, fraction=0.1, seed=0)
    truth = wf.cost_to_go(graph, 7)
    ends = [x for x, row in rows(graph).items() if not any(truth[y] > truth[x] for y in row)]
    labels = wf.Labels([7, *ends], truth[[7, *ends]])
    answer = wf.solve(graph, labels, goal=7)
    assert np.allclose(answer.values, truth)
    assert answer.certificate.proved.all()
    assert len(next_labels(graph, labels, 7, k=3)) == 0


def test_measuring_one_at_a_time_is_at_most_four_times_the_best_fill_distance() -> None:
    """After k labels no interval is wider than 4 h, h the least fill distance of any k labels."""
    rng = np.random.default_rng(12)
    tight = 0.0
    for _ in range(25):
        graph = random_graph(rng, int(rng.integers(4, 11)), ("unit", "whole"), backbone="tree")
        n = graph.num_vertices
        goal = int(rng.integers(n))
        away = np.array([wf.cost_to_go(graph, x) for x in range(n)])
        truth, known = away[goal], [goal]
        plan = wf.plan(graph, truth, goal)
        for k in range(1, 4):
            found = interval_test(graph, wf.Labels(known, truth[known]), plan)
            widest = float((found.upper - found.lower).max())
            best = min(away[list(some)].min(axis=0).max() for some in combinations(range(n), k))
            assert widest <= 4.0 * best
            tight = max(tight, widest / max(best, 1e-9)) if best else tight
            more = next_labels(graph, wf.Labels(known, truth[known]), goal)
            if not more.size:
                assert widest == 0.0
                break
            known.append(int(more[0]))
    assert tight > 1.0


def test_on_a_directed_graph_a_width_counts_up_to_the_distance_to_labels() -> None:
    rng = np.random.default_rng(8)
    narrower = 0
    for _ in range(20):
        costs = np.where(rng.random((12, 12)) < 0.1, rng.integers(1, 9, (12, 12)), 0.0)
        costs[range(12), np.roll(range(12), -1)] = 1.0  # one way around, at least
        np.fill_diagonal(costs, 0.0)
        graph = wf.Graph.from_edges(*np.nonzero(costs), costs[costs > 0.0], directed=True)
        away = np.array([wf.cost_to_go(graph, x) for x in range(12)]).T  # from row to column
        truth, known = away[:, 0], [0, int(rng.integers(1, 12))]
        upper = (truth[known] + away[:, known]).min(axis=1)
        lower = np.maximum((truth[known] - away[known].T).max(axis=1), 0.0)
        score = np.minimum(upper - lower, away[:, known].min(axis=1))
        narrower += int(np.argmax(upper - lower) != np.argmax(score))
        found = next_labels(graph, wf.Labels(known, truth[known]), goal=0)
        assert score[found].tolist() == [score.max()][: found.size]
        assert found.size or not score.any()
    assert narrower, "the width alone would choose otherwise"


# -------------------------------------------------------------------- files


def test_a_file_proves_the_moves_again_and_no_others(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    checked = spoiled = 0
    for trial in range(10):
        graph = random_graph(rng, 12, ("unit", "whole", "real"), backbone="tree", edges=12)
        truth = wf.cost_to_go(graph, 0)
        drawn = np.union1d(rng.choice(12, 4, replace=False), [0])
        answer = wf.solve(graph, wf.Labels(drawn, truth[drawn]), goal=0)
        sentences = wayfield_verify.verify(answer.write_proof(tmp_path / "a.proof"))
        count = int(answer.certificate.proved.sum()) - 1
        assert any(f"{count} move" in one and "no arc is false" in one for one in sentences)
        checked += count
        unproved = np.flatnonzero(~answer.certificate.proved)
        if unproved.size:
            lie = answer.certificate.proved.copy()
            lie[unproved[trial % unproved.size]] = True
            certificate = replace(answer.certificate)
            certificate.__dict__["intervals"] = replace(answer.certificate.intervals, proved=lie)
            with pytest.raises(wayfield_verify.NotProved, match="intervals"):
                wayfield_verify.verify(certificate.write_proof(tmp_path / "b.proof"))
            spoiled += 1
    assert checked > 35
    assert spoiled > 3


def test_a_file_whose_labels_contradict_the_graph_proves_no_moves(tmp_path: Path) -> None:
    answer = wf.solve(path(5), wf.Labels([0, 2, 4], [0.0, 2.0, 4.0]), goal=0)
    false = wf.solve(path(5), wf.Labels([0, 2, 4], [0.0, 2.0, 5.0]), goal=0)
    certificate = replace(false.certificate)
    certificate.__dict__["intervals"] = answer.certificate.intervals
    with pytest.raises(wayfield_verify.NotProved, match="contradict each other"):
        wayfield_verify.verify(certificate.write_proof(tmp_path / "c.proof"))


def test_an_error_that_only_certify_is_told_counts() -> None:
    ring = wf.Graph.from_edges(range(5), [1, 2, 3, 4, 0])
    vertices, values = [0, 2], [0.0, 2.0]
    field = wf.extend(ring, wf.Labels(vertices, values), wf.AMLE())
    plan = wf.plan(ring, field, goal=0)
    assert wf.certify(ring, wf.Labels(vertices, values), field, plan).proved.all()
    doubted = wf.certify(ring, wf.Labels(vertices, values, error=1.0), field, plan)
    assert doubted.intervals.label_error == 1.0
    assert doubted.proved.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("lengths", "labels", "directed", "following"),
    [
        # a lane: an unreached state counts from 0
        ([1.0, 1.0, 1.0], wf.Labels([0], [0.0]), True, [3]),
        # intervals as wide as the labels' own rounding, or error, cannot be narrowed
        ([0.1], wf.Labels([0], [0.0]), True, [1]),
        ([3.0], wf.Labels([0, 1], [0.0, 3.0], error=0.25), False, []),
        ([3.0, 3.0], wf.Labels([0, 1], [0.0, 3.0], error=0.25), False, [2]),
    ],
)
def test_what_was_measured_is_not_proposed_again(lengths, labels, directed, following) -> None:
    n = len(lengths)
    line = wf.Graph.from_edges(range(1, n + 1), range(n), lengths, directed=directed)
    assert next_labels(line, labels, 0).tolist() == following
    known = wf.Labels(range(n + 1), np.append(0.0, np.cumsum(lengths)))
    assert next_labels(line, known, 0, k=2).tolist() == []


def test_what_is_surrounded_by_labels_is_proved() -> None:
    """The paper's corollary on mazes: 2 · (2h) < 2 leaves the states whose neighbours are labelled.

    In general, an error below half the true gap leaves M = W = V, as all three are lengths of walks
    with the same ends, so the interval test proves whatever the corollary does.
    """
    graph, labels = maze_problem("medium", 3, goal=5, fraction=0.5, seed=1)
    known = labels.mask(graph)
    surrounded = np.array([known[graph.neighbours(s)].all() for s in range(graph.num_vertices)])
    answer = wf.solve(graph, labels, goal=5)
    truth = wf.cost_to_go(graph, 5)
    right = truth[answer.plan.successor] + 1.0 == truth
    assert surrounded.sum() > 20
    assert answer.certificate.proved[surrounded & right].all()


def test_no_rule_can_vouch_for_one_move_from_labels_alone() -> None:
    """Two worlds with the same graph and labels, and different best moves at the same state.

    In the open a shortest path avoids any one neighbour c. If the arcs out of c cost more than
    the graph says, only a label at c would show it, and the move to c is wrong. So a rule that sees
    only graph and labels cannot state the risk of one move. The interval test assumes that no arc
    is too cheap.
    """
    square = wf.Graph.from_edges([0, 0, 1, 2, 1, 2], [1, 2, 3, 3, 4, 4], directed=False)
    labels = wf.Labels([0, 3, 4], [0.0, 2.0, 2.0])
    honest = wf.cost_to_go(square, 0)
    arcs = np.column_stack([square.tails, square.indices])
    c = int(wf.solve(square, labels, goal=0).plan.successor[3])
    slow = np.where(arcs[:, 0] == c, 9.0, 1.0)
    world = wf.Graph.from_edges(arcs[:, 0], arcs[:, 1], slow, directed=True)
    truth = wf.cost_to_go(world, 0)
    assert honest[1] == honest[2]  # two moves at 3 are equally good
    # all that changes is at c, which has no label
    assert np.flatnonzero(truth != honest).tolist() == [c]
    assert c not in labels.vertices
    assert 1.0 + truth[c] > truth[3]  # the plan's move is wrong there, and right in the graph
    assert wf.solve(square, labels, goal=0).certificate.proved[3]
