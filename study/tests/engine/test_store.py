from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_work import figures, files, other_figures, some_tasks, toy

import wayfield as wf
from wayfield_study.engine import Condition, Experiment, Row, Store, Task, store
from wayfield_study.engine.store import Entry
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import MazeCell
from wayfield_study.experiments.mazes import own_maze

TASK = Task(toy(), MazeCell("umaze", 2, 0.1, 54, goals=2))
ROWS = as_table(TASK.cell, figures(TASK.cell))
MAZE = "####\n#..#\n####"


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one task in it."""
    kept = Store(tmp_path / "new" / "folder")
    kept.write(TASK, ROWS)
    return kept


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    assert store.look(TASK).condition is Condition.MISSING
    store.write(TASK, ROWS)
    assert store.look(TASK) == Entry(Condition.DONE, ROWS)
    (name,) = files(store)
    assert re.fullmatch(
        r"toy/umaze-refinement2-label_fraction0\.1-seed54-goals2-label_count0-[0-9a-f]{12}\.parquet",
        name,
    )
    assert [path.name for path in (tmp_path / "new" / "toy").iterdir()] == [name[4:]]


scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.booleans()
)
values = st.one_of(
    scalars,
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.floats(allow_nan=False)),
    st.lists(st.text()),
    st.lists(st.booleans()),
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1).filter(str.isidentifier), values), st.integers(1, 3))
def test_any_rows_read_back(tmp_path_factory: pytest.TempPathFactory, row: Row, count: int) -> None:
    try:
        rows = as_table(TASK.cell, [row] * count)
        Store(tmp_path_factory.getbasetemp()).write(TASK, rows)
    except (wf.InputError, UnicodeEncodeError):  # a setting's name, half a surrogate
        return
    assert Store(tmp_path_factory.getbasetemp()).look(TASK).rows == rows


def test_a_figure_that_is_not_a_number_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(TASK, [{"tau": float("nan")}])
    (row,) = store.look(TASK).rows
    assert isinstance(row["tau"], float)
    assert row["tau"] != row["tau"]


def test_every_setting_and_the_experiment_have_their_own_file(tmp_path: Path) -> None:
    cell = TASK.cell
    others = [
        replace(cell, maze="umaze-eval"),
        replace(cell, refinement=3),
        replace(cell, label_fraction=0.1000001),  # the same three digits
        replace(cell, seed=55),
        replace(cell, goals=3),
        replace(cell, maze=own_maze("umaze", MAZE), text=MAZE),
    ]
    another = Experiment("other", "another", 1, other_figures)
    tasks = [TASK, Task(another, cell), *(Task(toy(), other) for other in others)]
    assert len({Store(tmp_path).path(task) for task in tasks}) == len(tasks)


def test_a_name_is_safe_in_a_file_system(tmp_path: Path) -> None:
    task = Task(toy(), MazeCell("../my maze\n", 2, 0.1, 54))
    path = Store(tmp_path).path(task)
    assert path.parent == tmp_path / "toy"
    assert path.name.startswith(".._my_maze_-refinement2")


def test_settings_seeds_and_versions_are_inside(kept: Store) -> None:
    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'wayfield'"
    ((value,),) = duckdb.execute(query, [str(kept.path(TASK))]).fetchall()
    header = json.loads(value)
    assert header["settings"] == {
        "maze": "umaze", "refinement": 2, "label_fraction": 0.1, "seed": 54, "goals": 2,
        "label_count": 0,
    }  # fmt: skip
    assert header["experiment"] == "toy"
    assert header["versions"].keys() == {"python", "wayfield", "numpy", "scipy", "numba"}
    assert header["versions"]["wayfield"] == wf.__version__.partition(".dev")[0]
    assert header["source"].keys() >= {"kernels", "fields", "graphs", "experiments"}


def test_duckdb_reads_all_files_of_an_experiment(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for task in some_tasks(128, 256):
        store.write(task, as_table(task.cell, figures(task.cell)))
    query = f"SELECT seed, reached / pairs FROM '{tmp_path}/toy/*.parquet' WHERE arm = 'harmonic'"
    assert sorted(duckdb.sql(query).fetchall()) == [(128, 0.25), (256, 0.5)]


def test_duckdb_reads_lists(tmp_path: Path) -> None:
    """Also where those of one cell are all empty."""
    store = Store(tmp_path)
    paths = {128: [3, 1, 0], 256: [], 512: [2]}
    for task in some_tasks(*paths):
        store.write(task, as_table(task.cell, [{"path": paths[task.cell.columns["seed"]]}]))
    rows = f"read_parquet('{tmp_path}/toy/*.parquet', union_by_name = true)"
    query = f"SELECT seed, path, len(path), list_sum(path) FROM {rows} ORDER BY seed"
    assert duckdb.sql(query).fetchall() == [
        (128, [3, 1, 0], 3, 4), (256, [], 0, None), (512, [2], 1, 2)
    ]  # fmt: skip


# ------------------------------------------------------------------- damage


def test_a_file_cut_short_anywhere_is_damaged(kept: Store) -> None:
    path = kept.path(TASK)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        entry = kept.look(TASK)
        assert (entry.condition, entry.rows) == (Condition.DAMAGED, [])
        assert str(path) in entry.note


def test_a_flipped_bit_anywhere_is_damage(kept: Store) -> None:
    path, rng = kept.path(TASK), random.Random(0)
    whole = path.read_bytes()
    for place in range(rng.randrange(5), len(whole), 5):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        assert kept.look(TASK).condition is Condition.DAMAGED, place


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\xff\x00\xfe", b"seal:" + b"0" * 64])
def test_something_else_under_the_name_is_damaged(kept: Store, content: bytes) -> None:
    kept.path(TASK).write_bytes(content)
    assert kept.look(TASK).condition is Condition.DAMAGED


def test_another_cells_file_under_the_name_is_damaged(kept: Store) -> None:
    other = some_tasks(55)[0]
    kept.path(TASK).replace(kept.path(other))
    entry = kept.look(other)
    assert entry.condition is Condition.DAMAGED
    assert "does not hold what its name says" in entry.note


def test_a_file_written_by_others_is_damaged(kept: Store) -> None:
    path = str(kept.path(TASK))
    duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{path}.new' (FORMAT parquet)")
    Path(f"{path}.new").replace(path)
    assert kept.look(TASK).condition is Condition.DAMAGED


# ------------------------------------------------------------------- stale


def test_another_version_of_the_experiment_is_stale(kept: Store) -> None:
    newer = Task(toy(version=2), TASK.cell)
    entry = kept.look(newer)
    assert (entry.condition, entry.rows) == (Condition.STALE, ROWS)  # to be used on request alone
    assert entry.changed == "version 1 of the experiment, now 2"
    assert entry.note == f"{kept.path(TASK)} is stale: {entry.changed}"
    kept.write(newer, as_table(TASK.cell, other_figures(TASK.cell)))
    assert kept.look(newer).condition is Condition.DONE
    assert len(files(kept)) == 1  # nothing old left for queries to find


def test_another_format_is_stale(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    entry = kept.look(TASK)
    assert (entry.condition, entry.rows) == (Condition.STALE, [])  # cannot be read any more
    assert entry.changed == f"written in format {store.FORMAT - 1}, now {store.FORMAT}"


# ------------------------------------------------------------------- writing


def test_a_failure_is_kept_until_the_task_succeeds(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write_failure(TASK, "Traceback: …")
    assert store.look(TASK).condition is Condition.FAILED
    assert store.failure_path(TASK).read_text(encoding="utf-8") == "Traceback: …"
    store.write(TASK, ROWS)
    assert store.look(TASK).condition is Condition.DONE
    assert not store.failure_path(TASK).exists()


def test_nothing_is_left_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="full"):
        Store(tmp_path).write(TASK, ROWS)
    assert list((tmp_path / "toy").iterdir()) == []


def test_half_written_files_are_swept_out(kept: Store) -> None:
    leftover = kept.path(TASK).parent / ".abc.tmp"
    leftover.write_text("half a fi")
    with kept.opened():
        assert not leftover.exists()
    assert kept.look(TASK).condition is Condition.DONE


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        Store(tmp_path).opened(),
        pytest.raises(wf.errors.WayfieldError, match="another run is writing to"),
        Store(tmp_path).opened(),
    ):
        pass
    with Store(tmp_path).opened():  # free again
        pass


# ------------------------------------------------------------------- rows


def test_settings_come_first_and_scalars_are_plain() -> None:
    import numpy as np

    (row,) = as_table(TASK.cell, [{"n": np.int32(3), "x": np.float32(0.5), "ok": np.True_}])
    assert list(row)[:3] == ["maze", "refinement", "label_fraction"]
    assert list(row)[3:] == ["seed", "goals", "label_count", "n", "x", "ok"]
    assert [type(value) for value in row.values()][-3:] == [int, float, bool]


def test_lists_are_plain_and_may_differ_in_length() -> None:
    import numpy as np

    given = [{"path": np.arange(3)}, {"path": (4, 5)}, {"path": np.zeros(0, dtype=np.int64)}]
    rows = as_table(TASK.cell, given)
    assert [row["path"] for row in rows] == [[0, 1, 2], [4, 5], []]
    assert {type(number) for row in rows for number in row["path"]} == {int}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([{"a": 1}, {"b": 1}], "row 1 and row 0 differ in the columns a, b"),
        ([{"a": 1}, {"a": 1.5}], "row 1: a is float, in row 0 it is int"),
        ([{"a": None}], "a must be a number, a string or a flag, got None"),
        ([{"a": {"b": 1}}], "a must be a number, a string or a flag"),
        ([{"a": [1, 2.5]}], "a must be a list of values of one type, got [1, 2.5]"),
        ([{"a": [[1]]}], "a must be a list of values of one type, got [[1]]"),
        ([{"a": [None]}], "a must be a number, a string or a flag, got None"),
        ([{"a": [1]}, {"a": [0.5]}], "row 1: a is list of float, in row 0 it is list of int"),
        ([{"a": []}, {"a": [1]}, {"a": ["b"]}], "row 2: a is list of str, in row 1 it is list of"),
        ([{"a": []}, {"a": 1}], "row 1: a is int, in row 0 it is empty list"),
        ([{"a": [1]}, {"a": 1}], "row 1: a is int, in row 0 it is list of int"),
        ([{"seed": 3}], "row 0: column 'seed' is a setting of the cell"),
    ],
)
def test_rows_that_make_no_table(rows: list[Row], message: str) -> None:
    with pytest.raises(wf.InputError, match=re.escape(message)):
        as_table(TASK.cell, rows)
