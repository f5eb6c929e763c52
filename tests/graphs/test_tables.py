"""Tables in files: what is read, what is refused with its place, and what comes back as written."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield import Names
from wayfield.graphs import npz
from wayfield.graphs import tables as files
from wayfield.graphs.names import canonical
from wayfield.graphs.tables import (
    Style,
    read_edges,
    read_labels,
    read_positions,
    sheet,
    write_table,
)
from wayfield.graphs.tables.cells import unmarked
from wayfield.graphs.tables.read import length_like

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

AB = Names(["a", "b", "c", "d"])
READERS: dict[str, Callable[[Path], Any]] = {
    "edges": read_edges,
    "labels": lambda file: read_labels(file, AB),
    "positions": lambda file: read_positions(file, AB),
}
NEAR_BERN = [[x * np.cos(np.radians(46.55)), y] for x, y in ((6.1, 46.2), (7.4, 46.9))]
fixed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def table_rows() -> dict[str, list[tuple[str, ...]]]:
    """The rows of tables.txt by section."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for line in Path(__file__).with_name("tables.txt").read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\[[a-z ]+\]", line):
            section = rows.setdefault(line[1:-1], [])
        elif " → " in line:
            text = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), line)
            section.append(tuple(text.replace("⏎", "\n").replace("⇥", "\t").split(" → ")))
    return rows


ROWS = table_rows()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def put(file: Path, text: str | bytes) -> Path:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def edges(file: Path, columns: dict[str, str] | None = None, **style: Any) -> str:
    """The edges of a file as text: tail, head and length."""
    read = read_edges(file, columns, Style(**style))
    lengths = [""] * read.tails.size if read.lengths is None else read.lengths.tolist()
    ends = zip(read.tails, read.heads, lengths, strict=True)
    return " ".join(f"{read.names[x]}{read.names[y]}{length:g}" if length else
                    f"{read.names[x]}{read.names[y]}" for x, y, length in ends)  # fmt: skip


def labels(file: Path, columns: dict[str, str] | None = None, **style: Any) -> str:
    """The labels of a file as text: vertex and value."""
    found = read_labels(file, AB, columns, Style(**style)).labels
    assert found is not None
    pairs = zip(found.vertices.tolist(), found.values.tolist(), strict=True)
    return " ".join(f"{AB[x]}{value:g}" for x, value in pairs)


def positions(file: Path, names: Names = AB, **style: Any) -> Any:
    return read_positions(file, names, None, Style(**style)).positions


# ------------------------------------------------------------------ what is read


@pytest.mark.parametrize(("text", "expected"), ROWS["edges"])
def test_edges(text: str, expected: str, file: Path) -> None:
    assert edges(put(file, text)) == expected


@pytest.mark.parametrize(("text", "expected"), ROWS["labels"])
def test_labels(text: str, expected: str, file: Path) -> None:
    assert labels(put(file, text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,lat,lon\nb,46.9,7.4\na,46.2,6.1\nz,0,0\n", NEAR_BERN),
        ("Nr;Knoten;Breite;Länge\n1;a;46,2;6,1\n2;b;46,9;7,4\n", NEAR_BERN),
        ("Nr;Ort;Breitengrad;Längengrad\n1;a;46,2;6,1\n2;b;46,9;7,4\n", NEAR_BERN),
        ("Nr;nodo;latitudine;longitudine\n1;a;46,2;6,1\n2;b;46,9;7,4\n", NEAR_BERN),
        ("name,x,y\na,7.0,46.0\nb,8.0,48.0\n", [[7, 46], [8, 48]]),
        ("name,lon,lat\na,700,46.0\nb,8.0,48.0\n", [[700, 46], [8, 48]]),  # no degrees
        ("a 1 2\nb 3 4\n", [[1, 2], [3, 4]]),
        # across the 180th meridian, and around the world without crossing it
        ("name,lon,lat\na,179.5,0\nb,-179.5,0\n", [[179.5, 0], [180.5, 0]]),
        ("name,lon,lat\na,-90,0\nb,60,0\n", [[-90, 0], [60, 0]]),
    ],
)  # fmt: skip
def test_positions(text: str, expected: list[list[float]], file: Path) -> None:
    np.testing.assert_allclose(positions(put(file, text), Names(["a", "b"])), expected)


@pytest.mark.parametrize(
    ("kind", "text", "note"), [(kind, *row) for kind in READERS for row in ROWS[f"notes of {kind}"]]
)
def test_notes(kind: str, text: str, note: str, file: Path) -> None:
    assert f"{file}: {note}" in READERS[kind](put(file, text)).notes


@pytest.mark.parametrize("text", ["a b\n", "from,,to\na,,b\n", '"#1",b,1\n', "from,to,km\na,b,1\n"])
def test_nothing_to_note(text: str, file: Path) -> None:
    assert read_edges(put(file, text)).notes == ()


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("start,end,min\na,b,1\nb,a,2\n", True),
        ("start,end,min\na,1,1\nb,2,2\n", False),  # the end is a number, and no vertex
        ("start,end,min\na,x,1\nx,y,2\n", True),  # words decide, though few are known
        ("vertex,start_value,x\na,1,2\n", False),
        ("start,end\na,b\n", False),
        ("a;b;1.5\nx;c;2.5\nb;y;3\nc;z;4\n", True),  # half of the cells are vertices
        ("a;b;1.5\nx;c;2.5\nb;y;3\nc;z;4\nd;z;4\n", False),
        ("1;a;b;7.5\n2;b;a;3.0\n3;a;c;4.0\n", True),  # numbers of rows come first
        ("1;a;7.5;0\n2;b;3.0;1\n3;c;4.0;2\n", False),
        ("a;1;7.5\nb;2;3.0\nc;3;4.0\n", False),
    ],
)
def test_trips_are_told_from_labels(text: str, pairs: bool, file: Path) -> None:
    assert files.are_pairs(put(file, text), AB) == pairs
    assert files.are_pairs(file, AB, {"start": "1"})
    assert not files.are_pairs(file, AB, {"value": "1"})


@pytest.mark.parametrize(
    ("edges", "labels", "shared"),
    [
        ("from,to,km,min\na,b,1,2\n", "node,min\na,1\n", "min"),
        ("from,to,km,min\na,b,1,2\n", "node,km,min\na,1,2\n", None),
        ("from,to,min\na,b,1\n", "node,min\na,1\n", None),
        ("from,to,km,min\na,b,1,2\n", "a,1\nb,2\n", None),
    ],
)
def test_lengths_are_in_the_unit_of_the_labels(
    edges: str, labels: str, shared: str | None, file: Path
) -> None:
    other = put(file.with_name("labels.csv"), labels)
    assert length_like(put(file, edges), other) == shared
    assert length_like(file.with_name("g.npz"), other) is None


def test_how_a_table_was_understood(file: Path) -> None:
    put(file, "origin;dest;km\nGenève;Bern;158,5\nBern;Zürich;125\n")
    read = read_edges(file)
    assert read.said == (
        "from = 'origin', to = 'dest', length = 'km'; 3 columns, semicolon between columns, "
        "header found"
    )
    graph, _ = read.to_graph()
    assert wf.Labels({"Bern": 0.0, "Genève": 162.0}, graph=graph).vertices.tolist() == [0, 1]
    columns = [f"c{i}" for i in range(100)]
    put(file, ",".join(["from", "to", "km", *columns]) + "\na,b,1" + ",0" * 100)
    assert read_edges(file).notes[-1].endswith("'c49' and 50 more")


@pytest.mark.parametrize("mark", [",", "\t", "|"])
def test_points_before_three_digits_are_noted(mark: str, file: Path) -> None:
    put(file, "from,to,km\na,b,1.234\nb,c,500\nc,d,12.000\n".replace(",", mark))
    assert edges(file) == "ab1.234 bc500 cd12"
    told = f"{file}, column 'km': 1.234 is read as 1.234; write 1234 if that is meant"
    assert read_edges(file).notes == (told,)
    assert read_edges(file, style=Style(decimal="point")).notes == ()


# ------------------------------------------------------------------ columns and styles named


@pytest.mark.parametrize(("text", "columns", "expected"), ROWS["named columns"])
def test_columns_that_are_named(text: str, columns: str, expected: str, file: Path) -> None:
    named = dict(each.split(" is ") for each in columns.split(", "))
    assert edges(put(file, text), named) == expected


@pytest.mark.parametrize(
    ("text", "style", "expected"),
    [
        ("from,to\na,b\n", {"header": False}, "fromto ab"),
        ("a,b,1\nb,c,2\n", {"header": True}, "bc2"),
        ("a~b~1\n", {"delimiter": "~"}, "ab1"),
        ("a,x\tb,y\t1\n", {"delimiter": "tab"}, "a,xb,y1"),
        ("a;x b 1\n", {"delimiter": "space"}, "a;xb1"),
        ("a;b;1,234\n", {"decimal": ","}, "ab1.234"),
        ("a;b;1.234\n", {"decimal": "point"}, "ab1.234"),
    ],
)
def test_styles_that_are_named(text: str, style: Any, expected: str, file: Path) -> None:
    assert edges(put(file, text), **style) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_encodings_that_are_seen(encoding: str, ends: str, file: Path) -> None:
    put(file, ends.join(["from,to,km", "é,b,1", "b,c,2"]).encode(encoding))
    assert edges(file) == "éb1 bc2"
    told = f"{file}, row 2: byte 0xe9 is not UTF-8, so it is read as Windows-1252; "
    assert read_edges(file).notes == (
        (f"{told}Style.encoding names another encoding",) if encoding == "cp1252" else ()
    )


@pytest.mark.parametrize("encoding", ["iso-2022-jp", "utf-7", "hz", "shift_jis", "utf-16-le"])
def test_encodings_that_are_named(encoding: str, file: Path) -> None:
    name = "日本" if encoding != "hz" else "中文"
    put(file, f"from,to\n{name},b\n".encode(encoding))
    assert edges(file, encoding=encoding) == f"{name}b"
    # a file of UTF-8 is read as such, whatever was named
    for text in (f"{name}b", "ab"):
        put(file, f"from,to\n{text[:-1]},b\n")
        assert edges(file, encoding=encoding) == text


# ------------------------------------------------------------------ one-way edges


@pytest.mark.parametrize(
    "heading", ["oneway", "Einbahn", "sens unique", "sentido único", "IsOneWay"]
)
@pytest.mark.parametrize(
    "words",
    ["yes,-1,no", "True,reverse,False", "1,-1,0", "FT,TF,", "1.0,-1.0,0.0", "yes,-1,reversible",
     "vrai,sens inverse,double sens", "único,inverso,doble", "ja,-1,nein", "Oui,−1,Non",
     "sí,-1,no", "sim,-1,não", "YES, -1 , ",
     "[True; False],['-1'; 'no'],[False; False]"],
)  # fmt: skip
def test_ways(heading: str, words: str, file: Path) -> None:
    there, back, both = (
        words.replace(";", ",").split(",")
        if ";" not in words
        else (word.replace(";", ",") for word in words.split(","))
    )
    put(file, f"u\tv\tkm\t{heading}\na\tb\t3\t{there}\nb\tc\t5\t{back}\nc\td\t7\t{both}\n")
    graph, _ = read_edges(file).to_graph()
    assert graph.names is not None
    arcs = zip(graph.tails, graph.indices, graph.lengths, strict=True)
    found = sorted(f"{graph.names[x]}{graph.names[y]}{length:g}" for x, y, length in arcs)
    assert found == ["ab3", "cb5", "cd7", "dc7"]
    assert read_edges(file, directed=True).to_graph()[0].num_arcs == 3
    assert not read_edges(file, {"oneway": "none"}).one_way


@pytest.mark.parametrize("heading", ["SENS", "sens_circulation", "Richtung", "direction"])
def test_a_column_that_may_say_which_way_is_asked_about(heading: str, file: Path) -> None:
    put(file, f"u,v,km,{heading}\na,b,3,1\n")
    *_, note = read_edges(file).notes
    assert f"'{heading}' is not read: every edge is open both ways; if it says" in str(note)


def test_speeds_need_metres(file: Path) -> None:
    put(file, "u,v,length_km,maxspeed\na,b,3,50\n")
    with pytest.raises(wf.InputError, match="lengths in metres, but 'length_km' says km"):
        read_edges(file, {"speed": "maxspeed"})


# ------------------------------------------------------------------ what is refused, and where

# too long, or too odd, for a line of tables.txt
ODD = [
    ("edges", "a;b;1.5\n" + "a;b;2\n" * 3000 + "a;b;1,234\n", "row 1 has 1.5, row 3002 has 1,234"),
    (
        "edges",
        "from,to\n" + "b,c\n" * 3000 + " \u00a0,c\n",
        "row 3002, column 'from': the vertex na",
    ),
    (
        "labels",
        "name,value\n" + "a,1\n" * 3000 + " ,1\n",
        "row 3002, column 'name': the vertex name",
    ),
    ("edges", "a,b,1\n" + "x" * (1 << 20), "row 2: a cell of over 131,072 characters"),
    ("edges", "", "is empty"),
    ("edges", b"PK\x03\x04rest", "save the sheet as CSV"),
    ("edges", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is not a text file"),
    ("edges", b"a,b\n\x00\x00,c\n", "is not a text file"),
    ("edges", b"a,b\n\xff\x01,c\n", "is not a text file"),
    ("edges", gzip.compress(b"a,b,1\n" * 99, mtime=0)[:-20], "is cut off or damaged"),
    ("edges", b"PAR1rest", "is not a Parquet file, or is cut off"),
]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [*ODD, *((kind, *row) for kind in READERS for row in ROWS[f"refused {kind}"])],
)
def test_tables_that_are_refused(kind: str, text: str | bytes, words: str, file: Path) -> None:
    with pytest.raises(wf.InputError, match=re.escape(words)) as caught:
        READERS[kind](put(file, text))
    assert str(caught.value).startswith(str(file))
    assert len(str(caught.value)) < 250 + len(str(file))


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["1'234.5", "1’234", "1 234,5", "1\u00a0234", "1\u202f234\u202f567", "1_234", "1.234.567",
          "1,234,567", "1.234,5", "-1,234.5"], " is not a number; remove the thousands separators"),
        (["1'23", "12'34'567", "'123", "1234'567", "1''234", "12%", "€5", "5 km", "2024-01-05",
          "05/01/2024", "(5)", "5-", "0x10", "１２", "1d5", "true", "1,5,5", "1..5", "--5", "e5",
          "1e", "٣", "~5", "9," * 50_000, " " * 9_000 + "x", "1" + " " * 9**4 + "x"],
         " is not a number"),
    ],
)  # fmt: skip
def test_cells_that_are_no_numbers(cells: list[str], why: str, file: Path) -> None:
    for cell in cells:
        for text, row in (
            (f"a\tb\t7\na\tc\t{cell}\n", 2),
            (f"a\tb\t{cell}\nc\td\t2\nd\ta\t3\n", 1),
        ):
            with pytest.raises(wf.InputError) as caught:
                read_edges(put(file, text), style=Style(header=False))
            told = str(caught.value).removeprefix(f"{file}, row {row}, column 3: ")
            assert told.endswith(why)
            assert len(told) < 150


@pytest.mark.parametrize(
    ("columns", "style", "words"),
    [
        ({"from": "x", "to": "x"}, {}, "from and to cannot both be the column 'x'"),
        ({"from": "x", "to": "1"}, {}, "from and to cannot both be the column '1'"),
        ({"length": "lenght"}, {}, "it has 'x', 'y', 'length', 'z'); did you mean 'length'?"),
        ({"length": "6"}, {}, "has no column '6'"),
        ({"speed": "z"}, {}, "row 2, column 'z': 'c' is not a speed (30, 30 mph, FI:urban …)"),
        ({"speed": "z", "length": "none"}, {}, "a speed column needs a length column"),
        ({}, {"delimiter": "ab"}, "the delimiter must be one character, tab or space, got 'ab'"),
        ({}, {"decimal": ";"}, "Style.decimal must be point or comma, got ';'"),
        ({}, {"encoding": "klingon"}, "unknown encoding 'klingon'"),
        ({}, {"encoding": "base64"}, "unknown encoding 'base64'"),
        ({}, {"decimal": ","}, "'1.5' is not a number with a decimal comma"),
    ],
)  # fmt: skip
def test_wishes_that_are_refused(columns: Any, style: Any, words: str, file: Path) -> None:
    with pytest.raises(wf.InputError, match=re.escape(words)):
        read_edges(put(file, "x,y,length,z\na,b,1.5,c\n"), columns, Style(**style))


def test_text_that_is_not_in_its_encoding(file: Path) -> None:
    put(file, "from,to\né,b\n".encode("latin-1"))
    with pytest.raises(wf.InputError, match="row 2: byte 0xe9 is not utf-8 text"):
        read_edges(file, style=Style(encoding="ascii"))


# ------------------------------------------------------------------ Parquet, npz, compression


def test_parquet(tmp_path: Path) -> None:
    file = tmp_path / "edges.parquet"
    ends = {"u": [1, 2], "v": [2, 3], "length": [1.234, 2.5]}
    for oneway in ([True, False], [1, 0], ["yes", None], [1.0, 0.0]):
        pq.write_table(pa.table({**ends, "oneway": oneway}), file)
        read = read_edges(file)
        assert read.ways is not None
        assert (read.ways.tolist(), list(read.names)) == ([1, 0], ["1", "2", "3"])
        assert read.lengths is not None
        assert read.lengths.tolist() == [1.234, 2.5]
        assert len(read.notes) == 1
    columns = {
        "access": [None, None], "highway": ["residential", "primary"], "maxspeed": ["50", None],
        "oneway": [None, "-1"], "id": [1, 2], "geometry": [b"\x01", b"\x01"], "u": [10, 20],
        "v": [20, 30], "length": pa.array([12.5, 7.25], pa.float32()),
    }  # fmt: skip
    pq.write_table(pa.table(columns), file)  # as pyrosm writes it
    graph, _ = read_edges(file).to_graph()
    assert graph.to_scipy().toarray().tolist() == [[0, 12.5, 0], [12.5, 0, 0], [0, 7.25, 0]]
    pq.write_table(pa.table({"src": [0.0, 1.0], "dst": [1.0, -2.0]}), file)
    assert edges(file) == "01 1-2"
    tenths = pa.array([1, 2], pa.decimal128(4, 1))
    pq.write_table(pa.table({"src": tenths, "dst": ["a", "b.5"], "km": tenths}), file)
    assert edges(file) == "1a1 2b.52"
    refused = [
        ({"src": [0.5, 1.0], "dst": [1.0, 2.0]}, "column 'src': fractions cannot be vertex names"),
        ({"src": [1, None], "dst": [1, 2]}, "row 2, column 'src': the vertex name is missing"),
        ({"src": ["a"], "dst": ["b"], "km": [None]}, "row 1, column 'km': an empty cell is not a"),
        (
            {"src": ["a"], "dst": [[1, 2]]},
            "column 'dst': list<element: int64> is neither a name nor",
        ),
        (
            {"src": pa.array([], pa.string()), "dst": pa.array([], pa.string())},
            "columns but no rows",
        ),
    ]
    for table, words in refused:
        pq.write_table(pa.table(table), file)
        with pytest.raises(wf.InputError, match=re.escape(words)):
            read_edges(file)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_seen_and_bounded(
    pack: Callable[[bytes], bytes], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(file, pack(b"a,b,1\n" * 200_000))
    assert read_edges(file).tails.size == 200_000
    monkeypatch.setattr(npz, "_HARMLESS", 1 << 20)
    if pack is not bytes:
        with pytest.raises(wf.InputError, match=r"table.csv has [\d,]+ bytes, but unpacks to"):
            read_edges(file)


def test_npz_and_parquet_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], [1.0, 2.5])
    graph.save(tmp_path / "g.npz")
    assert edges(tmp_path / "g.npz") == "011 101 122.5 212.5"
    file = tmp_path / "edges.npz"
    np.savez_compressed(file, src=np.zeros(1 << 18), dst=np.ones(1 << 18))
    with pytest.raises(wf.InputError, match="neither a saved graph nor a sparse matrix"):
        read_edges(file)
    with pytest.raises(wf.InputError, match="is an npz file, not a table"):
        read_labels(file, AB)
    pq.write_table(
        pa.table({"from": ["a"] * 500_000, "to": ["b"] * 500_000}), tmp_path / "e.parquet"
    )
    monkeypatch.setattr(npz, "_HARMLESS", 1 << 10)
    for read in (read_edges, wf.Graph.load):
        with pytest.raises(wf.InputError, match="unpacks to 0"):
            read(file)  # type: ignore[operator]
    with pytest.raises(wf.InputError, match="unpacks to"):
        read_edges(tmp_path / "e.parquet")
    np.savez(file, src=[0, 1], dst=[1, 2])
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("readme.txt", "hello")
    for read in (read_edges, wf.Graph.load):
        with pytest.raises(wf.InputError, match=r"npz holds 'readme.txt', which is not an array"):
            read(file)  # type: ignore[operator]


def test_progress_is_reported_up_to_the_end(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(file, "# long\r\n" + "".join(f"é{i},é{i + 1},{i + 1}\r\n" for i in range(200)))
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(sheet, "OFTEN", 50)
    read_edges(file, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (file.stat().st_size, file.stat().st_size)
    assert told == sorted(told)
    assert len(told) == 5


# ------------------------------------------------------------------ there and back

names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8
).map(lambda text: str(canonical(text)))
rows = st.lists(
    st.tuples(names.filter(bool), names.filter(bool), st.floats(1e-6, 1e6)), min_size=1, max_size=12
)
BY_PLACE = {"from": "1", "to": "2", "length": "3"}


def listed(read: files.EdgeTable) -> list[tuple[str, str, float]]:
    assert read.lengths is not None
    ends = zip(read.tails, read.heads, read.lengths, strict=True)
    return [(read.names[x], read.names[y], float(length)) for x, y, length in ends]


@fixed
@given(rows, st.sampled_from([",", ";", "\t", "|", "parquet"]))
def test_any_names_come_back(
    tmp_path: Path, written: list[tuple[str, str, float]], mark: str
) -> None:
    file = tmp_path / f"edges.{mark}"
    if mark == "parquet":
        columns = map(list, zip(*written, strict=True))
        pq.write_table(pa.table(dict(zip("abc", columns, strict=True))), file)
        assert listed(read_edges(file, BY_PLACE)) == written
    else:
        text = io.StringIO()
        quoted = csv.writer(text, delimiter=mark, quoting=csv.QUOTE_ALL, lineterminator="\n")
        quoted.writerows((tail, head, repr(length)) for tail, head, length in written)
        put(file, text.getvalue())
        read = read_edges(file, BY_PLACE, Style(mark, False, decimal="."))
        # an apostrophe before what a spreadsheet would read as a formula is no part of a name
        plain = [(unmarked(t), unmarked(h), x) for t, h, x in written]
        assert listed(read) == plain


# what a spreadsheet might read as a formula, and what looks like a name so marked
marks = st.text("'=+-@5a", min_size=1, max_size=4)


@fixed
@given(st.lists(st.tuples(marks, marks), min_size=1, max_size=8))
def test_names_that_look_like_formulas_come_back(
    tmp_path: Path, ends: list[tuple[str, str]]
) -> None:
    file = tmp_path / "edges.csv"
    tails, heads = map(list, zip(*ends, strict=True))
    write_table({"from": tails, "to": heads, "length": np.ones(len(ends))}, file)
    assert [row[:2] for row in listed(read_edges(file))] == ends
    known = Names([name for pair in ends for name in pair])
    write_table({"vertex": list(known), "value": np.arange(float(len(known)))}, file)
    found = read_labels(file, known, {"value": "value"}).labels
    assert found is not None
    assert found.vertices.tolist() == list(range(len(known)))


@fixed
@given(
    st.lists(st.floats(1e-4, 1e9), min_size=1, max_size=6),
    st.sampled_from([".", ","]),
    st.sampled_from([";", "\t"]),
)
def test_decimal_marks_come_back_when_told(
    tmp_path: Path, numbers: list[float], decimal: str, mark: str
) -> None:
    english = [f"{number:.4f}" for number in numbers]
    assume(all(float(text) > 0 for text in english))
    lines = [f"a{mark}b{mark}{text.replace('.', decimal)}\n" for text in english]
    read = read_edges(put(tmp_path / "e.csv", "".join(lines)), style=Style(decimal=decimal))
    assert read.lengths is not None
    assert read.lengths.tolist() == [float(text) for text in english]


PIECES = st.sampled_from(
    ["a", "b", "é", "1", "1.5", "1,234", "-1", "1e9", "nan", "yes", "from", "to", "0:06:36", "6:36",
     "length", "oneway", ",", ";", "\t", "|", " ", "\n", "\r", '"', "'", "#", "%", "=", "sep=",
     "\x00", "\ufeff", "\u200b", "\u00a0", "\x1a", "\x1b[2J", "<html", "[{", "c \n", "p sp "]
)  # fmt: skip


@settings(fixed, max_examples=80)
@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "cp1252"]),
    st.sampled_from([None, ".", ","]),
)
def test_any_text_is_a_table_or_an_input_error(
    tmp_path: Path, pieces: list[str], encoding: str, decimal: str | None
) -> None:
    file = put(tmp_path / "edges.csv", "".join(pieces).encode(encoding, errors="replace"))
    try:
        read = read_edges(file, style=Style(decimal=decimal))
        graph, _ = read.to_graph()
    except wf.InputError:
        return
    assert graph.num_vertices == len(read.names)
    assert all(str(name).strip() and "\n" not in str(name) for name in read.names)


def test_the_library_names_no_options_of_the_command_line() -> None:
    for module in Path(files.__file__).parent.glob("*.py"):
        assert not re.search(r"--[a-z]", module.read_text(encoding="utf-8")), module


def test_durations_in_parquet_are_minutes(tmp_path: Path) -> None:
    file, times = tmp_path / "edges.parquet", [timedelta(minutes=5), timedelta(hours=30, seconds=6)]
    for unit in ("s", "ms", "us"):
        lengths = pa.array(times, pa.duration(unit))
        pq.write_table(pa.table({"from": ["a", "b"], "to": ["b", "c"], "length": lengths}), file)
        assert read_edges(file).lengths.tolist() == [5.0, 1800.1]


@pytest.mark.parametrize("encoding", ["utf-16", "undefined"])
def test_an_encoding_that_does_not_fit_is_refused(encoding: str, file: Path) -> None:
    file.write_bytes("a,b,1\n".encode("utf-16-le"))
    with pytest.raises(wf.InputError, match="not a text file"):
        read_edges(file, None, Style(encoding=encoding))
