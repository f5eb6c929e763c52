"""Other readings of the paper and other draws: what they change, and what becomes evidence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.engine import Records, Row, as_records
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import (
    STUDIES,
    MazeCell,
    iteration_audit,
    mechanism,
    ordering,
    rollout,
    solver_readings,
    witnesses,
)
from wayfield_study.experiments.readings import (
    ADOPTED,
    BOTH,
    FAR,
    FORMER,
    OTHER_SEEDS,
    READINGS,
    UNFINISHED,
    UnfinishedHarmonic,
    as_formerly,
    as_tables,
    audited,
    evidence,
    far_pairs,
    sweeps,
    under,
)
from wayfield_study.experiments.solver_audit import Energy, lbfgs, newton_cg, relaxed_picard
from wayfield_study.paper.figures import FIGURES
from wayfield_study.paper.grid import GRID, SEEDS
from wayfield_study.paper.rules import expect

NEAREST = "solvers from the nearest label"
HALF_LARGE = "the large map at half the resolution"
TINY = MazeCell("umaze", 4, 0.1, 54, goals=4)


@cache
def rows_of(reading: str) -> Records:
    (cell,) = under(READINGS[reading], [TINY])
    return Records.of(as_table(cell, audited(cell)))


# ---------------------------------------------------------------- what a reading changes


@pytest.mark.parametrize("least", [0.0, 4.0, 11.0])
def test_far_pairs_are_far_and_nothing_else_changes(least: float) -> None:
    drawn = TINY.draw()
    far = far_pairs(drawn, least)
    for starts, truth in zip(far.starts, far.truths, strict=True):
        assert (truth[starts] >= least).all()
    assert far.starts.shape == drawn.starts.shape
    np.testing.assert_array_equal(far_pairs(drawn, least).starts, far.starts)
    assert far.labels is drawn.labels


def test_far_pairs_are_uniform_among_those_allowed() -> None:
    path = wf.Graph.from_edges(range(9), range(1, 10))
    truth = wf.cost_to_go(path, 0)
    drawn = replace(TINY.draw(), starts=np.zeros((1, 7000), dtype=np.int64), truths=[truth])
    counts = np.bincount(far_pairs(drawn, 3.0).starts[0], minlength=10)
    assert counts[:3].sum() == 0
    assert (abs(counts[3:] - 1000) < 150).all()  # five standard deviations


@pytest.mark.parametrize("sweeps", [0, 1, 7])
def test_the_unfinished_harmonic_is_its_naive_twin(sweeps: int) -> None:
    drawn = TINY.draw()
    graph, labels = drawn.graph, drawn.labels[0]
    values = wf.extend(graph, labels, wf.NearestLabel()).values.copy()
    for _ in range(sweeps):
        means = np.array([values[graph.neighbours(x)].mean() for x in range(graph.num_vertices)])
        after = 0.5 * values + 0.5 * means
        after[labels.vertices] = labels.values
        values = after
    found = wf.extend(graph, labels, UnfinishedHarmonic(sweeps, 0.5))
    np.testing.assert_allclose(found.values, values, atol=1e-12)
    assert found.status is wf.Status.STOPPED


def test_the_unfinished_harmonic_ends_at_the_harmonic_extension() -> None:
    drawn = TINY.draw()
    graph, labels = drawn.graph, drawn.labels[0]
    finished = wf.extend(graph, labels, wf.Harmonic()).values
    np.testing.assert_allclose(
        wf.extend(graph, labels, UnfinishedHarmonic(5000)).values, finished, atol=1e-9
    )
    assert abs(wf.extend(graph, labels, UnfinishedHarmonic()).values - finished).max() > 1e-9


def test_readings_differ_in_what_they_assume_alone() -> None:
    assert (FAR.apart, UNFINISHED.apart, BOTH.apart, FORMER.apart) == (3, 0, 3, 0)
    assert FAR.harmonic == FORMER.harmonic == ADOPTED.harmonic
    assert UNFINISHED.harmonic == BOTH.harmonic == UnfinishedHarmonic(200, 0.5)
    assert (ADOPTED.sweeps, ADOPTED.relaxation, ADOPTED.goals) == (500, 0.5, 32)
    assert (FORMER.sweeps, FORMER.relaxation, FORMER.goals) == (300, 1.0, 16)
    assert [name for name, each in READINGS.items() if each.former] == ["former"]


def test_a_reading_is_a_setting_of_its_cells() -> None:
    (far,), (former,) = under(FAR, [TINY]), under(FORMER, [replace(TINY, goals=32)])
    assert far.columns == TINY.columns | {"reading": "far pairs"}
    assert former.goals == 16
    assert len({TINY.key, far.key, under(ADOPTED, [TINY])[0].key}) == 3


# ---------------------------------------------------------------- rows of everything


def test_rows_come_apart_into_those_of_the_experiments() -> None:
    """The adopted reading is the protocol of the study: the same counts, one by one."""
    tables = as_tables(rows_of("adopted"))
    for name, experiment in (
        ("rollout", rollout),
        ("ordering", ordering),
        ("mechanism", mechanism),
    ):
        there = Records.of(as_table(TINY, experiment.run(TINY)))
        for theirs in there:
            if theirs["arm"] in ("amle", "amle_exit"):
                continue
            settings = {key: theirs[key] for key in ("arm", "scope") if key in theirs}
            (ours,) = tables[name].where(**settings)
            shared = [key for key in theirs if key in ours and isinstance(theirs[key], int)]
            assert len(shared) >= 8
            assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}


def test_sweeps_under_the_adopted_reading_are_the_iteration_audit() -> None:
    (cell,) = under(ADOPTED, [TINY])
    ours, theirs = as_table(cell, sweeps(cell)), as_table(TINY, iteration_audit.run(TINY))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine["reached"] == other["reached"]
        assert mine["residual"] == pytest.approx(other["residual"], abs=1e-12)


def test_the_sweeps_stand_in_for_the_exact_amle() -> None:
    for rows in as_tables(rows_of("adopted")).values():
        swept, exact = rows.where(arm="sweeps"), rows.where(arm="amle")
        assert [row | {"arm": "sweeps"} for row in exact] == list(swept)


def test_figures_as_they_were_defined_before() -> None:
    tables = as_tables(rows_of("former"))
    row = tables["mechanism"].where(arm="sweeps").rows[0]
    former = as_formerly(row)
    assert former["scope_primary"] == row["primary"]
    assert former["decisions"] == row["decisions"] + row["arrivals"]
    kinds = ("scope_both", "scope_primary", "scope_neither")
    assert sum(former[kind] for kind in kinds) == former["decisions"]
    assert row["arrivals"] == tables["rollout"].where(arm="harmonic").total("reached")
    outcome = tables["rollout"].where(arm="harmonic").rows[0]
    assert as_formerly(outcome)["sinks"] == outcome["minima"]
    assert as_formerly({"residual": 1.0, "residual_max": 2.0})["residual"] == 2.0


# ---------------------------------------------------------------- evidence


def cells(seeds: tuple[int, ...], **more: Any) -> list[Row]:
    return [
        {"maze": maze, "refinement": r, "label_fraction": lf, "seed": seed, "goals": 32} | more
        for maze, r, lf in GRID
        for seed in seeds
    ]


def whole(seeds: tuple[int, ...], reading: str, success: dict[int, float]) -> list[Row]:
    """Rows like those of `audited` on the whole grid, with a success for every seed."""
    template = rows_of("adopted")
    made = []
    for cell in cells(seeds, reading=reading):
        reached = round(512 * success[cell["seed"]])
        counts = {"pairs": 512, "reached": reached, "boundary": 512 - reached, "interior": 0}
        made += [row | counts | cell for row in template]
    return made


def test_expectations_are_means_over_studies_of_five_seeds() -> None:
    """Half of ten seeds have success 0.5, half 0.75: two studies of five lie around the mean."""
    seeds = OTHER_SEEDS[:10]
    rows = whole(seeds, "adopted", {seed: 0.5 if seed % 2 else 0.75 for seed in seeds})
    expected = evidence(STUDIES["paper"].experiments, as_records({"other_draws": rows})).expected
    overall = expected["main/harmonic/success"]
    assert overall.mean == pytest.approx(0.625)
    assert 0.02 < overall.sd < 0.25
    assert overall.apart == pytest.approx(overall.sd * np.sqrt(1.5))
    assert expected["main/harmonic/sd"].mean > 0.1
    assert "iterations/sweeps50/success" not in expected
    assert expected.keys() <= FIGURES.keys()


def test_a_part_of_the_grid_is_no_expectation() -> None:
    rows = whole(OTHER_SEEDS[:10], "adopted", dict.fromkeys(OTHER_SEEDS, 0.5))
    some = [row for row in rows if row["maze"] == "medium"]
    expected = evidence(STUDIES["paper"].experiments, as_records({"other_draws": some})).expected
    assert "main/harmonic/success" not in expected
    assert expected["grid-medium/r4/lf0.02/harmonic"].mean == pytest.approx(0.5)


def test_what_other_readings_give_goes_by_what_they_assume() -> None:
    rows = whole(SEEDS, "far pairs", dict.fromkeys(SEEDS, 0.25))
    rows += whole(SEEDS, "former", dict.fromkeys(SEEDS, 0.75))
    tried = evidence(STUDIES["paper"].experiments, as_records({"readings": rows})).tried
    assert tried["main/harmonic/success"] == {
        "pairs at least 3r apart": pytest.approx(0.25),
        "the reading of version 0.1.0": pytest.approx(0.75),
    }
    # no reading of the protocol changes the size of a map
    assert tried["setup/medium/r4/rows/value"].keys() == {HALF_LARGE}


def test_without_other_rows_there_is_no_evidence_but_of_sizes() -> None:
    found = evidence(STUDIES["paper"].experiments, {})
    assert found.expected == {}
    assert {FIGURES[name].table for name in found.tried} == {"setup"}


def test_half_of_large_has_the_size_that_the_paper_gives_medium() -> None:
    tried = evidence(STUDIES["paper"].experiments, {}).tried
    assert len(tried) == 6
    for name, values in tried.items():
        assert values == {HALF_LARGE: FIGURES[name].value}


# ---------------------------------------------------------------- solvers


@cache
def solver_rows() -> Records:
    cell = MazeCell("medium", 3, 0.08, 54, goals=1)
    rows = as_table(cell, solver_readings.run(cell))
    return Records.of(rows)


def test_every_start_is_solved_for_every_p() -> None:
    rows = solver_rows().where(arm="lbfgs700")
    assert rows.values("assumed") == list(solver_readings.ASSUMED)
    for some in rows.by("assumed").values():
        assert [row["p"] for row in some] == [4.0, 8.0, 16.0]
    ends = solver_rows().where(assumed="")
    assert [row["arm"] for row in ends] == ["harmonic", "sweeps"]


def test_starts_keep_the_labels() -> None:
    drawn = TINY.draw()
    labels = drawn.labels[0]
    for start in solver_readings.STARTS.values():
        field = start(drawn.graph, labels)
        np.testing.assert_array_equal(field[labels.vertices], labels.values)


def test_a_solver_begins_where_it_is_told() -> None:
    drawn = TINY.draw()
    problem = drawn.graph, drawn.labels[0], 4.0
    for start in solver_readings.STARTS.values():
        first = start(drawn.graph, drawn.labels[0])
        started, other = Energy(*problem, first), Energy(*problem)
        np.testing.assert_array_equal(relaxed_picard(started, cap=0).values, first)
        for solver in (lbfgs, newton_cg):
            told, untold = solver(started, cap=1), solver(other, cap=1)
            assert abs(told.values - untold.values).max() > 0.1


def test_one_seed_stands_for_all_in_solver_readings() -> None:
    """Rows of every configuration, all alike: counts are those of 120 cells, or of 24."""
    made = []
    stopped = solver_rows().where(assumed=NEAREST, arm="lbfgs700")
    audits = [row | {"arm": arm} for row in stopped for arm in ("picard", "newton")]
    for maze, r, lf in GRID:
        about = {"maze": maze, "refinement": r, "label_fraction": lf, "seed": 54, "goals": 1}
        made += [row | about | {"converged": 1} for row in (*solver_rows(), *audits)]
    tables = as_records({"solver_readings": made})
    tried = evidence(STUDIES["paper"].experiments, tables).tried
    for assumed in solver_readings.ASSUMED:
        assert tried["lbfgs/p8/converged"][assumed] == 120
        assert 0 <= tried["monotone/success_monotone/count"][assumed] <= 120
        share = solver_rows().where(assumed=assumed, p=16.0).ratio("reached", "pairs")
        assert tried["finite-p/p16/success"][assumed] == pytest.approx(share)
    assert tried["solvers/p4/newton/converged"] == {NEAREST: 24}
    assert "solvers/p4/lbfgs/converged" not in tried


# ---------------------------------------------------------------- searches


def test_thinned_subgraphs_are_connected_and_induced() -> None:
    rng = np.random.default_rng(5)
    sizes = set()
    for _ in range(50):
        graph, names = witnesses.connected_part(rng)
        sizes.add(graph.num_vertices)
        assert np.isfinite(wf.cost_to_go(graph, 0)).all()
        rows, columns = np.divmod(names, 4)
        apart = abs(rows[:, None] - rows) + abs(columns[:, None] - columns)
        for x in range(graph.num_vertices):
            np.testing.assert_array_equal(
                np.sort(graph.neighbours(x)), np.flatnonzero(apart[x] == 1)
            )
    assert sizes <= set(range(8, 17))
    assert len(sizes) >= 5


def test_other_searches_are_evidence() -> None:
    rows = [
        {"way": way, "seed": seed, "candidates": 588, "swept": count, "exact": 0}
        for way, counts in (("grown", (4, 8)), ("thinned", (1, 3)))
        for seed, count in enumerate(counts)
    ]
    found = evidence(STUDIES["paper"].experiments, as_records({"other_searches": rows}))
    expected = found.expected["search/witnesses/value"]
    assert (expected.mean, expected.sd, expected.draws) == (6.0, pytest.approx(np.sqrt(8)), 2)
    assert found.tried["search/witnesses/value"] == {"subgraphs thinned until connected": 2.0}


@pytest.mark.parametrize("way", witnesses.WAYS)
def test_a_search_is_settled_by_its_cell(way: str) -> None:
    cell = witnesses.SearchCell(way, 3, candidates=30)
    (row,) = witnesses.run_search(cell)
    assert witnesses.run_search(cell) == [row]
    assert 0 <= row["exact"] <= 30


def test_expect_takes_spread_within_groupings() -> None:
    found = expect([[1.0, 3.0], [2.0, 2.0]], 10)
    assert (found.mean, found.sd) == (2.0, 1.0)
    assert found.apart == pytest.approx(np.sqrt(1.5))


def test_own_seeds_are_resampled_within_configurations() -> None:
    """Success of 0.5 or 0.75 by seed: the deviation of a mean of 5 seeds in 24 configurations."""
    rows = whole(SEEDS, "adopted", {seed: 0.5 if seed % 2 else 0.75 for seed in SEEDS})
    tables = {name: list(some) for name, some in as_tables(Records.of(rows)).items()}
    found = evidence(STUDIES["paper"].experiments, as_records(tables)).expected
    one = found["grid-medium/r4/lf0.02/harmonic"]
    spread = np.std([0.75, 0.5, 0.75, 0.5, 0.75], ddof=1)
    assert (one.draws, one.studies) == (5, 1.0)
    assert one.mean == pytest.approx(0.65)
    assert one.sd == pytest.approx(spread / np.sqrt(5), rel=0.35)
    assert found["main/harmonic/success"].sd == pytest.approx(spread / np.sqrt(120), rel=0.35)
    # what no seed changes has no deviation
    assert found["setup/cells/value"].sd == 0.0
