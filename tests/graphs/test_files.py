"""Tables in files: what is read is what was written, and what was guessed is said."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield import Names
from wayfield.graphs import tables as files
from wayfield.graphs.names import canonical
from wayfield.graphs.tables import (
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
).map(lambda text: str(canonical(text)))
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


def pairs(path: Path) -> list[tuple[str, str]]:
    """The ends of the edges of a file, by name."""
    read = read_edges(path)
    return [(read.names[x], read.names[y]) for x, y in zip(read.tails, read.heads, strict=True)]


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


def test_progress_is_reported_up_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"é{i}", f"é{i + 1}", float(i + 1)) for i in range(200)]
    text = "# long\r\n" + "".join(f"{x},{y},{z}\r\n" for x, y, z in rows)
    file = tmp_path / "edges.csv"
    file.write_text(text, encoding="utf-8", newline="")
    from wayfield.graphs.tables import sheet as _text

    told: list[tuple[int, int]] = []
    monkeypatch.setattr(_text, "OFTEN", 50)
    assert listed(file) == rows
    read_edges(file, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (file.stat().st_size, file.stat().st_size)
    assert told == sorted(told)


def test_rows_are_found_again(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    rows = [f"a{i},a{i + 1},{'x' if i == 150 else i + 1}\n" for i in range(200)]
    file.write_text("from,to,length\n\n# here\n" + "".join(rows), encoding="utf-8")
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


@pytest.mark.parametrize(
    ("heading", "ends", "length"),
    [
        ("from_date,to_date,node1,node2,km", "78", 2.0),
        ("start_time,end_time,start_id,end_id,km", "78", 2.0),
        ("start_lat,end_lat,start_stop_id,end_stop_id,km", "78", 2.0),
        ("time_zone,weight_class,from,to,km", "78", 2.0),
        ("length_type,distance_id,from,to,distance", "78", 2.0),
        ("min_speed,max_speed,from,to,kind", "78", None),
    ],
)
def test_a_word_that_makes_a_heading_mean_something_else(
    heading: str, ends: str, length: float | None, tmp_path: Path
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(heading + "\n5,6,7,8,2\n", encoding="utf-8")
    edges = read_edges(file)
    assert "".join(edges.names) == ends
    assert (None if edges.lengths is None else edges.lengths.tolist()) == (length and [length])


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
    table = read_labels(file, Names(["a", "b", "c"]))
    assert table.said.startswith(said)
    assert table.labels is not None
    assert table.labels.values.tolist() == [0.0, 2.0]


def test_positions_by_longitude_and_latitude(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,lat,lon\nb,46.9,7.4\na,46.2,6.1\nz,0,0\n", encoding="utf-8")
    table = read_positions(file, Names(["a", "b"]))
    assert table.positions is not None
    shrink = np.cos(np.radians(46.55))
    assert table.positions == pytest.approx(np.array([[6.1 * shrink, 46.2], [7.4 * shrink, 46.9]]))
    assert f"{file}: 1 row for names that are not in the graph" in table.notes


@pytest.mark.parametrize(
    "header",
    ["Nr;Knoten;Breite;Länge", "Nr;Ort;Breitengrad;Längengrad", "Nr;nodo;latitudine;longitudine"],
)
def test_longitude_and_latitude_have_names_in_other_languages(header: str, tmp_path: Path) -> None:
    file = tmp_path / "orte.csv"
    file.write_text(f"{header}\n1;a;46,2;6,1\n2;b;46,9;7,4\n", encoding="utf-8")
    table = read_positions(file, Names(["a", "b"]))
    shrink = np.cos(np.radians(46.55))
    assert table.positions == pytest.approx(np.array([[6.1 * shrink, 46.2], [7.4 * shrink, 46.9]]))


def test_positions_need_their_columns(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,height\na,3\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"no column for the x .* lon and lat"):
        read_positions(file, Names(["a"]))


@pytest.mark.parametrize(
    "text",
    ["A,B,1.5\nB,C,{}\nC,E,2\n", "A,B,1.5\nB,C,2,\nC,E,3\n", "A;B;1.5\nB;C;{}\n"],
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


def test_without_a_header_the_first_further_column_of_numbers_is_the_length(
    tmp_path: Path,
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("A,B,1.5,hw\nB,C,3,hw\n", encoding="utf-8")
    read = read_edges(file)
    assert read.lengths is not None
    assert read.lengths.tolist() == [1.5, 3.0]
    assert read.notes == (f"{file}: not used: column 4",)
    file.write_text("A,B,hw,1.5,7\nB,C,hw,3,8\n", encoding="utf-8")
    read = read_edges(file)
    assert read.lengths is not None
    assert read.lengths.tolist() == [1.5, 3.0]
    assert read.notes == (f"{file}: not used: columns 3, 5",)


def test_columns_left_without_a_length_are_told(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,kind\na,b,road\nb,c,path\n", encoding="utf-8")
    told = f"{file}: no length found (columns left: 'kind'), so every edge has length 1; "
    assert read_edges(file).notes == (told + 'columns={"length": …} names one',)
    assert read_edges(file, {"length": "none"}).notes == (f"{file}: not used: 'kind'",)
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


def test_two_columns_that_might_be_the_length(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,minutes,km\nA,B,1,10\nB,E,2,20\n", encoding="utf-8")
    lengths = read_edges(file).lengths
    assert lengths is not None
    assert lengths.tolist() == [10.0, 20.0]
    assert read_edges(file, {"length": "4"}).notes == (f"{file}: not used: 'minutes'",)


@pytest.mark.parametrize("columns", [{}, {"length": "length"}])
def test_two_columns_of_one_heading_are_not_read_as_one(
    columns: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,length,length\nA,B,1,10\nB,E,2,20\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="columns 3 and 4 are both called 'length'"):
        read_edges(file, columns)
    lengths = read_edges(file, {"length": "4"}).lengths
    assert lengths is not None
    assert lengths.tolist() == [10.0, 20.0]
    file.write_text("city,value,value\nA,1,10\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="columns 2 and 3 are both called 'value'"):
        read_labels(file, Names(["A", "B"]), columns and {"value": "value"})


# what a spreadsheet might read as a formula, and what looks like a name so marked
marks = st.text("'=+-@5a", min_size=1, max_size=4)


@given(st.lists(st.tuples(marks, marks), min_size=1, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_names_that_look_like_formulas_come_back(
    tmp_path: Path, ends: list[tuple[str, str]]
) -> None:
    file = tmp_path / "edges.csv"
    tails, heads = map(list, zip(*ends, strict=True))
    write_table({"from": tails, "to": heads, "length": np.ones(len(ends))}, file)
    # a cell as it is written has one reading; unmarked names that begin alike have the same
    assert pairs(file) == ends
    known = Names([name for pair in ends for name in pair])
    write_table({"vertex": list(known), "value": np.arange(float(len(known)))}, file)
    labels = read_labels(file, known, {"value": "value"}).labels
    assert labels is not None
    assert labels.vertices.tolist() == list(range(len(known)))


def test_a_vertex_called_minus_5(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text('"from","to"\n"\'-5","b"\n', encoding="utf-8")
    assert pairs(tmp_path / "edges.csv") == [("-5", "b")]


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "utf-7", "hz", "shift_jis", "utf-16-le"])
def test_encodings_that_are_named(encoding: str, tmp_path: Path) -> None:
    name = "日本" if encoding != "hz" else "中文"
    file = tmp_path / "edges.csv"
    file.write_bytes(f"from,to\n{name},b\n".encode(encoding))
    read = read_edges(file, style=Style(encoding=encoding))
    assert list(read.names) == [name, "b"]
    # a file of UTF-8 is read as such, whatever was named
    file.write_bytes(f"from,to\n{name},b\n".encode())
    assert list(read_edges(file, style=Style(encoding=encoding)).names) == [name, "b"]
    file.write_bytes(b"from,to\na,b\n")
    assert list(read_edges(file, style=Style(encoding=encoding)).names) == ["a", "b"]


def test_two_columns_that_might_be_the_value(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("city,cost,time\na,0,0\nb,2,5\n", encoding="utf-8")
    found = read_labels(file, Names(["a", "b"]))
    assert found.notes == (f"{file}: not used: 'time'",)
    chosen = read_labels(file, Names(["a", "b"]), {"value": "time"})
    assert chosen.notes == (f"{file}: not used: 'cost'",)


def test_one_column_cannot_be_two_things(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("x,y,length\na,b,1\n", encoding="utf-8")
    for columns in ({"from": "x", "to": "x"}, {"from": "x", "to": "1"}):
        with pytest.raises(wf.InputError, match="from and to cannot both be the column"):
            read_edges(file, columns)


def test_comments_among_the_rows_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    top = "# made by hand\n\n % twice\nfrom,to,length\n"
    file.write_text(top + "#1,B,1\nB,E,2\n#2,E,9\n", encoding="utf-8")
    (note,) = read_edges(file).notes
    assert note.startswith(f"{file}: 2 lines skipped below the first row, because of # or %")
    file.write_text(top + '"#1",B,1\nB,E,2\n', encoding="utf-8")
    assert read_edges(file).notes == ()
    assert list(read_edges(file).names) == ["#1", "B", "E"]


# ------------------------------------------------------------------ names


def test_fractions_are_no_names(tmp_path: Path) -> None:
    file = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"src": [0.0, 1.0], "dst": [1.0, 2.0]}), file)
    assert list(read_edges(file).names) == ["0", "1", "2"]
    pq.write_table(pa.table({"src": [0.5, 1.0], "dst": [1.0, 2.0]}), file)
    with pytest.raises(wf.InputError, match="fractions cannot be vertex names"):
        read_edges(file)


def test_spaces_and_invisible_marks_do_not_make_another_name(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    rows = "La Chaux,b\nLa\u00a0Chaux,c\n\u200ec\u200f,d\n\ufeffd,\u200bb\n"
    file.write_text(rows, encoding="utf-8-sig")
    assert list(read_edges(file).names) == ["La Chaux", "b", "c", "d"]


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u00a0\ufeff"])
def test_names_that_cannot_be_seen_are_missing(name: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"from,to\na,b\nb,{name}\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="row 3, column 'to': the vertex name is missing"):
        read_edges(file)


def test_rows_are_counted_from_one_piece_to_the_next(tmp_path: Path) -> None:
    file, names = tmp_path / "known.csv", Names(["a", "b"])
    file.write_text("name,value\n" + "a,1\n" * 3000 + " ,1\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="row 3002, column 'name': the vertex name is missing"):
        read_labels(file, names)


# ------------------------------------------------------------------ odd tables


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_ends_of_lines_and_byte_order_marks(ends: str, encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_bytes(ends.join(["from,to,km", "é,b,1", "b,c,2"]).encode(encoding))
    assert listed(file) == [("é", "b", 1.0), ("b", "c", 2.0)]


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "sep=;;;"])
def test_delimiters_that_a_spreadsheet_declares(first: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"{first}\nfrom;to;km\na;b;1,5\nx,y;c;2\n", encoding="utf-8")
    assert listed(file) == [("a", "b", 1.5), ("x,y", "c", 2.0)]


def test_cells_of_several_lines_are_read_and_noted(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    text = 'from,to,km,remark\na,b,1,"two\n# lines\n\n% and ""more"""\nb,c,2,\nc,d,x,\n'
    file.write_text(text, encoding="utf-8")
    with pytest.raises(wf.InputError, match="row 7, column 'km': 'x' is not a number"):
        read_edges(file)
    file.write_text(text.replace("x,", "3,"), encoding="utf-8")
    assert listed(file) == [("a", "b", 1.0), ("b", "c", 2.0), ("c", "d", 3.0)]
    told = f"{file}: 3 lines inside quoted cells; is a closing quotation mark missing?"
    assert read_edges(file).notes[0] == told


def test_empty_columns_and_lines_count_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,,to,km,\na,,b,1,\n,,,,\n \nb,,c,2,\n\x1a", encoding="utf-8")
    assert read_edges(file).notes == ()
    assert pairs(file) == [("a", "b"), ("b", "c")]


def test_a_delimiter_is_the_one_that_leaves_numbers(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("a;x,b;y,3\nb;y,c;z,4\n", encoding="utf-8")
    assert pairs(file) == [("a;x", "b;y"), ("b;y", "c;z")]
    file.write_text("a\tb\t1,234,567\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="'1,234,567' is not a number; remove the thousands"):
        read_edges(file)


@pytest.mark.parametrize("cell", ["1d3", "5 km", "€7", "1:30", "(5)", "~5"])
def test_a_first_row_with_a_broken_number_is_no_header(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"a,b,{cell}\nc,d,2\ne,f,3\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=re.escape(f"row 1, column 3: {cell!r} is not a nu")):
        read_edges(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "My roads\nfrom,to,km\na,b,1\nb,c,2\n",
            "row 2: 3 columns, but 1 expected; is row 1 a title?",
        ),
        ("# x\n\nMy roads\na;b;1\nb;c;2\n", "row 4: 3 columns, but 1 expected; is row 3 a title?"),
        ("from,to,km\na,b,1,\nb,c,2,\n", "row 2: 4 columns, but 3 expected; does the row end in"),
        ("from,to,km\na,b,1,5\nb,c,2,5\n", "row 2: 4 columns, but 3 expected; are quotes missing"),
        ("a,b,1\nb,c\nc,d,2,3\nd\n", "row 2: 2 columns, but 3 expected; is a delimiter missing?"),
        ("a,b,1\nb,c\n", "row 2: 2 columns, but 3 expected; is the file cut off?"),
    ],
)
def test_rows_of_different_lengths(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(wf.InputError, match=re.escape(told)):
        read_edges(file)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"from": "a", "to": "b"}]\n', "is JSON"),
        ('{"from": "a"}\n{"from": "b"}\n', "is JSON"),
        ("<!DOCTYPE html>\n<html></html>\n", "is HTML or XML"),
        ('<?xml version="1.0"?>\n<graphml/>\n', "is HTML or XML"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:a\nsize 1\n", "git lfs pull"),
        ("c roads\np sp 3 2\na 1 2 7\na 2 3 9\n", "is a DIMACS file"),
    ],
)
def test_text_that_is_no_table(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(wf.InputError, match=re.escape(f"{file} is")) as caught:
        read_edges(file)
    assert told in str(caught.value)


def test_very_many_columns_are_not_all_named(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    columns = [f"c{i}" for i in range(100)]
    file.write_text(",".join(["from", "to", "km", *columns]) + "\na,b,1" + ",0" * 100, "utf-8")
    (note,) = read_edges(file).notes
    assert note.endswith("'c49' and 50 more")


# ------------------------------------------------------------------ which way an edge leads


def ways(cells: list[str], folder: Path) -> list[tuple[str, str]]:
    """The arcs that a column of ways leaves of edges a0 to b0, a1 to b1 …"""
    file = folder / "edges.tsv"
    rows = "".join(f"a{i}\tb{i}\t1\t{cell}\n" for i, cell in enumerate(cells))
    file.write_text(f"u\tv\tlength\toneway\n{rows}", encoding="utf-8")
    edges = read_edges(file)
    graph, _ = edges.to_graph()
    if not graph.directed:
        assert not any(edges.ways)  # type: ignore[arg-type]
    return sorted(
        (edges.names[x], edges.names[y]) for x, y in zip(graph.tails, graph.indices, strict=True)
    )


EDGE_HEADINGS = (
    "$LINK:NO;FROMNODENO;TONODENO;T0_PRTSYS",
    "Nr;Startknoten;Endknoten;Fahrzeit",
    "id;nœud_début;nœud_fin;temps",
    "id;nodo_origen;nodo_destino;tiempo",
    "LINK;ANODE;BNODE;TIME",
    "link_id;a_node;b_node;distance",
    "edge_id;init_node;term_node;free_flow_time",
    "ID;von Knoten;nach Knoten;Länge",
)


@pytest.mark.parametrize("heading", EDGE_HEADINGS)
def test_headings_of_edges_in_other_tools_and_languages(heading: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"{heading}\n1;a;b;7.5\n2;b;c;3.5\n3;c;a;4.5\n", encoding="utf-8")
    edges = read_edges(file)
    assert list(edges.names) == ["a", "b", "c"]
    assert edges.lengths is not None
    assert edges.lengths.tolist() == [7.5, 3.5, 4.5]


@pytest.mark.parametrize("heading", ["Einbahn", "sens unique", "sentido único", "IsOneWay"])
def test_a_heading_of_one_way_edges(heading: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(f"from;to;length;{heading}\na;b;1;ja\nb;c;1;nein\n", encoding="utf-8")
    assert read_edges(file).to_graph()[0].num_arcs == 3


@pytest.mark.parametrize(
    "words",
    [
        ("yes", "-1", "no"),
        ("True", "reverse", "False"),
        ("1", "-1", "0"),
        ("FT", "TF", ""),
        ("1.0", "-1.0", "0.0"),
        ("yes", "-1", "reversible"),
        ("yes", "-1", "alternating"),
        ("ja", "-1", "nein"),
        ("Oui", "-1", "Non"),
        ("sí", "-1", "no"),
        ("sim", "-1", "não"),
        ("YES", " -1 ", " "),
    ],
)
def test_columns_of_ways(words: tuple[str, ...], tmp_path: Path) -> None:
    expected = [("a0", "b0"), ("a2", "b2"), ("b1", "a1"), ("b2", "a2")]
    assert ways(list(words), tmp_path) == expected


def test_ways_that_are_all_both_leave_the_graph_undirected(tmp_path: Path) -> None:
    assert ways(["no", "", "0"], tmp_path)
    read = read_edges(tmp_path / "edges.tsv")
    assert not read.one_way
    assert read.notes == (f"{tmp_path / 'edges.tsv'}: by 'oneway' no edge is one-way",)


def test_ways_that_change_with_the_time_are_noted(tmp_path: Path) -> None:
    ways(["yes", "reversible", "alternating"], tmp_path)
    *_, note = read_edges(tmp_path / "edges.tsv").notes
    assert note.endswith("2 edges reversible or alternating, treated as two-way")


def test_a_list_of_ways_is_as_the_one_way_among_them(tmp_path: Path) -> None:
    words = ["[True, False]", "['-1', 'no']", "[False, False]"]
    assert ways(words, tmp_path) == [("a0", "b0"), ("a2", "b2"), ("b1", "a1"), ("b2", "a2")]


@pytest.mark.parametrize("word", ["maybe", "t", "2", "[yes, -1]", "[True, maybe]", "-"])
def test_words_that_are_no_way(word: str, tmp_path: Path) -> None:
    told = f"row 3, column 'oneway': {word!r} is not a direction"
    with pytest.raises(wf.InputError, match=re.escape(told)):
        ways(["yes", word], tmp_path)
    with pytest.raises(wf.InputError, match="column 'oneway': 'f' is not a direction"):
        ways(["f", "T"], tmp_path)  # false and true, or from and to?


def test_the_way_keeps_its_length_whichever_it_is(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text("from,to,km,one way\na,b,3,-1\nb,c,5,no\n", encoding="utf-8")
    graph, _ = read_edges(file).to_graph()
    assert graph.to_scipy().toarray().tolist() == [[0, 0, 0], [3, 0, 5], [0, 5, 0]]


def test_a_column_of_ways_in_parquet(tmp_path: Path) -> None:
    columns = {"u": [1, 2], "v": [2, 3], "length": [1.0, 2.0]}
    for oneway in ([True, False], [1, 0], ["yes", None], [1.0, 0.0]):
        pq.write_table(pa.table({**columns, "oneway": oneway}), tmp_path / "e.parquet")
        assert read_edges(tmp_path / "e.parquet").ways.tolist() == [1, 0]  # type: ignore[union-attr]


def test_tables_of_osmnx_are_read_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(
        "u,v,key,osmid,highway,oneway,reversed,length,geometry,maxspeed\n"
        '10,20,0,"[1, 2]",residential,False,False,12.5,"LINESTRING (7.1 46.2, 7.2 46.3)",\n'
        '20,10,0,"[1, 2]",residential,False,True,12.5,"LINESTRING (7.2 46.3, 7.1 46.2)",\n'
        '20,30,0,3,primary,True,False,7.25,"LINESTRING (7.2 46.3, 7.3 46.3)",50\n',
        encoding="utf-8",
    )
    edges = read_edges(file)
    assert edges.said.startswith("from = 'u', to = 'v', length = 'length', oneway = 'oneway'")
    graph, notes = edges.to_graph()
    assert notes == []
    assert graph.to_scipy().toarray().tolist() == [[0, 12.5, 0], [12.5, 0, 7.25], [0, 0, 0]]
    unused = "'key', 'osmid', 'highway', 'reversed', 'geometry', 'maxspeed'"
    assert edges.notes[-1] == f"{file}: not used: {unused}"


def test_tables_of_pyrosm_are_read_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "edges.parquet"
    columns = {
        "access": [None, None], "highway": ["residential", "primary"], "maxspeed": ["50", None],
        "name": ["Rue", None], "oneway": [None, "-1"], "id": [1, 2], "geometry": [b"\x01", b"\x01"],
        "tags": [None, '{"visible":false}'], "osm_type": ["way", "way"], "u": [10, 20],
        "v": [20, 30], "length": [12.5, 7.25],
    }  # fmt: skip
    pq.write_table(pa.table(columns), file)
    edges = read_edges(file)
    assert edges.said == (
        "from = 'u', to = 'v', length = 'length', oneway = 'oneway'; 12 columns, Parquet"
    )
    graph, _ = edges.to_graph()
    assert graph.to_scipy().toarray().tolist() == [[0, 12.5, 0], [12.5, 0, 0], [0, 7.25, 0]]


# ------------------------------------------------------------------ nothing is believed


def test_lines_without_end(tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_bytes(b"a,b,1\n" + b"x" * (3 << 20))
    with pytest.raises(wf.InputError, match="row 2: a cell of over 131,072 characters"):
        read_edges(file)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_text_that_grows_beyond_all_measure(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wayfield.graphs import npz as _npz

    file = tmp_path / "edges.csv.gz"
    file.write_bytes(pack(b"a,b,1\n" * 200_000))
    assert read_edges(file).tails.size == 200_000
    monkeypatch.setattr(_npz, "_HARMLESS", 1 << 20)
    with pytest.raises(wf.InputError, match=r"edges.csv.gz has [\d,]+ bytes, but unpacks to"):
        read_edges(file)


def test_parquet_that_grows_beyond_all_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wayfield.graphs import npz as _npz

    file = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"from": ["a"] * 500_000, "to": ["b"] * 500_000}), file)
    monkeypatch.setattr(_npz, "_HARMLESS", 1 << 10)
    with pytest.raises(wf.InputError, match="unpacks to"):
        read_edges(file)


def test_npz_that_grows_beyond_all_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wayfield.graphs import npz as _npz

    file = tmp_path / "edges.npz"
    np.savez_compressed(file, src=np.zeros(1 << 18), dst=np.ones(1 << 18))
    monkeypatch.setattr(_npz, "_HARMLESS", 1 << 20)
    with pytest.raises(wf.InputError, match=r"unpacks to 0.0 GB or more"):
        read_edges(file)
    with pytest.raises(wf.InputError, match="unpacks to"):
        wf.Graph.load(file)


def test_npz_with_a_foreign_member(tmp_path: Path) -> None:
    file = tmp_path / "edges.npz"
    np.savez(file, src=[0, 1], dst=[1, 2])
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(wf.InputError, match=r"edges.npz holds 'readme.txt', which is not an array"):
        read_edges(file)
    with pytest.raises(wf.InputError, match="which is not an array"):
        wf.Graph.load(file)


PIECES = st.sampled_from(
    ["a", "b", "é", "1", "1.5", "1,234", "-1", "1e9", "nan", "yes", "from", "to",
     "length", "oneway", ",", ";", "\t", "|", " ", "\n", "\r", '"', "'", "#", "%", "=", "sep=",
     "\x00", "\ufeff", "\u200b", "\u00a0", "\x1a", "\x1b[2J", "<html", "[{", "c \n", "p sp "]
)  # fmt: skip


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
    st.sampled_from([None, ".", ","]),
)
def test_any_text_is_a_table_or_an_input_error(
    tmp_path: Path, pieces: list[str], encoding: str, decimal: str | None
) -> None:
    file = tmp_path / "edges.csv"
    file.write_bytes("".join(pieces).encode(encoding))
    try:
        edges = read_edges(file, style=Style(decimal=decimal))
        graph, _ = edges.to_graph()
    except wf.InputError:
        return
    assert graph.num_vertices == len(edges.names)
    assert all(str(name).strip() and "\n" not in str(name) for name in edges.names)


def test_the_library_names_no_options_of_the_command_line() -> None:
    for module in Path(files.__file__).parent.glob("*.py"):
        assert not re.search(r"--[a-z]", module.read_text(encoding="utf-8")), module


def test_the_graph_of_a_file_has_its_names(tmp_path: Path) -> None:
    file = tmp_path / "roads.csv"
    file.write_text("from,to,length\nGenève,Lausanne,62\nLausanne,Bern,100\n", encoding="utf-8")
    graph, _ = read_edges(file).to_graph()
    assert wf.Labels({"Bern": 0.0, "Genève": 162.0}, graph=graph).vertices.tolist() == [0, 2]


def test_degrees_are_put_into_a_plane(tmp_path: Path) -> None:
    file, names = tmp_path / "places.csv", wf.Names(["a", "b"])
    file.write_text("name,lon,lat\na,7.0,46.0\nb,8.0,48.0\n", encoding="utf-8")
    table = read_positions(file, names)
    shrink = np.cos(np.radians(47.0))
    assert table.positions is not None
    assert table.positions.tolist() == [[7.0 * shrink, 46.0], [8.0 * shrink, 48.0]]
    assert table.notes == (
        f"{file}: longitudes and latitudes are projected, to scale near latitude 47°",
    )
    file.write_text("name,x,y\na,7.0,46.0\nb,8.0,48.0\n", encoding="utf-8")
    table = read_positions(file, names)
    assert table.positions is not None
    assert table.positions.tolist() == [[7.0, 46.0], [8.0, 48.0]]
    file.write_text("name,lon,lat\na,700,46.0\nb,8.0,48.0\n", encoding="utf-8")
    assert not read_positions(file, names).notes  # no degrees


def test_numbers_of_rows_are_no_values(tmp_path: Path) -> None:
    file, names = tmp_path / "known.csv", wf.Names(["a", "b", "c"])
    file.write_text("no,node\n1,a\n2,b\n3,c\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="has no column for the value"):
        read_labels(file, names)
    file.write_text("1,a\n2,b\n3,c\n", encoding="utf-8")
    table = read_labels(file, names)
    assert table.labels is not None
    assert table.labels.values.tolist() == [1, 2, 3]
