"""Results in files: written whole or not at all, and never over a file that is not ours."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield.graphs.tables import Outbox, check_outputs, write_table
from wayfield.graphs.tables.write import MANIFEST
from wayfield.numerics.proof_file import check_path

names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8
).map(lambda text: unicodedata.normalize("NFC", text).strip())


def put(folder: Path, text: str, name: str = "a.txt", force: bool = False) -> Outbox:
    with Outbox(folder, force) as outbox:
        outbox.path(name).write_text(text, encoding="utf-8")
    return outbox


def contents(folder: Path) -> dict[str, str]:
    """The files of a folder but the list of what is ours."""
    files = (file for file in folder.iterdir() if file.name != MANIFEST)
    return {file.name: file.read_text(encoding="utf-8") for file in files}


# ------------------------------------------------------------------ all or nothing


def test_an_outbox_replaces_its_old_files_at_the_end(tmp_path: Path) -> None:
    put(tmp_path, "old")
    with Outbox(tmp_path) as outbox:
        outbox.path("a.txt").write_text("new", encoding="utf-8")
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "old"
    assert contents(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_outbox_leaves_nothing_after_an_error(
    error: type[BaseException], tmp_path: Path
) -> None:
    def fill() -> None:
        with Outbox(tmp_path / "new" / "folder") as outbox:
            outbox.path("a.txt").write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(error):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_an_outbox_keeps_what_it_did_not_make(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")

    def fill() -> None:
        with Outbox(tmp_path) as outbox:
            outbox.path("a.txt").write_text("half", encoding="utf-8")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fill()
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_an_outbox_removes_what_is_unwanted_at_the_end_only(tmp_path: Path) -> None:
    put(tmp_path, "old", "old.txt")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")

    def fill(error: type[BaseException] | None) -> Outbox:
        with Outbox(tmp_path) as outbox:
            outbox.path("new.txt").write_text("new", encoding="utf-8")
            for name in ("old.txt", "mine.txt", "never-there.txt", "new.txt"):
                outbox.discard(name)
            if error is not None:
                raise error
        return outbox

    with pytest.raises(KeyboardInterrupt):
        fill(KeyboardInterrupt)
    assert contents(tmp_path) == {"old.txt": "old", "mine.txt": "mine"}
    assert fill(None).removed == [tmp_path / "old.txt"]
    assert contents(tmp_path) == {"new.txt": "new", "mine.txt": "mine"}


def test_files_in_folders_of_the_folder(tmp_path: Path) -> None:
    for text in ("old", "new"):
        put(tmp_path / "out", text, "tables/a.txt")
        assert contents(tmp_path / "out" / "tables") == {"a.txt": text}
    (tmp_path / "out" / "tables" / "b.txt").write_text("theirs", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"b.txt was not written by wayfield"):
        put(tmp_path / "out", "ours", "tables/b.txt")

    def fill() -> None:
        with Outbox(tmp_path / "other") as outbox:
            outbox.path("in/a/folder.txt").write_text("half", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill()
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


# ------------------------------------------------------------------ whose file is it?


def test_files_of_others_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("theirs", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"a.txt was not written by wayfield.* force=True"):
        put(tmp_path, "ours")
    assert contents(tmp_path) == {"a.txt": "theirs"}
    with pytest.raises(wf.InputError, match="was not written by wayfield"):
        check_outputs(tmp_path, ["b.txt", "a.txt"])
    put(tmp_path, "ours", force=True)
    assert contents(tmp_path) == {"a.txt": "ours"}
    put(tmp_path, "ours again")


def test_a_link_to_nothing_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(wf.InputError, match=r"a.txt was not written by wayfield"):
        put(tmp_path, "ours")
    assert (tmp_path / "a.txt").is_symlink()
    put(tmp_path, "ours", force=True)
    assert contents(tmp_path) == {"a.txt": "ours"}
    (tmp_path / "a.proof").symlink_to(tmp_path / "gone")
    with pytest.raises(wf.InputError, match=r"a.proof is not a file"):
        check_path(tmp_path / "a.proof")


FILL = """
import sys, time
from pathlib import Path
from wayfield import cli
from wayfield.graphs.tables import Outbox

folder, sys.argv = Path(sys.argv[1]), ["wayfield", "plan"]

def write(**_):
    with Outbox(folder) as outbox:
        outbox.path("a.txt").write_text("half", encoding="utf-8")
        print("written", flush=True)
        time.sleep(60)

cli.app = write
cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_runs_that_are_ended_leave_nothing_or_the_next_run_cleans_up(tmp_path: Path) -> None:
    def end(by: int) -> list[str]:
        code = [sys.executable, "-c", FILL, str(tmp_path)]
        with subprocess.Popen(code, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "written\n"
            mine = [file.name for file in tmp_path.iterdir()]
            with Outbox(tmp_path):  # beside it: what another process is writing stays
                assert [file.name for file in tmp_path.iterdir()] == mine
            process.send_signal(by)
            assert process.wait(30) == (143 if by == signal.SIGTERM else -by)
        return sorted(contents(tmp_path))

    assert end(signal.SIGTERM) == []
    (left,) = end(signal.SIGKILL)
    assert left.startswith(".wayfield-")
    put(tmp_path, "whole")
    assert contents(tmp_path) == {"a.txt": "whole"}


def test_files_of_ours_that_someone_has_changed_are_not_replaced(tmp_path: Path) -> None:
    put(tmp_path, "ours")
    (tmp_path / "a.txt").write_text("ours, with remarks", encoding="utf-8")
    with pytest.raises(wf.InputError, match="has changed since it was written by wayfield"):
        put(tmp_path, "new")
    assert contents(tmp_path) == {"a.txt": "ours, with remarks"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"files": 3}', '{"files": {"a.txt": 7}}']
)
def test_without_a_list_of_ours_nothing_is(text: str, tmp_path: Path) -> None:
    put(tmp_path, "ours")
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(wf.InputError, match="written by wayfield, and stays as it is"):
        put(tmp_path, "new")


def test_lists_of_several_runs_are_joined(tmp_path: Path) -> None:
    put(tmp_path, "one", "a.txt")
    put(tmp_path, "two", "b.txt")
    put(tmp_path, "three", "a.txt")
    put(tmp_path, "four", "b.txt")
    assert contents(tmp_path) == {"a.txt": "three", "b.txt": "four"}
    assert set(json.loads((tmp_path / MANIFEST).read_text("utf-8"))["files"]) == {"a.txt", "b.txt"}


@pytest.mark.parametrize("after", [0, 1])
def test_a_run_killed_among_its_files_leaves_them_ours(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt"):
        put(tmp_path, "old", name)
    moved = 0
    replace = Path.replace

    def killed(file: Path, target: Path) -> Path:
        nonlocal moved
        if target.name != MANIFEST:
            if moved == after:
                raise KeyboardInterrupt
            moved += 1
        return replace(file, target)

    def fill() -> None:
        with Outbox(tmp_path) as outbox:
            for name in ("a.txt", "b.txt"):
                outbox.path(name).write_text("new", encoding="utf-8")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            fill()
    assert sorted(contents(tmp_path).values()) == sorted(["old"] * (2 - after) + ["new"] * after)
    fill()
    assert contents(tmp_path) == {"a.txt": "new", "b.txt": "new"}


def test_a_file_that_comes_while_we_write_is_spared(tmp_path: Path) -> None:
    def fill() -> None:
        with Outbox(tmp_path) as outbox:
            outbox.path("a.txt").write_text("ours", encoding="utf-8")
            (tmp_path / "a.txt").write_text("theirs", encoding="utf-8")

    with pytest.raises(wf.InputError, match="was not written by wayfield"):
        fill()
    assert contents(tmp_path) == {"a.txt": "theirs"}


def test_folders_that_cannot_take_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "there").mkdir()
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(wf.InputError, match="file is a file, not a folder to write into"):
            check_outputs(folder, ["a.txt"])
    with pytest.raises(wf.InputError, match="there: it is a folder"):
        check_outputs(tmp_path, ["there"], force=True)
    check_outputs(tmp_path / "new" / "folder", ["a.txt"])
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="all is allowed here")
def test_a_folder_one_may_not_write_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(wf.InputError, match=r"cannot write into .*: no permission"):
            check_outputs(tmp_path / "new", ["a.txt"])
    finally:
        tmp_path.chmod(0o700)


# ------------------------------------------------------------------ tables


@given(st.lists(names.filter(bool), min_size=1, max_size=8, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_written_names_are_read_by_anyone(tmp_path: Path, given_names: list[str]) -> None:
    file = tmp_path / "values.csv"
    write_table({"name": given_names, "value": [None] * len(given_names)}, file)
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    assert rows[0] == ["name", "value"]
    formula = tuple("=+-@＝＋－＠")
    for (written, value), name in zip(rows[1:], given_names, strict=True):
        assert value == ""
        assert not written.startswith(formula)
        bare = written.lstrip("'")
        assert name == (written[1:] if bare != written and bare.startswith(formula) else written)


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-x", "@SUM(A1)", "'=1", "\t=1"])
def test_formulas_are_quoted_in_csv_and_raw_in_parquet(name: str, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    write_table({"name": [name, "Bern"]}, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as text:
        assert list(csv.reader(text)) == [["name"], ["'" + name], ["Bern"]]
    write_table({"name": [name, "Bern"]}, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet")["name"].to_pylist() == [name, "Bern"]


def test_columns_of_every_kind(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {
        "name": ["a", None],
        "value": np.ma.masked_invalid([0.1, np.inf]),
        "steps": np.ma.masked_array([3, 4], [False, True]),
        "labelled": np.array([True, False]),
    }
    write_table(columns, tmp_path / "t.csv")
    written = '"name","value","steps","labelled"\n"a",0.1,3,true\n,,,false\n'
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == written
    write_table(columns, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == {
        "name": ["a", None],
        "value": [0.1, None],
        "steps": [3, None],
        "labelled": [True, False],
    }


def test_tables_of_many_rows_are_written_in_batches(tmp_path: Path) -> None:
    write_table({"i": np.arange(70_000)}, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ['"i"', *map(str, range(70_000))]
