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

import wayfield as wf
from study_work import figures, files, other_figures, some_tasks
from wayfield.study import Cell, Row, State, Store, Task, store
from wayfield.study.tasks import as_table

TASK = some_tasks(54)[0]
ROWS = as_table(TASK.cell, figures(TASK.cell))


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one task in it."""
    kept = Store(tmp_path / "new" / "folder")
    kept.write(TASK, 1, ROWS)
    return kept


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    assert store.look(TASK, 1).state is State.MISSING
    store.write(TASK, 1, ROWS)
    assert store.look(TASK, 1) == wf.study.store.Entry(State.DONE, ROWS)
    (name,) = files(store)
    assert re.fullmatch(r"toy/umaze-r02-lf0\.100-s54-g2-[0-9a-f]{12}\.parquet", name)
    assert [path.name for path in (tmp_path / "new" / "toy").iterdir()] == [name[4:]]


values = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.booleans()
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1).filter(str.isidentifier), values), st.integers(1, 3))
def test_any_rows_read_back(tmp_path_factory: pytest.TempPathFactory, row: Row, count: int) -> None:
    try:
        rows = as_table(TASK.cell, [row] * count)
        Store(tmp_path_factory.getbasetemp()).write(TASK, 1, rows)
    except (wf.InputError, UnicodeEncodeError):  # a setting's name, half a surrogate
        return
    assert Store(tmp_path_factory.getbasetemp()).look(TASK, 1).rows == rows


def test_a_figure_that_is_not_a_number_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write(TASK, 1, [{"tau": float("nan")}])
    (row,) = store.look(TASK, 1).rows
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
        replace(cell, layout="###\n#.#\n###"),
    ]
    tasks = [TASK, Task("other", cell), *(Task("toy", other) for other in others)]
    assert len({Store(tmp_path).path(task) for task in tasks}) == len(tasks)


def test_a_name_is_safe_in_a_file_system(tmp_path: Path) -> None:
    task = Task("toy", Cell("../my maze\n", 2, 0.1, 54))
    path = Store(tmp_path).path(task)
    assert path.parent == tmp_path / "toy"
    assert path.name.startswith(".._my_maze_-r02")


def test_settings_seeds_and_versions_are_inside(kept: Store) -> None:
    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'wayfield'"
    ((value,),) = duckdb.execute(query, [str(kept.path(TASK))]).fetchall()
    header = json.loads(value)
    assert header["settings"] == {
        "maze": "umaze", "refinement": 2, "label_fraction": 0.1, "seed": 54, "goals": 2
    }  # fmt: skip
    assert header["experiment"] == "toy"
    assert header["versions"].keys() == {"python", "wayfield", "numpy", "scipy", "numba"}
    assert header["versions"]["wayfield"] == wf.__version__


def test_duckdb_reads_all_files_of_an_experiment(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for task in some_tasks(128, 256):
        store.write(task, 1, as_table(task.cell, figures(task.cell)))
    query = f"SELECT seed, reached / pairs FROM '{tmp_path}/toy/*.parquet' WHERE arm = 'harmonic'"
    assert sorted(duckdb.sql(query).fetchall()) == [(128, 0.25), (256, 0.5)]


# ------------------------------------------------------------------- damage


def test_a_file_cut_short_anywhere_is_damaged(kept: Store) -> None:
    path = kept.path(TASK)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        entry = kept.look(TASK, 1)
        assert (entry.state, entry.rows) == (State.DAMAGED, [])
        assert str(path) in entry.note


def test_a_flipped_bit_anywhere_is_damage(kept: Store) -> None:
    path, rng = kept.path(TASK), random.Random(0)
    whole = path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        assert kept.look(TASK, 1).state is State.DAMAGED, place


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\xff\x00\xfe", b"seal:" + b"0" * 64])
def test_something_else_under_the_name_is_damaged(kept: Store, content: bytes) -> None:
    kept.path(TASK).write_bytes(content)
    assert kept.look(TASK, 1).state is State.DAMAGED


def test_another_cells_file_under_the_name_is_damaged(kept: Store) -> None:
    other = some_tasks(55)[0]
    kept.path(TASK).replace(kept.path(other))
    entry = kept.look(other, 1)
    assert entry.state is State.DAMAGED
    assert "does not hold what its name says" in entry.note


def test_a_file_written_by_others_is_damaged(kept: Store) -> None:
    path = str(kept.path(TASK))
    duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{path}.new' (FORMAT parquet)")
    Path(f"{path}.new").replace(path)
    assert kept.look(TASK, 1).state is State.DAMAGED


# ------------------------------------------------------------------- stale


def test_another_version_of_the_experiment_is_stale(kept: Store) -> None:
    entry = kept.look(TASK, 2)
    assert (entry.state, entry.rows) == (State.STALE, [])
    assert entry.note.endswith("is of version 1 of the experiment, now 2")
    kept.write(TASK, 2, as_table(TASK.cell, other_figures(TASK.cell)))
    assert kept.look(TASK, 2).state is State.DONE
    assert len(files(kept)) == 1  # nothing old left for queries to find


def test_another_version_of_wayfield_is_stale(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = store.versions() | {"wayfield": "9.0"}
    monkeypatch.setattr(store, "versions", lambda: newer)
    entry = kept.look(TASK, 1)
    assert entry.state is State.STALE
    assert entry.note.endswith(f"is of wayfield {wf.__version__}, now 9.0")


def test_another_format_is_stale(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    assert kept.look(TASK, 1).state is State.STALE


# ------------------------------------------------------------------- writing


def test_a_failure_is_kept_until_the_task_succeeds(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write_failure(TASK, "Traceback: …")
    assert store.look(TASK, 1).state is State.FAILED
    assert store.failure_path(TASK).read_text(encoding="utf-8") == "Traceback: …"
    store.write(TASK, 1, ROWS)
    assert store.look(TASK, 1).state is State.DONE
    assert not store.failure_path(TASK).exists()


def test_nothing_is_left_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="full"):
        Store(tmp_path).write(TASK, 1, ROWS)
    assert list((tmp_path / "toy").iterdir()) == []


def test_half_written_files_are_swept_out(kept: Store) -> None:
    leftover = kept.path(TASK).parent / ".abc.tmp"
    leftover.write_text("half a fi")
    with kept.opened():
        assert not leftover.exists()
    assert kept.look(TASK, 1).state is State.DONE


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
    assert list(row) == ["maze", "refinement", "label_fraction", "seed", "goals", "n", "x", "ok"]
    assert [type(value) for value in row.values()][-3:] == [int, float, bool]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([{"a": 1}, {"b": 1}], "row 1 and row 0 differ in the columns a, b"),
        ([{"a": 1}, {"a": 1.5}], "row 1: a is float, in row 0 it is int"),
        ([{"a": None}], "a must be a number, a string or a flag, not None"),
        ([{"a": [1]}], "a must be a number, a string or a flag"),
        ([{"seed": 3}], "row 0: column 'seed' is a setting of the cell"),
    ],
)
def test_rows_that_make_no_table(rows: list[Row], message: str) -> None:
    with pytest.raises(wf.InputError, match=re.escape(message)):
        as_table(TASK.cell, rows)
