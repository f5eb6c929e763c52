"""The store: what is read back, what is damaged, and what is stale."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from study_work import MARKER, figures, files, other_figures, slow_figures, some_tasks, toy

import wayfield as wf
from wayfield_study.engine import (
    Condition,
    Experiment,
    Row,
    Store,
    Task,
    freshness,
    look_up,
    run,
    store,
    what_is_there,
)
from wayfield_study.engine.freshness import bare, source, stamp, what_changed
from wayfield_study.engine.store import Entry
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import MazeCell
from wayfield_study.experiments.mazes import own_maze

TASK = Task(toy(), MazeCell("umaze", 2, 0.1, 54, goals=2))
ROWS = as_table(TASK.cell, figures(TASK.cell))
MAZE = "####\n#..#\n####"
BARE = cache(bare)
"""Of hundreds of files a test changes one: the others need not be parsed again."""


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one task in it."""
    kept = Store(tmp_path / "new" / "folder")
    kept.write(TASK, ROWS)
    return kept


def test_reads_back_what_was_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "new")
    assert store.look(TASK).condition is Condition.MISSING
    store.write_failure(TASK, "Traceback: …")
    assert store.look(TASK).condition is Condition.FAILED
    store.write(TASK, ROWS)
    assert not store.failure_path(TASK).exists()
    assert store.look(TASK) == Entry(Condition.DONE, ROWS)
    (name,) = files(store)
    about = r"toy/umaze-refinement2-label_fraction0\.1-seed54-goals2-label_count0"
    assert re.fullmatch(about + r"-[0-9a-f]{12}\.parquet", name)
    assert [path.name for path in (tmp_path / "new" / "toy").iterdir()] == [name[4:]]
    query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'wayfield'"
    ((value,),) = duckdb.execute(query, [str(store.path(TASK))]).fetchall()
    header = json.loads(value)
    assert (header["experiment"], header["settings"]) == ("toy", TASK.cell.columns)
    assert header["versions"].keys() == {"python", "wayfield", "numpy", "scipy", "numba"}
    assert header["versions"]["wayfield"] == wf.__version__.partition(".dev")[0]
    assert header["source"].keys() >= {"kernels", "fields", "graphs", "experiments", "paper"}


kinds = (st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.booleans())
values = st.one_of(*kinds, *map(st.lists, kinds))


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1).filter(str.isidentifier), values), st.integers(1, 3))
def test_any_rows_read_back(tmp_path_factory: pytest.TempPathFactory, row: Row, count: int) -> None:
    try:
        rows = as_table(TASK.cell, [row] * count)
        Store(tmp_path_factory.getbasetemp()).write(TASK, rows)
    except (wf.InputError, UnicodeEncodeError):  # a setting's name, half a surrogate
        return
    assert Store(tmp_path_factory.getbasetemp()).look(TASK).rows == rows


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
    odd = Store(tmp_path).path(Task(toy(), MazeCell("../my maze\n", 2, 0.1, 54)))
    assert odd.parent == tmp_path / "toy"
    assert odd.name.startswith(".._my_maze_-refinement2")


def test_duckdb_reads_all_files_of_an_experiment(tmp_path: Path) -> None:
    """Also lists, where those of one cell are all empty, and what is not a number."""
    store = Store(tmp_path)
    paths = {128: [3, 1, 0], 256: [], 512: [2]}
    for task in some_tasks(*paths):
        row = {"path": paths[task.cell.columns["seed"]], "tau": float("nan")}
        store.write(task, as_table(task.cell, [row]))
    rows = f"read_parquet('{tmp_path}/toy/*.parquet', union_by_name = true)"
    query = f"SELECT seed, path, list_sum(path), isnan(tau) FROM {rows} ORDER BY seed"
    assert duckdb.sql(query).fetchall() == [
        (128, [3, 1, 0], 4, True), (256, [], None, True), (512, [2], 2, True)
    ]  # fmt: skip


# ------------------------------------------------------------------- damage


def test_whatever_is_not_what_was_written_is_damaged(kept: Store) -> None:
    """A file cut short anywhere, a flipped bit anywhere, and other content under the name."""
    path, rng = kept.path(TASK), random.Random(0)
    whole = path.read_bytes()
    changed = [whole[:length] for length in range(0, len(whole), 7)]
    for place in range(rng.randrange(5), len(whole), 5):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        changed.append(bytes(flipped))
    for content in (*changed, b"PAR1", b"\xff\x00\xfe", b"seal:" + b"0" * 64):
        path.write_bytes(content)
        entry = kept.look(TASK)
        assert (entry.condition, entry.rows) == (Condition.DAMAGED, [])
        assert str(path) in entry.note
    path.write_bytes(whole)
    duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{path}.new' (FORMAT parquet)")
    other = some_tasks(55)[0]
    path.replace(kept.path(other))
    assert kept.look(other).note.endswith("does not hold what its name says")
    Path(f"{path}.new").replace(path)
    assert kept.look(TASK).condition is Condition.DAMAGED


def test_nothing_is_left_of_what_was_half_written(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError("the disk is full")

    leftover = kept.path(TASK).parent / ".abc.tmp"
    leftover.write_text("half a fi")
    with kept.opened():
        assert not leftover.exists()
        with pytest.raises(wf.errors.WayfieldError, match="another run is writing to"):
            kept.opened().__enter__()
    before = files(kept)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="full"):
        kept.write(TASK, ROWS[:1])
    assert files(kept) == before
    assert len(list(kept.path(TASK).parent.iterdir())) == 1


# ------------------------------------------------------------------- what makes a result stale


def now_have(monkeypatch: pytest.MonkeyPatch, what: str, **changed: str) -> None:
    """From now on some versions, or some rooms of the source, are others."""
    now = getattr(freshness, what)() | changed
    monkeypatch.setattr(freshness, what, lambda: now)


NOW = stamp(1, source)


@pytest.mark.parametrize(
    ("what", "changed", "version", "told"),
    [
        ("source", {"kernels": "another"}, 1, "kernels changed since"),
        ("source", {"newroom": "new", "graphs": "x"}, 1, "graphs, newroom changed since"),
        ("versions", {"python": "99.0"}, 1, ""),
        *(
            ("versions", {name: "99.0"}, 1, f"{name} {NOW['versions'][name]}, now 99.0")
            for name in ("wayfield", "numpy", "scipy", "numba")
        ),
        ("source", {"plans": "x"}, 3, "version 1 of the experiment, now 3; plans changed since"),
    ],
)
def test_what_makes_a_result_stale(
    kept: Store, monkeypatch: pytest.MonkeyPatch,
    what: str, changed: dict[str, str], version: int, told: str,
) -> None:  # fmt: skip
    now_have(monkeypatch, what, **changed)
    entry = kept.look(Task(toy(version=version), TASK.cell))
    assert entry.condition is (Condition.STALE if told else Condition.DONE)
    assert (entry.changed, entry.rows) == (told, ROWS)  # to be used on request alone
    assert entry.note == (f"{kept.path(TASK)} is stale: {told}" if told else "")


def test_a_room_that_is_gone_and_an_unknown_source() -> None:
    gone = NOW | {"source": NOW["source"] | {"attic": "x"}}
    assert what_changed(gone, NOW) == "attic changed since"
    assert what_changed(NOW | {"source": {}}, NOW) == "of an unknown source"
    assert what_changed({"version": 1, "versions": NOW["versions"]}, NOW) == "of an unknown source"


def test_another_format_cannot_be_accepted(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    entry = kept.look(TASK)
    assert (entry.condition, entry.rows) == (Condition.STALE, [])  # cannot be read any more
    assert entry.changed == f"written in format {store.FORMAT - 1}, now {store.FORMAT}"
    found = what_is_there(look_up([TASK], kept), accept_stale=True)
    assert (found.tables, found.accepted, found.stale) == ({}, {}, 1)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of the library and the study, which are now digested."""
    copies = tuple(tmp_path / folder.name for folder in freshness.FOLDERS)
    for folder, copy in zip(freshness.FOLDERS, copies, strict=True):
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(freshness, "FOLDERS", copies)
    monkeypatch.setattr(freshness, "bare", BARE)
    return tmp_path


def test_code_has_a_say_where_it_computes_and_remarks_have_none(package: Path) -> None:
    def changed_by(file: str, edit: Callable[[str], str]) -> set[str]:
        """Rooms whose digest an edit of a file changes."""
        path, before = package / file, source.__wrapped__()
        text = path.read_text("utf-8") if path.exists() else ""
        path.write_text(edit(text), "utf-8")
        assert edit(text) != text
        after = source.__wrapped__()
        path.write_text(text, "utf-8")
        return {room for room in before | after if before.get(room) != after.get(room)}

    assert source.__wrapped__() == source()
    for file, rooms in {
        "wayfield/numerics/heap.py": {"numerics"},
        "wayfield/numerics/workers.py": set(),
        "wayfield/graphs/maps.txt": {"graphs"},
        "wayfield/graphs/tables/sheet.py": set(),
        "wayfield_study/kernels/energy.py": {"kernels"},
        "wayfield_study/experiments/mazes.py": {"experiments"},
        "wayfield_study/experiments/rollout.py": set(),  # has a version of its own
        "wayfield_study/paper/grid.py": {"paper"},  # settings beside the paper's figures
        "wayfield_study/paper/rules.py": set(),
        "wayfield_study/engine/runner.py": set(),
        "wayfield_study/cli.py": set(),
        "wayfield/numerics/new.py": {"numerics"},
    }.items():
        assert changed_by(file, lambda text: f"{text}\nSOMETHING = 1\n") == rooms, file
    for edit in (
        lambda text: text.replace("\n\n\n", "\n\n\n# a remark\n\n", 1),
        lambda text: text.replace('"""', '"""Otherwise said: ', 1),
        lambda text: text.replace('    """', '    """Otherwise said: ', 1),
        lambda text: f'{text}\n"""A word on what stands above."""\n',
    ):
        assert changed_by("wayfield_study/kernels/midrange.py", edit) == set()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = 1  # one\n", "x = 1\n", True),
        ('def f():\n    """Say.\n\n    More."""\n    return 1\n', "def f():\n    return 1", True),
        ("class A:\n    'Say.'\n\n    x = 1\n", "class A:\n    x = 1\n", True),
        ('LIMIT = 3\n"""Of what."""  # and why\n', "LIMIT = 3\n", True),
        ("x = f('''a\n# b\n''')  # c\n", "x = f('''a\n# b\n''')", True),
        ("x = '# one'\n", "x = '# two'\n", False),
        ('"" ; X = 5\n', '"" ; X = 6\n', False),
        ('X = 5 ; ""\n', 'X = 6 ; ""\n', False),
        ("f('''a''')", "f('''b''')", False),
        ("if x:\n    y\nz\n", "if x:\n    y\n    z\n", False),
    ],
)  # fmt: skip
def test_bare_code(one: str, other: str, same: bool) -> None:
    assert (bare(one) == bare(other)) == same


# ------------------------------------------------------------------- what becomes of it


def test_stale_results_are_run_again_or_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, kept = tmp_path / "begun", Store(tmp_path / "results")
    monkeypatch.setenv(MARKER, str(begun))
    tasks = some_tasks(*range(8), work=slow_figures)
    run(tasks[1:], kept, 0)
    begun.unlink()
    before = files(kept)
    now_have(monkeypatch, "source", kernels="another")

    out = StringIO()
    outcome = run(tasks, kept, 0, console=Console(file=out), accept_stale=True)
    assert "7 stale results are used as they are" in out.getvalue()
    assert "running it again" not in out.getvalue()
    assert (outcome.reused, outcome.stale, list(outcome.tables)) == (7, 0, tasks)
    assert outcome.accepted == dict.fromkeys(tasks[1:], "kernels changed since")
    assert begun.read_text().split() == ["0"]
    assert before.items() <= files(kept).items()  # they stay what they are

    outcome = run(tasks, kept, 0, console=Console(file=(again := StringIO())))
    told = f"{kept.path(tasks[1])} is stale: kernels changed since: running it again"
    assert told in again.getvalue()
    assert again.getvalue().count("running it again") == 5
    assert "… and 2 more that are stale or damaged" in again.getvalue()
    assert (outcome.reused, outcome.stale, outcome.accepted) == (1, 7, {})
    assert {entry.condition for entry in look_up(tasks, kept).values()} == {Condition.DONE}
    assert len(files(kept)) == 8  # nothing old left for queries to find


# ------------------------------------------------------------------- rows


def test_settings_come_first_and_values_are_plain() -> None:
    paths = [np.arange(3), (4, 5), np.zeros(0, dtype=np.int64)]
    rows = [{"n": np.int32(3), "x": np.float32(0.5), "ok": np.True_, "path": p} for p in paths]
    table = as_table(TASK.cell, rows)
    assert list(table[0]) == [*TASK.cell.columns, "n", "x", "ok", "path"]
    assert [type(value) for value in table[0].values()][-4:] == [int, float, bool, list]
    assert [row["path"] for row in table] == [[0, 1, 2], [4, 5], []]
    assert {type(number) for row in table for number in row["path"]} == {int}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((row for row in [{"x": 1}]), "must return a list of rows, got generator"),
        ([], "at least one row"),
        ([{"a": 1}, {"b": 1}], "row 1 and row 0 differ in the columns a, b"),
        ([{"a": 1}, {"a": 1.5}], "row 1: a is float, in row 0 it is int"),
        ([{"a": None}], "a must be a number, a string or a flag, got None"),
        ([{"a": {"b": 1}}], "a must be a number, a string or a flag"),
        ([{"a": [1, 2.5]}], "a must be a list of values of one type, got [1, 2.5]"),
        ([{"a": [[1]]}], "a must be a list of values of one type, got [[1]]"),
        ([{"a": [1]}, {"a": [0.5]}], "row 1: a is list of float, in row 0 it is list of int"),
        ([{"a": []}, {"a": [1]}, {"a": ["b"]}], "row 2: a is list of str, in row 1 it is list of"),
        ([{"a": []}, {"a": 1}], "row 1: a is int, in row 0 it is empty list"),
        ([{"seed": 3}], "row 0: column 'seed' is a setting of the cell"),
        ([{"a": 2**70}], "must fit into 64 bits"),
        ([{"a": -(2**63) - 1}], "must fit into 64 bits"),
        ([{"a": "\udcff"}], "must be valid text"),
    ],
)
def test_rows_that_make_no_table(rows: list[Row], message: str) -> None:
    with pytest.raises(wf.InputError, match=re.escape(message)):
        as_table(TASK.cell, rows)
