"""What costs bear out: false edges, places, factor, wait and units, and silence on right graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wayfield as wf
from wayfield import travel
from wayfield.travel.evidence import FLOOR, RATIOS, Evidence, Hypothesis, fit
from wayfield.travel.fitting import make_problem
from wayfield.travel.slowness import price_of_arcs
from wayfield.travel.suspicion import suspicion
from worlds import BLOCKS, measured, path, streets


def named(mended: travel.Mended) -> list[str]:
    return [each.kind for each in mended.findings if each.named]


# ------------------------------------------------------------------ false edges


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_positions_tell_all_false_edges_and_no_others(seed: int, noise: float) -> None:
    world, graph, false = streets(seed, false=5)
    mended = travel.mend(graph, measured(world, seed, noise=noise), 0)
    found = {
        tuple(sorted((int(graph.tails[e.where[0]]), int(graph.indices[e.where[0]]))))
        for e in mended.findings
        if e.named and e.kind == "false edge"
    }
    assert found == false
    assert set(named(mended)) == {"false edge"}
    np.testing.assert_allclose(wf.cost_to_go(mended.graph, 0), wf.cost_to_go(world, 0))
    changed = np.flatnonzero(mended.added)
    assert set(changed.tolist()) == {int(a) for e in mended.findings for a in e.where}


def test_a_leap_that_trips_have_used_is_acquitted() -> None:
    _, graph, _ = streets(0, false=2)  # and it is no false edge: the world has it
    assert named(travel.mend(graph, measured(graph, 0), 0)) == []


def test_positions_alone_name_no_edge() -> None:
    """It may be a ferry or a tunnel; costs to vertex 0 that are the same without it cannot tell."""
    world, graph, _ = streets(3, false=1)
    costs = wf.cost_to_go(world, 0)
    same = np.flatnonzero(np.isclose(wf.cost_to_go(graph, 0), costs))[:20]
    (finding,) = travel.mend(graph, wf.Labels(same, costs[same]), 0).findings
    assert (finding.kind, finding.evidence, finding.named) == ("false edge", "positions", False)


def test_a_fast_road_is_no_false_edge() -> None:
    world, _, _ = streets(1)
    row = (world.tails // BLOCKS == 5) & (world.indices // BLOCKS == 5)
    fast = replace(world, lengths=np.where(row, world.lengths / 5, world.lengths))
    evidence = Evidence(make_problem(fast, measured(fast, 1), 0))
    assert not suspicion(fast, evidence.pair, evidence.ends).leaps.any()


def test_without_positions_costs_decide_and_nobody_else_is_accused() -> None:
    right = wrong = 0
    for seed in range(4):
        world, graph, false = streets(seed, false=3)
        mended = travel.mend(replace(graph, positions=None), measured(world, seed), 0)
        for each in mended.findings:
            if each.named:
                ends = int(graph.tails[each.where[0]]), int(graph.indices[each.where[0]])
                right, wrong = (
                    right + (tuple(sorted(ends)) in false),
                    wrong + (tuple(sorted(ends)) not in false),
                )
    assert right >= 2
    assert wrong == 0


def test_without_positions_they_are_asked_for() -> None:
    world, graph, _ = streets(2, false=5)
    bare = travel.mend(replace(graph, positions=None), measured(world, 2), 0).summary()
    asked = "with them false edges can be told from slow streets"
    assert asked in bare
    assert asked not in travel.mend(graph, measured(world, 2), 0).summary()


# ------------------------------------------------------------------ places, factor, wait, units


def test_a_slow_place_is_named_where_it_is() -> None:
    world, _, _ = streets(3)
    assert world.positions is not None
    slow = np.linalg.norm(world.positions - [8, 8], axis=1) < 4
    times = 1.0 + (slow[world.tails] + 0.0 + slow[world.indices])
    truth = replace(world, lengths=world.lengths * times)
    mended = travel.mend(world, measured(truth, 3, count=40), 0)
    places = [each for each in mended.findings if each.named]
    assert places
    for place in places:
        really = truth.lengths[place.where].sum() / world.lengths[place.where].sum()
        assert place.kind == "slow place"
        assert really > 1.1
        assert place.amount > 1.2
        assert f"around {place.around} cost about" in mended.finding()
    assert (mended.added[np.concatenate([place.where for place in places])] > 0).all()


@pytest.mark.parametrize("factor", [0.7, 1.5])
def test_a_common_factor_is_one_finding(factor: float) -> None:
    world, _, _ = streets(4)
    truth = replace(world, lengths=factor * world.lengths)
    mended = travel.mend(world, measured(truth, 4, noise=0.03), 0)
    assert named(mended) == ["factor"]
    assert mended.findings[0].amount == pytest.approx(factor, rel=0.03)
    np.testing.assert_allclose(mended.graph.lengths / world.lengths, mended.findings[0].amount)


@pytest.mark.parametrize("unit", [60.0, 1 / 3600])
def test_units_are_asked_about_before_anything_is_named(unit: float) -> None:
    world, graph, _ = streets(5, false=4)
    labels = measured(world, 5)
    mended = travel.mend(graph, wf.Labels(labels.vertices, unit * labels.values), 0)
    (question,) = mended.findings
    assert (question.kind, question.named) == ("unit", False)
    assert mended.unchanged
    assert f"multiply the lengths by {unit:.3g}" in mended.summary()
    with pytest.raises(wf.InputError, match="are both in the same unit"):
        mended.cost_to_go()


# ------------------------------------------------------------------ silence


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("placed", [True, False])
def test_right_graphs_stay_as_they_are(noise: float, placed: bool) -> None:
    found = 0
    for seed in range(5):
        world, _, _ = streets(seed)
        graph = world if placed else replace(world, positions=None)
        mended = travel.mend(graph, measured(world, 50 + seed, count=12, noise=noise), 0)
        found += bool(named(mended))
        assert mended.unchanged or named(mended)
    assert found == 0


@pytest.mark.parametrize("count", [1, 2, 4])
def test_few_costs_bear_nothing_out(count: int) -> None:
    vertices = np.arange(1, count + 1)
    mended = travel.mend(path(6), wf.Labels(vertices, 1.5 * vertices), 0)
    assert mended.findings == ()
    assert mended.unchanged


def test_costs_within_their_error_say_nothing() -> None:
    world, _, _ = streets(6)
    labels = measured(world, 6, noise=0.0)
    off = wf.Labels(labels.vertices, 1.2 * labels.values, error=float(0.2 * labels.values.max()))
    assert travel.mend(world, off, 0).findings == ()
    assert named(travel.mend(world, wf.Labels(off.vertices, off.values), 0)) == ["factor"]


def test_upper_bounds_prove_nothing_but_positions_do() -> None:
    world, graph, false = streets(7, false=3)
    labels = measured(world, 7)
    paid = wf.Labels(labels.vertices, 1.4 * labels.values)
    mended = travel.mend(graph, paid, 0, bound="upper")
    assert named(mended) == ["false edge"] * len(false)


@pytest.mark.parametrize(("streets_", "seed"), [(3, 10), (4, 10), (4, 12)])
def test_a_wait_at_crossings_of_three_streets_or_of_four(streets_: int, seed: int) -> None:
    world, _, _ = streets(seed)
    gone = np.random.default_rng(seed).random(world.num_edges) < 0.12
    once = world.tails < world.indices
    ends = world.tails[once][~gone], world.indices[once][~gone]
    city = wf.Graph.from_edges(*ends, world.lengths[once][~gone], positions=world.positions)
    waits = 0.8 * price_of_arcs(city, streets_) / np.median(city.lengths)
    truth = replace(city, lengths=city.lengths + waits)
    for graph in (city, replace(city, positions=None)):
        mended = travel.mend(graph, measured(truth, seed, count=40), 0)
        assert named(mended) == ["wait"]
        wait = mended.findings[0]
        assert wait.streets == streets_
        assert 0.3 < wait.amount < 0.9, "less than 0.8: the world's paths avoid crossings"
        where = "crossing of four streets" if streets_ == 4 else "crossing"
        assert mended.finding().startswith(f"every {where} costs about ")


# ------------------------------------------------------------------ the likelihood


def test_the_restricted_likelihood_is_that_of_a_direct_computation() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((12, 12))
    residual, terms, covariance = 0.1 * rng.standard_normal(12), rng.random((12, 2)), root @ root.T

    def direct(ratio: float) -> float:
        inverse = np.linalg.inv(np.eye(12) + ratio * covariance)
        normal = terms.T @ inverse @ terms + 1e-4 * np.eye(2)
        beta = np.linalg.solve(normal, terms.T @ inverse @ residual)
        rest = residual - terms @ beta
        square = rest @ inverse @ rest
        variance = max(square / 10, FLOOR**2)
        logs = np.linalg.slogdet(normal)[1] - np.linalg.slogdet(inverse)[1]
        return float(-0.5 * (10 * np.log(variance) + logs + square / variance))

    found = fit(residual, terms, covariance)
    assert found.likelihood == pytest.approx(max(map(direct, RATIOS)))
    assert direct(found.ratio) == pytest.approx(found.likelihood)


def test_an_edge_that_all_trips_need_cannot_be_false() -> None:
    row = path(8)
    evidence = Evidence(make_problem(row, wf.Labels([3, 4, 5, 6, 7], [9.0, 4, 5, 6, 7]), 0))
    assert evidence.likelihood(Hypothesis(frozenset({0}))) == -np.inf


def test_the_same_input_gives_the_same_bytes() -> None:
    world, graph, _ = streets(8, false=4)
    labels, bare = measured(world, 8, noise=0.05), replace(graph, positions=None)
    one, two = (travel.mend(replace(bare), labels, 0) for _ in range(2))
    assert one.graph.lengths.tobytes() == two.graph.lengths.tobytes()
    assert [e.probability for e in one.findings] == [e.probability for e in two.findings]
