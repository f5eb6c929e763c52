"""Readings of the paper as a design, other draws, and the likelihood that ranks them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

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
    witnesses,
)
from wayfield_study.experiments.mazes import draw_starts
from wayfield_study.experiments.readings import (
    ADOPTED,
    LEVELS,
    READINGS,
    ProtocolReading,
    ReadingCell,
    as_tables,
    averages,
    closed_lattice,
    design_cells,
    evidence,
    ranking,
    rows_of,
    run,
    run_adopted,
    under_readings,
)
from wayfield_study.paper.figures import FIGURES
from wayfield_study.paper.grid import DESIGN_SEEDS, GRID, OTHER_SEEDS, PAPER_APART, SEEDS
from wayfield_study.paper.likelihood import rank

PAPER = STUDIES["all"]
TINY = MazeCell("umaze", 4, 0.1, 54, goals=4)
AUDITED = MazeCell("medium", 8, 0.02, DESIGN_SEEDS[0], goals=1)


@cache
def adopted_rows() -> Records:
    return Records.of(as_table(TINY, run_adopted(TINY)))


@cache
def design_rows() -> Records:
    cell = ReadingCell(**vars(TINY))
    return Records.of(as_table(cell, run(cell)))


# ---------------------------------------------------------------- what a reading changes


@pytest.mark.parametrize("least", [0.0, 3.0, 40.0])
def test_starts_are_uniform_among_those_allowed(least: float) -> None:
    truth = np.arange(10.0)
    starts = draw_starts([truth], 7000, least, np.random.default_rng(1))
    counts = np.bincount(starts[0], minlength=10)
    first = int(min(max(least, 1.0), 9.0))  # the farthest where none is far enough
    assert counts[:first].sum() == 0
    assert (abs(counts[first:] - 7000 / (10 - first)) < 170).all()  # five standard deviations


def test_the_study_draws_starts_at_the_adopted_distance() -> None:
    drawn = TINY.draw()
    for starts, truth in zip(drawn.starts, drawn.truths, strict=True):
        assert truth[starts].min() >= PAPER_APART * TINY.refinement
    assert ADOPTED.apart == PAPER_APART


@pytest.mark.parametrize("count", [0, 1, 7])
def test_averages_are_their_naive_twin(count: int) -> None:
    drawn = TINY.draw()
    graph, labels = drawn.graph, drawn.labels[0]
    values = np.full(graph.num_vertices, labels.values.mean())
    values[labels.vertices] = labels.values
    for _ in range(count):
        after = np.array([values[graph.neighbours(x)].mean() for x in range(graph.num_vertices)])
        after[labels.vertices] = labels.values
        values = after
    np.testing.assert_allclose(averages(graph, labels, count), values, atol=1e-12)


def naive_closed_lattice(layout: wf.Layout, r: int) -> list[set[int]]:
    """Neighbours of every point, by looking at the closed cells one by one."""
    free = [(i, j) for i, j in product(*map(range, layout.shape)) if layout.free[i, j]]
    cells = [{(i * r + a, j * r + b) for a, b in product(range(r + 1), repeat=2)} for i, j in free]
    corners = {
        point
        for (i, j), (k, m) in product(free, repeat=2)
        if abs(i - k) == abs(j - m) == 1 and not layout.free[i, m] and not layout.free[k, j]
        for point in [(max(i, k) * r, max(j, m) * r)]
    }
    points = sorted(set().union(*cells) - corners)
    number = {point: k for k, point in enumerate(points)}
    near: list[set[int]] = [set() for _ in points]
    for cell in cells:
        for (y, x), (dy, dx) in product(cell, ((0, 1), (1, 0))):
            other = (y + dy, x + dx)
            if other in cell and (y, x) in number and other in number:
                near[number[y, x]].add(number[other])
                near[number[other]].add(number[y, x])
    return near


@pytest.mark.parametrize("text", ["..\n#.", ".#\n..", "#.\n.#\n..", "...\n#.#\n.#.\n..."])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_the_closed_lattice_is_its_naive_twin(text: str, r: int) -> None:
    layout = wf.Layout.from_text(text)
    graph, near = closed_lattice(layout, r), naive_closed_lattice(layout, r)
    assert graph.num_vertices == len(near)
    assert [set(graph.neighbours(x).tolist()) for x in range(graph.num_vertices)] == near


def test_the_design_has_other_labels_for_every_goal() -> None:
    fresh, shared = ReadingCell(**vars(TINY)).draw(), TINY.draw()
    assert [len(some) for some in fresh.labels] == pytest.approx(
        [len(some) for some in shared.labels], abs=1
    )
    sets = [
        set(some.vertices.tolist()) - {int(goal)}
        for some, goal in zip(fresh.labels, fresh.goals, strict=True)
    ]
    assert len(set(map(frozenset, sets))) == len(sets)
    for labels, truth in zip(fresh.labels, fresh.truths, strict=True):
        np.testing.assert_array_equal(labels.values, truth[labels.vertices])


def test_the_design_has_every_combination_once() -> None:
    assert len(READINGS) == np.prod([len(levels) for levels in LEVELS.values()])
    assert len(set(READINGS)) == len(READINGS)
    assert ADOPTED in READINGS
    cells = design_cells(PAPER.profile())
    assert len(set(cells)) == len(cells) == 2 * 24 * len(DESIGN_SEEDS)
    assert not set(DESIGN_SEEDS) & set(OTHER_SEEDS)
    assert not set(DESIGN_SEEDS) & set(SEEDS)


# ---------------------------------------------------------------- rows


def test_rows_come_apart_into_those_of_the_experiments() -> None:
    """The adopted reading is the protocol of the study: the same counts, one by one."""
    tables = as_tables(adopted_rows())
    for name, experiment in (
        ("rollout", rollout),
        ("ordering", ordering),
        ("mechanism", mechanism),
    ):
        for theirs in as_table(TINY, experiment.run(TINY)):
            if theirs["arm"] not in ("harmonic", "sweeps", "nearest", "oracle"):
                continue
            settings = {key: theirs[key] for key in ("arm", "scope") if key in theirs}
            (ours,) = tables[name].where(**settings)
            shared = [key for key in theirs if key in ours and isinstance(theirs[key], int)]
            assert len(shared) >= 6
            assert {key: ours[key] for key in shared} == {key: theirs[key] for key in shared}


def test_one_field_serves_every_distance() -> None:
    """The rows of a design at each distance are those of a trial with just these starts."""
    rows = design_rows()
    assert set(rows.values("apart")) == set(LEVELS["apart"])
    for apart, solver, relaxation in product(
        LEVELS["apart"], LEVELS["solver"], LEVELS["relaxation"]
    ):
        some = rows.where(apart=apart, solver=solver, relaxation=relaxation)
        assert some.column("sweeps").tolist() == [500] * len(LEVELS["tolerance"])
        assert sorted(some.column("tolerance")) == list(LEVELS["tolerance"])
    near, far = (rows.where(arm="nearest", apart=apart).total("reached") for apart in (0, 3))
    assert near > far
    every = rows.where(arm="oracle")
    assert every.total("reached") == every.total("pairs")


def test_audited_cells_are_looked_at_after_every_budget() -> None:
    cell = ReadingCell(**vars(AUDITED))
    whole = Records.of(as_table(cell, run(cell)))
    rows = whole.where(solver="exact", apart=PAPER_APART)
    swept = rows.where(arm="sweeps", relaxation=0.5, tolerance=0.0)
    assert swept.values("sweeps") == [50, 100, 200, 500, 1000]
    theirs = Records.of(as_table(cell, iteration_audit.run(cell))).where(arm="sweeps")
    for row in swept:
        (other,) = theirs.where(sweeps=row["sweeps"])
        assert row["residual"] == pytest.approx(other["residual"], abs=1e-12)
    # main runs stop at the tolerance, their audit does not
    for tolerance in LEVELS["tolerance"]:
        tables = as_tables(rows_of(whole, ADOPTED), tolerance)
        (main,) = tables["rollout"].where(arm="sweeps")
        assert main["residual"] < tolerance or tolerance == 0.0
        assert tables["iteration_audit"].where(arm="sweeps").values("sweeps") == [
            50, 100, 200, 500, 1000
        ]  # fmt: skip


# ---------------------------------------------------------------- evidence


def whole(seeds: tuple[int, ...], success: dict[int, float], template: Records) -> list[Row]:
    """Rows like the template's on the whole grid, with a success for every seed."""
    made = []
    for (maze, r, lf), seed in product(GRID, seeds):
        cell = {"maze": maze, "refinement": r, "label_fraction": lf, "seed": seed, "goals": 32}
        reached = round(512 * success[seed])
        counts = {"pairs": 512, "reached": reached, "boundary": 512 - reached, "interior": 0}
        made += [row | counts | cell for row in template]
    return made


def test_expectations_are_means_over_studies_of_five_seeds() -> None:
    """Half of ten seeds have success 0.5, half 0.75: two studies of five lie around the mean."""
    seeds = OTHER_SEEDS[:10]
    shares = {seed: 0.5 if seed % 2 else 0.75 for seed in seeds}
    rows = whole(seeds, shares, adopted_rows())
    expected = evidence(PAPER.experiments, as_records({"other_draws": rows})).expected
    overall = expected["main/harmonic/success"]
    assert overall.mean == pytest.approx(0.625)
    assert 0.02 < overall.sd < 0.25
    assert overall.apart == pytest.approx(overall.sd * np.sqrt(1.5))
    assert expected["main/harmonic/sd"].mean > 0.1
    assert "iterations/sweeps50/success" not in expected
    assert expected.keys() <= FIGURES.keys()


def test_a_part_of_the_grid_is_no_expectation() -> None:
    rows = whole(OTHER_SEEDS[:10], dict.fromkeys(OTHER_SEEDS, 0.5), adopted_rows())
    some = [row for row in rows if row["maze"] == "medium"]
    expected = evidence(PAPER.experiments, as_records({"other_draws": some})).expected
    assert "main/harmonic/success" not in expected
    assert expected["grid-medium/r4/lf0.02/harmonic"].mean == pytest.approx(0.5)


def test_without_other_rows_there_is_no_evidence() -> None:
    assert evidence(PAPER.experiments, {}).expected == {}
    assert under_readings(PAPER.experiments, {}) == ({}, {})
    assert ranking(PAPER.experiments, {}) is None


def test_a_reading_is_measured_on_its_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harmonic success is a half where starts are two cells away, swept at 0.01, else a quarter."""
    some = {replace(ADOPTED, **{name: x}) for name, levels in LEVELS.items() for x in levels}
    assert some <= set(READINGS)
    monkeypatch.setattr("wayfield_study.experiments.readings.READINGS", tuple(some))
    made = []
    for lattice in LEVELS["lattice"]:
        for row in whole(DESIGN_SEEDS, dict.fromkeys(DESIGN_SEEDS, 0.25), design_rows()):
            half = (row["apart"] == 2 and row["arm"] == "harmonic") or row["tolerance"] == 0.01
            made.append(row | {"lattice": lattice} | ({"reached": 256} if half else {}))
    found, deviations = under_readings(PAPER.experiments, as_records({"design": made}))
    assert found.keys() == some
    for reading, figures in found.items():
        harmonic = 0.5 if reading.apart == 2 else 0.25
        assert figures["grid-large/r8/lf0.05/harmonic"] == pytest.approx(harmonic)
        swept = 0.5 if reading.tolerance == 0.01 else 0.25
        assert figures["main/amle/success"] == pytest.approx(swept)
        assert "setup/cells/value" not in figures  # the same under every reading
    assert deviations["main/amle/success"] == 0.0  # all seeds alike
    # with one cell missing there is no ranking
    lost = [
        row
        for row in made
        if (row["lattice"], row["maze"], row["refinement"], row["label_fraction"], row["seed"])
        != ("open", *GRID[0], DESIGN_SEEDS[0])
    ]
    assert len(lost) == len(made) - len(design_rows())
    assert ranking(PAPER.experiments, as_records({"design": lost})) is None


# ---------------------------------------------------------------- the likelihood

NAMES = [
    f"grid-{maze}/r4/lf{lf}/harmonic" for maze in ("medium", "large") for lf in ("0.02", "0.05")
]


def plainly(reading: object) -> tuple[int, ...]:
    """No reading is simpler than another."""
    return (0,)


def test_the_likelihood_is_students() -> None:
    printed = {name: FIGURES[name].value for name in NAMES}
    off = {name: value - 0.1 for name, value in printed.items()}
    found = rank({"off": off, "on": printed}, dict.fromkeys(NAMES, 0.02), "off", plainly)
    assert list(found.readings) == ["on", "off"]
    assert list(found.groups) == ["medium", "large"]
    z = 0.1 / np.sqrt(2 * 0.02**2 + 0.001**2 / 12)
    one = stats.t.logpdf(z, 4) - stats.t.logpdf(0.0, 4)
    np.testing.assert_allclose(found.scores, [[0.0, 0.0], [2 * one, 2 * one]], atol=1e-12)
    np.testing.assert_allclose(found.z[1], z)
    assert found.met.tolist() == [1.0, 0.0]


def test_the_error_of_a_lead_is_over_groups() -> None:
    printed = {name: FIGURES[name].value for name in NAMES}
    off = {name: value - (0.1 if "medium" in name else 0.0) for name, value in printed.items()}
    found = rank({"off": off, "on": printed}, dict.fromkeys(NAMES, 0.02), "off", plainly)
    lead, error = found.behind("off")
    assert lead == pytest.approx(-found.scores[1].sum())
    # one group leads by all of it, the other by nothing: 2 · var / 2 of two numbers
    assert error == pytest.approx(lead)
    assert found.behind("on") == (0.0, 0.0)


def test_ties_go_to_the_simpler() -> None:
    """Scores that agree to one decimal tie; the reading with fewer departures is first."""
    printed = {name: FIGURES[name].value for name in NAMES}
    near = {name: value + 3e-3 for name, value in printed.items()}
    off = {name: value + 0.1 for name, value in printed.items()}
    given = {3: printed, 2: near, 1: off}
    deviations = dict.fromkeys(NAMES, 0.02)
    assert list(rank(given, deviations, 3, lambda each: (each,)).readings) == [2, 3, 1]
    assert list(rank(given, deviations, 3, lambda each: (-each,)).readings) == [3, 2, 1]


def test_departures_count_what_the_text_does_not_say() -> None:
    plainest = min(READINGS, key=lambda reading: reading.departures)
    assert plainest == ProtocolReading("open", "exact", 1.0, 0.0, 0)
    assert plainest.departures == (0, 0)
    for change in ({"lattice": "closed"}, {"solver": "averaged"}, {"relaxation": 0.5}):
        assert replace(plainest, **change).departures == (1, 0)
    assert replace(plainest, tolerance=0.01, apart=3).departures == (2, 3)


def test_a_group_can_decide() -> None:
    """One reading fits medium and one large: without a group, the other's reading is first."""
    printed = {name: FIGURES[name].value for name in NAMES}
    values = {
        maze: {n: v if maze in n else v - 0.2 for n, v in printed.items()}
        for maze in ("medium", "large")
    }
    found = rank(values, dict.fromkeys(NAMES, 0.02), "large", plainly)
    first = {group: found.without(group) for group in found.groups}
    assert first == {"medium": "large", "large": "medium"}


def test_only_independent_figures_that_all_readings_have_count() -> None:
    some = dict.fromkeys((*NAMES, "main/harmonic/success", "setup/cells/value"), 0.5)
    few = dict.fromkeys(NAMES[:3], 0.5)
    found = rank({"a": some, "b": few}, dict.fromkeys(some, 0.02), "a", plainly)
    assert sorted(found.names) == sorted(NAMES[:3])
    assert found.headline["a"].keys() == {"main/harmonic/success"}  # shown, though not counted


def test_deviations_are_those_of_all_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean over readings of the squares, each too small by (n − 1)/n."""
    some = (ADOPTED, replace(ADOPTED, apart=3))
    place = "wayfield_study.experiments.readings"
    monkeypatch.setattr(f"{place}.READINGS", some)

    def all_reach(tables: dict[str, Records], number: int) -> dict[str, Records]:
        return {
            name: Records.of(r | {"reached": 512} for r in rows) for name, rows in tables.items()
        }

    monkeypatch.setattr(f"{place}._resampled", all_reach)
    rows = [
        row | {"lattice": lattice, "reached": 384 if row["apart"] == PAPER_APART else 256}
        for row in whole(DESIGN_SEEDS, dict.fromkeys(DESIGN_SEEDS, 0.5), design_rows())
        if row["apart"] in (PAPER_APART, 3) and row["solver"] in ("any", "exact")
        for lattice in LEVELS["lattice"]
    ]
    values, deviations = under_readings(PAPER.experiments, as_records({"design": rows}))
    name = "grid-large/r8/lf0.05/harmonic"
    assert [values[reading][name] for reading in some] == [0.75, 0.5]
    assert deviations[name] == pytest.approx(np.sqrt((0.25**2 + 0.5**2) / 2 * 5 / 4))


# ---------------------------------------------------------------- solvers


# ---------------------------------------------------------------- searches


def test_other_searches_are_evidence() -> None:
    rows = [
        {"graph": "lattice-4x4", "seed": seed, "candidates": 588, "swept": count, "exact": 0}
        for seed, count in enumerate((4, 8))
    ]
    found = evidence(PAPER.experiments, as_records({"other_searches": rows}))
    expected = found.expected["search/witnesses/value"]
    assert (expected.mean, expected.sd, expected.draws) == (6.0, pytest.approx(np.sqrt(8)), 2)


def test_a_search_is_settled_by_its_cell() -> None:
    cell = witnesses.GraphCell("lattice-4x4", 3, candidates=30)
    (row,) = witnesses.run_search(cell)
    assert witnesses.run_search(cell) == [row]
    assert 0 <= row["exact"] <= 30


def test_own_seeds_are_resampled_within_configurations() -> None:
    """Success of 0.5 or 0.75 by seed: the deviation of a mean of 5 seeds in 24 configurations."""
    shares = {seed: 0.5 if seed % 2 else 0.75 for seed in SEEDS}
    rows = whole(SEEDS, shares, adopted_rows())
    tables = {name: list(some) for name, some in as_tables(Records.of(rows)).items()}
    found = evidence(PAPER.experiments, as_records(tables)).expected
    one = found["grid-medium/r4/lf0.02/harmonic"]
    spread = np.std([0.75, 0.5, 0.75, 0.5, 0.75], ddof=1)
    assert (one.draws, one.studies) == (5, 1.0)
    assert one.mean == pytest.approx(0.65)
    assert one.sd == pytest.approx(spread / np.sqrt(5), rel=0.35)
    assert found["main/harmonic/success"].sd == pytest.approx(spread / np.sqrt(120), rel=0.35)
    # what no seed changes has no deviation
    assert found["setup/cells/value"].sd == 0.0
