from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import wayfield as wf
from study_work import (
    BAD_SEED,
    be_interrupted,
    die_on_bad_seed,
    die_once,
    fail_on_bad_seed,
    figures,
)
from wayfield.study import Cell, Record, Store, grid, run, run_cell, select_cells
from wayfield.study.cells import draw
from wayfield.study.progress import Display
from wayfield.study.store import Damaged
from wayfield.study.tables import Results

SMALL = Cell("umaze", 3, 0.1, 54, goals=4)


def without_times(record: Record) -> Record:
    return {name: value for name, value in record.items() if "seconds" not in name}


def some_cells(*seeds: int) -> list[Cell]:
    return grid(["umaze"], [2], [0.1], seeds, goals=2)


# ------------------------------------------------------------------- cells


def test_the_paper_has_120_cells_of_24_configurations() -> None:
    cells = select_cells("all")
    assert len(set(cells)) == len({cell.key for cell in cells}) == 120
    assert len({cell.configuration for cell in cells}) == 24
    assert len({cell.configuration for cell in cells[:24]}) == 24  # seed by seed


def test_quick_cells_are_among_the_papers() -> None:
    quick = select_cells("quick")
    assert len(quick) == 8
    assert set(quick) <= set(select_cells("all"))


@pytest.mark.parametrize("goals", [0, -1, 513])
def test_number_of_goals(goals: int) -> None:
    with pytest.raises(wf.InputError, match=f"from 1 to 512, not {goals}"):
        Cell("medium", 4, 0.02, 54, goals)


def test_goals_and_starts_share_512_pairs() -> None:
    assert [Cell("medium", 4, 0.02, 54, goals).starts for goals in (1, 16, 20, 512)] == [
        512, 32, 25, 1
    ]  # fmt: skip


def test_a_draw_depends_on_its_cell_alone() -> None:
    first = draw(SMALL)
    draw(Cell("umaze", 3, 0.1, 55, goals=4))
    again = draw(SMALL)
    np.testing.assert_array_equal(first.goals, again.goals)
    np.testing.assert_array_equal(first.starts, again.starts)
    assert first.label_seed == again.label_seed


def test_every_setting_changes_the_draw() -> None:
    changed = [
        SMALL,
        Cell("umaze-eval", 3, 0.1, 54, 4),
        Cell("umaze", 4, 0.1, 54, 4),
        Cell("umaze", 3, 0.2, 54, 4),
        Cell("umaze", 3, 0.1, 55, 4),
    ]
    assert len({draw(cell).label_seed for cell in changed}) == len(changed)


def test_goals_differ_and_starts_are_not_goals() -> None:
    drawn = draw(Cell("medium", 4, 0.05, 57))
    assert np.unique(drawn.goals).size == 16
    assert drawn.starts.shape == (16, 32)
    assert (drawn.starts != drawn.goals[:, None]).all()


def test_more_goals_than_vertices() -> None:
    drawn = draw(Cell("umaze", 1, 0.3, 54, goals=512))
    assert drawn.starts.shape == (512, 1)
    assert set(drawn.starts.ravel()) == set(range(7))


def test_labels_are_shared_by_all_goals() -> None:
    drawn = draw(Cell("medium", 4, 0.05, 54))
    count = round(0.05 * drawn.graph.num_vertices)
    common = set.intersection(*(set(labels.vertices) for labels in drawn.labels))
    for goal, labels in zip(drawn.goals, drawn.labels, strict=True):
        assert set(labels.vertices) - {goal} <= common | {goal}
        assert goal in labels.vertices
        assert len(labels) in (count, count + 1)
        truth = wf.cost_to_go(drawn.graph, goal)
        np.testing.assert_array_equal(labels.values, truth[labels.vertices])


# ------------------------------------------------------------------- rollouts


def walk(graph: wf.Graph, values: np.ndarray, goal: int, start: int) -> set[int] | None:
    """The paper's planner by hand: None at the goal, otherwise the limit cycle."""
    path = [start]
    while path[-1] != goal:
        near = graph.neighbours(path[-1])
        step = int(near[np.argmin(values[near])])
        if step in path:
            return set(path[path.index(step) :])
        path.append(step)
    return None


@pytest.mark.parametrize("fraction", [0.02, 0.12])
def test_counts_agree_with_walking_by_hand(fraction: float) -> None:
    cell = Cell("medium", 6, fraction, 56, goals=4)
    drawn, record = draw(cell), run_cell(cell)
    counts = {"reached": 0, "boundary": 0, "interior": 0}
    fields = wf.extend_many(drawn.graph, drawn.labels, wf.Harmonic())
    for goal, starts, labels, field in zip(
        drawn.goals, drawn.starts, drawn.labels, fields, strict=True
    ):
        for start in starts:
            cycle = walk(drawn.graph, field.values, int(goal), int(start))
            touches = cycle is not None and cycle & set(labels.vertices)
            kind = "reached" if cycle is None else "boundary" if touches else "interior"
            counts[kind] += 1
    assert {name: record[f"harmonic.{name}"] for name in counts} == counts
    assert 0 < counts["reached"] < 512


def test_figures_add_up() -> None:
    record = run_cell(SMALL)
    for arm in ("harmonic", "sweeps", "amle", "amle_exit"):
        kinds = [record[f"{arm}.{kind}"] for kind in ("reached", "boundary", "interior")]
        everyone = [record[f"{arm}.{kind}_all"] for kind in ("reached", "boundary", "interior")]
        assert sum(kinds) == record["pairs"] == 512
        assert sum(everyone) == 4 * (record["vertices"] - 1)
    assert record["amle_exit.reached_all"] == 4 * (record["vertices"] - 1)
    assert record["amle.relative_width"] < 1e-12
    assert "sweeps.relative_width" not in record


# ------------------------------------------------------------------- store


def test_store_reads_back_what_it_wrote(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "folder")
    assert store.read(SMALL) is None
    record = run_cell(SMALL)
    store.write(SMALL, record)
    assert store.read(SMALL) == record
    assert [path.name for path in store.directory.iterdir()] == [f"{SMALL.key}.json"]


def test_damaged_files_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(SMALL, figures(SMALL))
    whole = store.path(SMALL).read_text()
    changed = whole.replace('"pairs": 512.0', '"pairs": 511.0')
    assert changed != whole
    for damage in ("", whole[: len(whole) // 2], "[]", "{}", changed, whole.replace("54", "55")):
        store.path(SMALL).write_text(damage)
        with pytest.raises(Damaged, match=SMALL.key):
            store.read(SMALL)


def test_a_file_that_is_not_text_is_damaged(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.path(SMALL).write_bytes(b"\xff\x00\xfe")
    with pytest.raises(Damaged):
        store.read(SMALL)


def test_results_of_another_version_are_stale(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(SMALL, figures(SMALL))
    content = json.loads(store.path(SMALL).read_text())
    store.path(SMALL).write_text(json.dumps(content | {"wayfield": "0.0.1"}))
    assert store.read(SMALL) is None


def test_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.write(SMALL, {"pairs": float("nan")})
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------- runner


def test_one_and_two_workers_agree(tmp_path: Path) -> None:
    cells = [*select_cells("quick", goals=4)[:3], SMALL]
    one = run(cells, Store(tmp_path / "one"), workers=1)
    two = run(cells[::-1], Store(tmp_path / "two"), workers=2)
    assert list(one.records) == cells
    assert list(two.records) == cells[::-1]
    for cell in cells:
        assert without_times(one.records[cell]) == without_times(two.records[cell])


def test_only_what_is_missing_or_damaged_runs_again(tmp_path: Path) -> None:
    cells, store = some_cells(1, 2, 3, 4), Store(tmp_path)
    first = run(cells, store, workers=1, work=figures)
    assert (first.reused, len(first.records)) == (0, 4)
    store.path(cells[1]).unlink()
    store.path(cells[2]).write_text("half a fi")
    ran: list[Cell] = []

    def work(cell: Cell) -> Record:
        ran.append(cell)
        return figures(cell)

    with (tmp_path / "log").open("w+") as log:
        second = run(cells, store, workers=1, console=Console(file=log), work=work)
        log.seek(0)
        assert f"{cells[2].key}.json cannot be read" in log.read()
    assert ran == [cells[1], cells[2]]
    assert (second.reused, second.damaged) == (2, 1)
    assert second.records == first.records


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_cell_is_recorded_and_the_rest_goes_on(tmp_path: Path, workers: int) -> None:
    cells, store = some_cells(1, BAD_SEED, 2, 3), Store(tmp_path)
    bad = cells[1]
    outcome = run(cells, store, workers, work=fail_on_bad_seed)
    assert list(outcome.records) == [cells[0], *cells[2:]]
    assert list(outcome.failed) == [bad]
    assert "RuntimeError: seed 66 is bad" in store.failure_path(bad).read_text()
    again = run(cells, store, 1, work=figures)
    assert again.reused == 3
    assert not again.failed
    assert not store.failure_path(bad).exists()


def test_a_worker_that_dies_costs_its_own_cell_only(tmp_path: Path) -> None:
    cells = some_cells(1, 2, BAD_SEED, 3, 4)
    outcome = run(cells, Store(tmp_path), workers=2, work=die_on_bad_seed)
    assert [cell.seed for cell in outcome.failed] == [BAD_SEED]
    assert "died twice" in outcome.failed[cells[2]]
    assert len(outcome.records) == 4


def test_a_second_chance_suffices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYFIELD_TEST_MARKER", str(tmp_path / "died"))
    outcome = run(some_cells(1, BAD_SEED), Store(tmp_path), workers=2, work=die_once)
    assert not outcome.failed
    assert (tmp_path / "died").exists()


def test_an_interrupt_leaves_what_is_done(tmp_path: Path) -> None:
    cells, store = some_cells(1, 2, BAD_SEED, 3), Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(cells, store, workers=1, work=be_interrupted)
    assert [store.read(cell) is not None for cell in cells] == [True, True, False, False]


def test_workers_use_one_thread_and_the_environment_is_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    run(some_cells(1), Store(tmp_path), workers=2, work=figures)
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_number_of_workers(tmp_path: Path) -> None:
    with pytest.raises(wf.InputError, match="workers must be at least 1, not 0"):
        run([], Store(tmp_path), workers=0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_run_picks_up_where_it_ended(tmp_path: Path, how: signal.Signals) -> None:
    results, cells = tmp_path / "results", select_cells("quick", goals=512)
    command = [sys.executable, "-m", "wayfield.cli", "reproduce", "--cells", "quick"]
    command += ["--goals", "512", "--results", str(results), "--out", str(tmp_path / "report")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(results.glob("*.json")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)  # ends only when the workers have ended too
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    assert "Traceback" not in errors
    done = [cell for cell in cells if Store(results).read(cell) is not None]
    assert 0 < len(done) < len(cells)
    ran: list[Cell] = []

    def work(cell: Cell) -> Record:
        ran.append(cell)
        return figures(cell)

    assert run(cells, Store(results), workers=1, work=work).reused == len(done)
    assert ran == [cell for cell in cells if cell not in done]


# ------------------------------------------------------------------- progress and tables


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        with Display(Console(file=log), total=2) as display:
            display.count(figures(SMALL))
            display.count(None)
        log.seek(0)
        assert "2/2 cells" in (text := log.read())
        assert "harmonic 0.105" in text


def test_live_bar_on_a_terminal(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        console = Console(file=log, force_terminal=True, width=160)
        with Display(console, total=1) as display:
            display.count(figures(SMALL))
        log.seek(0)
        assert "1/1" in log.read()


def test_results_slice_and_average() -> None:
    cells = grid(["medium", "large"], [4], [0.02], [100, 200])
    results = Results({cell: figures(cell) for cell in cells})
    assert results.configurations == [("medium", 4, 0.02), ("large", 4, 0.02)]
    assert results.mean_success("amle") == pytest.approx(150 / 512)
    assert results.where(seed=200).mean_success("amle") == pytest.approx(200 / 512)
    assert results.at(("large", 4, 0.02)).total("pairs") == 1024
    assert results.lift("amle", "harmonic").mean == 0
