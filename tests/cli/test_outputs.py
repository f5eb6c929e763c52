"""Results in files: written whole or not at all, and never over a file that is not ours."""

from __future__ import annotations

import csv
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


def interrupted(folder: Path, error: type[BaseException], *discarded: str) -> None:
    """Write half of a file into a folder, and end with an error."""
    with pytest.raises(error), Outbox(folder) as outbox:  # noqa: PT012
        outbox.path("a.txt").write_text("half", encoding="utf-8")
        for name in discarded:
            outbox.discard(name)
        raise error


def test_old_files_are_replaced_at_the_end(tmp_path: Path) -> None:
    put(tmp_path, "old")
    with Outbox(tmp_path) as outbox:
        outbox.path("a.txt").write_text("new", encoding="utf-8")
        assert contents(tmp_path)["a.txt"] == "old"
    assert contents(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_after_an_error(error: type[BaseException], tmp_path: Path) -> None:
    interrupted(tmp_path / "new" / "folder", error)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    interrupted(tmp_path, error, "mine.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_files_of_ours_are_removed_at_the_end_only(tmp_path: Path) -> None:
    put(tmp_path, "old", "old.txt")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    unwanted = ("old.txt", "mine.txt", "never-there.txt", "a.txt")
    interrupted(tmp_path, KeyboardInterrupt, *unwanted)
    assert contents(tmp_path) == {"old.txt": "old", "mine.txt": "mine"}
    with Outbox(tmp_path) as outbox:
        outbox.path("a.txt").write_text("new", encoding="utf-8")
        for name in unwanted:
            outbox.discard(name)
    assert outbox.removed == [tmp_path / "old.txt"]
    assert contents(tmp_path) == {"a.txt": "new", "mine.txt": "mine"}


def test_files_in_folders_of_the_folder(tmp_path: Path) -> None:
    for text in ("old", "new"):
        put(tmp_path, text, "tables/a.txt")
        assert contents(tmp_path / "tables") == {"a.txt": text}
    (tmp_path / "tables" / "b.txt").write_text("theirs", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"b.txt was not written by wayfield"):
        put(tmp_path, "ours", "tables/b.txt")


# ------------------------------------------------------------------ whose file is it?


@pytest.mark.parametrize("link", [False, True])
def test_files_of_others_are_not_replaced(link: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    if link:
        file.symlink_to(tmp_path / "gone")
    else:
        file.write_text("theirs", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"a.txt was not written by wayfield.* force=True"):
        put(tmp_path, "ours")
    with pytest.raises(wf.InputError, match="was not written by wayfield"):
        check_outputs(tmp_path, ["b.txt", "a.txt"])
    assert file.is_symlink() == link
    put(tmp_path, "ours", force=True)
    assert contents(tmp_path) == {"a.txt": "ours"}
    put(tmp_path, "ours again")
    file.write_text("ours, with remarks", encoding="utf-8")
    with pytest.raises(wf.InputError, match="has changed since it was written by wayfield"):
        put(tmp_path, "new")
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


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"files": 3}', '{"files": {"a.txt": 7}}']
)
def test_without_a_list_of_ours_nothing_is(text: str, tmp_path: Path) -> None:
    put(tmp_path, "ours")
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(wf.InputError, match="written by wayfield, and stays as it is"):
        put(tmp_path, "new")


@pytest.mark.parametrize("after", [0, 1])
def test_a_run_killed_among_its_files_leaves_them_ours(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved, replace = list[Path](), Path.replace
    for name in ("a.txt", "b.txt"):
        put(tmp_path, "old", name)  # lists of several runs are joined

    def killed(file: Path, target: Path) -> Path:
        if target.name != MANIFEST:
            if len(moved) == after:
                raise KeyboardInterrupt
            moved.append(target)
        return replace(file, target)

    def fill() -> None:
        with Outbox(tmp_path) as outbox:
            for name in ("a.txt", "b.txt"):
                outbox.path(name).write_text("new", encoding="utf-8")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            fill()
    assert len(contents(tmp_path)) == 2
    fill()
    assert contents(tmp_path) == {"a.txt": "new", "b.txt": "new"}


def test_a_file_that_comes_while_we_write_is_spared(tmp_path: Path) -> None:
    with pytest.raises(wf.InputError, match="was not written by wayfield"):  # noqa: PT012, SIM117
        with Outbox(tmp_path) as outbox:
            outbox.path("a.txt").write_text("ours", encoding="utf-8")
            (tmp_path / "a.txt").write_text("theirs", encoding="utf-8")
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
