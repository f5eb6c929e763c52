"""Tables in files: what is read is what was written, and results are written whole or not."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield.files import (
    Names,
    Outbox,
    Style,
    read_edges,
    read_labels,
    read_positions,
    write_table,
)

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8
).map(lambda text: unicodedata.normalize("NFC", text).strip())
edges = st.lists(
    st.tuples(names.filter(bool), names.filter(bool), st.floats(1e-6, 1e6)),
    min_size=1,
    max_size=12,
)


def as_csv(rows: list[tuple[str, ...]], mark: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=mark, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


def listed(path: Path, style: Style | None = None) -> list[tuple[str, str, float]]:
    """The edges of a file, by name."""
    read = read_edges(path, {"from": "1", "to": "2", "length": "3"}, style)
    assert read.lengths is not None
    ends = zip(read.tails, read.heads, read.lengths, strict=True)
    return [(read.names[x], read.names[y], float(length)) for x, y, length in ends]


# ------------------------------------------------------------------ reading what was written


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edges, st.sampled_from([",", ";", "\t", "|"]))
def test_any_names_come_back_from_text(
    tmp_path: Path, rows: list[tuple[str, str, float]], mark: str
) -> None:
    file = tmp_path / "edges.csv"
    told = [(tail, head, repr(length)) for tail, head, length in rows]
    file.write_text(as_csv(told, mark), encoding="utf-8")
    assert listed(file, Style(delimiter=mark, header=False)) == rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edges)
def test_any_names_come_back_from_parquet(
    tmp_path: Path, rows: list[tuple[str, str, float]]
) -> None:
    file = tmp_path / "edges.parquet"
    columns = zip(("a", "b", "c"), map(list, zip(*rows, strict=True)), strict=True)
    pq.write_table(pa.table(dict(columns)), file)
    assert listed(file) == rows


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_packing_is_seen_whatever_the_name(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_bytes(pack(b"a,b,1\nb,c,2\n"))
    assert listed(file) == [("a", "b", 1.0), ("b", "c", 2.0)]


def test_blocks_are_cut_at_the_ends_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"é{i}", f"é{i + 1}", float(i + 1)) for i in range(200)]
    text = "# long\r\n" + "".join(f"{x},{y},{z}\r\n" for x, y, z in rows)
    file = tmp_path / "edges.csv"
    file.write_text(text, encoding="utf-8", newline="")
    from wayfield.files import _text

    told: list[tuple[int, int]] = []
    for size in (7, 64, 1000):
        monkeypatch.setattr(_text.TextFile.blocks, "__defaults__", (size, None))
        assert listed(file) == rows
    read_edges(file, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (file.stat().st_size, file.stat().st_size)
    assert told == sorted(told)


def test_rows_are_found_again_in_any_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wayfield.files import _text

    file = tmp_path / "edges.csv"
    rows = [f"a{i},a{i + 1},{'x' if i == 150 else i + 1}\n" for i in range(200)]
    file.write_text("from,to,length\n\n# here\n" + "".join(rows), encoding="utf-8")
    monkeypatch.setattr(_text.TextFile.blocks, "__defaults__", (100, None))
    with pytest.raises(wf.InputError, match=r"row 154, column 'length': 'x' is not a number"):
        read_edges(file)


# ------------------------------------------------------------------ guessing


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("source,target,weight", "from = 'source', to = 'target', length = 'weight'"),
        ("weight,target,source", "from = 'source', to = 'target', length = 'weight'"),
        ("FromNodeId,ToNodeId,Dist", "from = 'FromNodeId', to = 'ToNodeId', length = 'Dist'"),
        (
            "start station,end station,min",
            "from = 'start station', to = 'end station'",
        ),
        ("node_1,node_2,travel time", "from = 'node_1', to = 'node_2', length = 'travel time'"),
        ("u,v,w", "from = 'u', to = 'v', length = 'w'"),
        ("stop_a,stop_b,xyz", "from = 'stop_a', to = 'stop_b', length = 'xyz'"),
    ],
)
def test_headings_of_edges(heading: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(heading + "\n7,8,2\n8,9,3\n", encoding="utf-8")
    assert read_edges(file).said.startswith(expected)


def test_a_column_is_no_length_unless_it_is_called_one_or_the_third_of_three(
    tmp_path: Path,
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,lanes,speed\na,b,2,50\nb,c,1,30\n", encoding="utf-8")
    assert read_edges(file).lengths is None
    file.write_text("from,to,kind\na,b,road\nb,c,path\n", encoding="utf-8")
    assert read_edges(file).lengths is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,city,value\n1,b,2\n2,a,0\n", "vertex = 'city', value = 'value'"),
        ("value,city\n2,b\n0,a\n", "vertex = 'city', value = 'value'"),
        ("b 2\na 0\n", "vertex = column 1, value = column 2"),
        ("2 b\n0 a\n", "vertex = column 2, value = column 1"),
        ("stop,hrs\nb,2\na,0\n", "vertex = 'stop', value = 'hrs'"),
    ],
)
def test_the_column_of_names_is_the_one_that_holds_names(
    text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text, encoding="utf-8")
    table = read_labels(file, Names.of(["a", "b", "c"]))
    assert table.said.startswith(said)
    assert table.labels is not None
    assert table.labels.values.tolist() == [0.0, 2.0]


def test_positions_by_longitude_and_latitude(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,lat,lon\nb,46.9,7.4\na,46.2,6.1\nz,0,0\n", encoding="utf-8")
    table = read_positions(file, Names.of(["a", "b"]))
    assert table.positions is not None
    assert table.positions.tolist() == [[6.1, 46.2], [7.4, 46.9]]
    assert table.notes == (f"{file}: 1 row is no vertex of the graph",)


def test_positions_need_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,height\na,3\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="has no column for the x"):
        read_positions(file, Names.of(["a"]))


@pytest.mark.parametrize(
    "text",
    ["A,B,1.5\nB,C,{}\nC,E,2\n", "A,B,1.5\nB,C,2,\nC,E,3\n", "A;B;1.500\nB;C;{}\n"],
)
def test_a_bad_number_in_a_column_of_lengths_is_an_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    for cell in ("n/a", "2.250,5", "", "nan"):
        file.write_text(text.format(cell), encoding="utf-8")
        with pytest.raises(wf.InputError, match="row 2"):
            read_edges(file)


def test_a_missing_number_in_the_first_row_is_no_heading(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("A,B,n/a\nB,C,1\nC,E,2\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"row 1, column 3: 'n/a' is not a number"):
        read_edges(file)


def test_thousands_are_explained(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("A;B;1.500\nB;E;2.250,5\n", encoding="utf-8")
    hint = r"row 2, column 3: '2.250,5' is not a number \(write nothing between thousands\)"
    with pytest.raises(wf.InputError, match=hint):
        read_edges(file)


def test_without_a_header_the_first_further_column_of_numbers_is_the_length(
    tmp_path: Path,
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("A,B,1.5,hw\nB,C,3,hw\n", encoding="utf-8")
    read = read_edges(file)
    assert read.lengths is not None
    assert read.lengths.tolist() == [1.5, 3.0]
    assert read.notes == ()
    file.write_text("A,B,hw,1.5,7\nB,C,hw,3,8\n", encoding="utf-8")
    read = read_edges(file)
    assert read.lengths is not None
    assert read.lengths.tolist() == [1.5, 3.0]
    assert read.notes == (f"{file}: the length is column 4, not 5; --length chooses another",)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("1990,2000,length\n1,2,3\n2,5,1\n", True),
        ("1990,2000,Travel time\n1,2,3\n2,5,1\n", True),
        ("1990,2000,3\n1,2,3\n2,5,1\n", False),
        ("x,5,1\n3,4,2\n4,5,2\n", False),  # a vertex x
        ("time,5,1\n3,time,2\n4,5,2\n", False),  # a vertex time
    ],
)
def test_numbers_may_be_headings_beside_a_word(text: str, header: bool, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(text, encoding="utf-8")
    assert read_edges(file).said.endswith("header found" if header else "no header")


def test_columns_left_without_a_length_are_told(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,kind\na,b,road\nb,c,path\n", encoding="utf-8")
    told = f"{file}: no length found (columns left: 'kind'), so every edge is 1 long; "
    assert read_edges(file).notes == (told + "--length COLUMN names one",)
    assert read_edges(file, {"length": "none"}).notes == ()
    file.write_text("a b\nb c\n", encoding="utf-8")
    assert read_edges(file).notes == ()


def test_a_length_may_be_declined(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,length\na,b,3\n", encoding="utf-8")
    assert read_edges(file, {"length": "none"}).lengths is None
    file.write_text("from,to,none\na,b,3\n", encoding="utf-8")
    read = read_edges(file, {"length": "none"})
    assert read.lengths is not None
    assert read.lengths.tolist() == [3.0]


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("from,to,minutes,km", "the length is column 4 'km', not 3 'minutes'; --length chooses"),
        ("from,to,length,length", "the length is column 3 'length', not 4 'length'; --length"),
    ],
)
def test_two_columns_that_might_be_the_length(heading: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(heading + "\nA,B,1,10\nB,E,2,20\n", encoding="utf-8")
    (note,) = read_edges(file).notes
    assert note.startswith(f"{file}: {told}")
    assert read_edges(file, {"length": "4"}).notes == ()


def test_two_columns_that_might_be_the_value(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("city,cost,time\na,0,0\nb,2,5\n", encoding="utf-8")
    found = read_labels(file, Names.of(["a", "b"]))
    told = f"{file}: the value is column 2 'cost', not 3 'time'; --value chooses another"
    assert found.notes == (told,)
    assert read_labels(file, Names.of(["a", "b"]), {"value": "time"}).notes == ()


def test_one_column_cannot_be_two_things(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("x,y,length\na,b,1\n", encoding="utf-8")
    for columns in ({"from": "x", "to": "x"}, {"from": "x", "to": "1"}):
        with pytest.raises(wf.InputError, match="from and to cannot both be the column"):
            read_edges(file, columns)


@pytest.mark.parametrize("size", [7, 1 << 20])
def test_comments_among_the_rows_are_counted(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wayfield.files import _text

    monkeypatch.setattr(_text.TextFile.blocks, "__defaults__", (size, None))
    file = tmp_path / "edges.csv"
    top = "# made by hand\n\n % twice\nfrom,to,length\n"
    file.write_text(top + "#1,B,1\nB,E,2\n#2,E,9\n", encoding="utf-8")
    (note,) = read_edges(file).notes
    assert note.startswith(f"{file}: 2 lines below the first row begin with # or % and are skipped")
    file.write_text(top + '"#1",B,1\nB,E,2\n', encoding="utf-8")
    assert read_edges(file).notes == ()
    assert read_edges(file).names.array.to_pylist() == ["#1", "B", "E"]


# ------------------------------------------------------------------ names


def test_names_of_whole_numbers_are_written_as_such() -> None:
    assert Names.of(["7", "10"]).as_numbers().to_pylist() == [7, 10]
    assert Names.of(["007", "10"]).as_numbers().to_pylist() == ["007", "10"]
    assert Names.of(["7", "x"]).as_numbers().to_pylist() == ["7", "x"]
    assert Names.of(range(3)).array.to_pylist() == ["0", "1", "2"]


def test_fractions_are_no_names(tmp_path: Path) -> None:
    file = tmp_path / "edges.npz"
    np.savez(file, src=[0.0, 1.0], dst=[1.0, 2.0])
    assert read_edges(file).names.array.to_pylist() == ["0", "1", "2"]
    np.savez(file, src=[0.5, 1.0], dst=[1.0, 2.0])
    with pytest.raises(wf.InputError, match="fractions cannot be vertex names"):
        read_edges(file)


def test_suggestions_among_very_many_names() -> None:
    many = Names.of([f"state {i}" for i in range(150_000)])
    assert "'state 149999'" in many.suggestion("State 149999x")
    assert "its vertices are 'state 0', 'state 1', 'state 2' …" in many.suggestion("?")


# ------------------------------------------------------------------ writing


def test_an_outbox_replaces_old_files_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old", encoding="utf-8")
    with Outbox(tmp_path) as outbox:
        outbox.path("a.txt").write_text("new", encoding="utf-8")
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new"


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
    (tmp_path / "old.txt").write_text("old", encoding="utf-8")

    def fill(error: type[BaseException] | None) -> Outbox:
        with Outbox(tmp_path) as outbox:
            outbox.discard("old.txt")
            outbox.discard("never-there.txt")
            if error is not None:
                raise error
        return outbox

    with pytest.raises(KeyboardInterrupt):
        fill(KeyboardInterrupt)
    assert (tmp_path / "old.txt").exists()
    assert fill(None).removed == [tmp_path / "old.txt"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere one cannot ask for a process")
def test_an_outbox_clears_what_a_killed_process_left(tmp_path: Path) -> None:
    lines = (
        "import os, signal, sys",
        "from wayfield.files import Outbox",
        "with Outbox(sys.argv[1]) as outbox:",
        "    outbox.path('a.txt').write_text('half')",
        "    os.kill(os.getpid(), signal.SIGKILL)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines), str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".wayfield-")
    (tmp_path / ".hidden").touch()
    (tmp_path / f".wayfield-{os.getpid()}-0123456789ab.b.txt").touch()  # another run's, alive
    with Outbox(tmp_path):
        pass
    kept = {".hidden", f".wayfield-{os.getpid()}-0123456789ab.b.txt"}
    assert {file.name for file in tmp_path.iterdir()} == kept


@given(st.lists(names.filter(bool), min_size=1, max_size=8, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_written_names_are_read_by_anyone(tmp_path: Path, given_names: list[str]) -> None:
    file = tmp_path / "values.csv"
    write_table({"name": given_names, "value": [None] * len(given_names)}, file)
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    assert rows == [["name", "value"], *([name, ""] for name in given_names)]
