"""Worlds in which the graph is wrong, each in its own way."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.experiments.wrong_worlds import WRONG_WORLDS, make_wrong_world

SIZE = 0.2


@pytest.mark.parametrize("kind", WRONG_WORLDS)
def test_worlds_are_the_same_for_the_same_key(kind: str) -> None:
    one, two, other = (make_wrong_world(kind, seed, SIZE) for seed in (1, 1, 4))
    for name in ("lands", "costs", "slips", "sent"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert np.array_equal(one.graph.indices, two.graph.indices)
    assert np.array_equal(one.graph.lengths, two.graph.lengths)
    assert one.goal == two.goal != other.goal


@pytest.mark.parametrize("kind", WRONG_WORLDS)
@pytest.mark.parametrize("seed", [0, 2])
def test_the_goal_is_within_reach_and_arcs_are_arcs(kind: str, seed: int) -> None:
    world = make_wrong_world(kind, seed, SIZE)
    graph = world.graph
    assert not graph.directed
    assert world.truth[world.goal] == 0.0
    assert np.isfinite(world.truth).all()
    assert (world.truth[world.able] > 0).all()
    arrives, stays = world.lands == graph.indices, world.lands == graph.tails
    assert arrives.any()
    if kind == "tele":
        assert np.isin(world.lands[~arrives & ~stays], world.sent).all()
    else:
        assert (arrives | stays).all()
        assert np.array_equal(world.sent, np.arange(graph.num_vertices))
    missing = world.costs[stays]
    assert np.array_equal(missing, graph.lengths[stays])
    assert (world.costs >= graph.lengths).all()
    assert world.slippery == (kind == "slip")
    assert isinstance(world.world(), wf.Graph) == (kind not in ("tele", "slip"))


def test_worlds_are_wrong_in_their_own_way() -> None:
    kinds = ("patch", "slip", "oneway", "tele", "short5", "exact")
    worlds = (make_wrong_world(kind, 0, SIZE) for kind in kinds)
    patch, slip, oneway, tele, short, exact = worlds
    assert (patch.lands == patch.graph.indices).all()
    assert patch.costs.max() > 2.0
    assert 0.3 <= slip.slips[slip.slips > 0].min() <= slip.slips.max() <= 0.8
    assert (slip.truth >= wf.cost_to_go(slip.graph, slip.goal)).all()
    shut = oneway.lands == oneway.graph.tails
    ends = set(zip(oneway.graph.tails[shut], oneway.graph.indices[shut], strict=True))
    assert ends
    assert not ends & {(y, x) for x, y in ends}
    assert np.unique(tele.sent[tele.sent != np.arange(tele.sent.size)]).size == 3
    false = short.lands == short.graph.tails
    positions = short.graph.positions
    assert positions is not None
    leaps = np.abs(positions[short.graph.tails[false]] - positions[short.graph.indices[false]])
    assert leaps.sum(axis=1).min() >= 6
    assert false.sum() == 2 * round(0.05 * short.graph.num_vertices)
    assert exact.real.num_arcs == exact.graph.num_arcs
    assert np.array_equal(exact.truth, wf.cost_to_go(exact.graph, exact.goal))


def test_more_thin_walls_are_crossed_by_more_edges() -> None:
    few, all_ = (make_wrong_world(kind, 0, SIZE) for kind in ("alias10", "alias100"))
    shares = [(world.lands == world.graph.tails).mean() for world in (few, all_)]
    assert 0.0 < shares[0] < shares[1] / 3
