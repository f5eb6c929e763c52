"""`wayfield plan` on files that users bring, good ones and bad ones."""

from __future__ import annotations

import csv
import errno
import gzip
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wayfield as wf
from shell import wayfield
from wayfield.advice import Answer

pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")

ROADS = '''\
src,dst,cost (m),lanes,kind
Genève,Lausanne,62,2,highway
Lausanne,"La Chaux-de-Fonds",80,1,road
Lausanne,Bern,100,2,highway
La Chaux-de-Fonds,Bern,70,1,road
Bern,"Zürich ""HB""",125,3,highway
'''
KNOWN = 'node,v\nGenève,287\n"Zürich ""HB""",0\n'
GOAL = 'Zürich "HB"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text(ROADS, encoding="utf-8")
    Path("known.csv").write_text(KNOWN, encoding="utf-8")
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def planned(*words: object) -> Any:
    """The JSON of a plan that must succeed and write nothing."""
    answer = wayfield("plan", *words, "--json", "--no-files")
    assert answer.code == 0, answer.err
    return answer.json


def refused(*words: object) -> str:
    """The one line that a command says before it refuses; nothing may be left behind."""
    before = sorted(Path.cwd().rglob("*"))
    answer = wayfield(*words)
    assert answer.code == 2
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert sorted(Path.cwd().rglob("*")) == before
    return answer.err.removeprefix("wayfield: ").strip()


def refused_edges(text: str, *words: object) -> str:
    return refused("plan", write("edges.csv", text), "known.csv", "--goal", GOAL, *words)


def refused_labels(text: str, *words: object) -> str:
    return refused("plan", "roads.csv", write("labels.csv", text), "--goal", GOAL, *words)


# ------------------------------------------------------------------ what it says and writes


@pytest.mark.usefixtures("folder")
def test_summary_names_what_was_read_and_found() -> None:
    answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, "--start", "Genève")
    assert answer.code == 0
    said = {line[:9].strip(): line[10:] for line in answer.out.splitlines()}
    guessed = "from = 'src', to = 'dst', length = 'cost (m)'; 5 columns"
    assert guessed in answer.out
    assert "header found" in answer.out
    assert said["graph"] == "5 vertices, 5 edges, lengths 62 to 125; in one piece"
    assert said["labels"].startswith("2 (40 % of the vertices), values 0 to 287")
    assert "converged" in said["method"]
    assert said["plan"] == "4 of 4 starts reach the goal (100 %)"
    route = f"Genève → Lausanne → Bern → “{GOAL}”: cost 287, 3 steps"
    assert said["route"].startswith(f"{route}; tolerates errors below ")
    assert said["route"].endswith(", weakest at Lausanne")
    assert "weakest at Lausanne (" in said["margin"]
    assert "wayfield-plan/values.csv" in said["wrote"].replace("\\", "/")
    assert said["advice"]


@pytest.mark.usefixtures("folder")
def test_values_are_those_of_the_library() -> None:
    words = ("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", "made/here")
    assert wayfield(*words, pictures=True).code == 0
    names = ["Genève", "Lausanne", "La Chaux-de-Fonds", "Bern", GOAL]
    graph = wf.Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 3, 4], [62, 80, 100, 70, 125])
    field = wf.extend(graph, wf.Labels([0, 4], [287.0, 0.0]), wf.AMLE())
    moves = wf.plan(graph, field.values, 4)
    table = pq.read_table("made/here/values.parquet").to_pydict()
    place = [table["name"].index(name) for name in names]
    assert [table["value"][i] for i in place] == field.values.tolist()
    assert [table["lower"][i] for i in place] == field.lower.tolist()  # type: ignore[union-attr]
    assert [table["upper"][i] for i in place] == field.upper.tolist()  # type: ignore[union-attr]
    assert [table["successor"][i] for i in place] == [names[y] for y in moves.successor]
    assert [table["cost"][i] for i in place] == moves.cost.tolist()
    assert [table["labelled"][i] for i in place] == [True, False, False, False, True]
    assert set(table["outcome"]) == {"reached"}
    with Path("made/here/values.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == table["name"]
    assert [float(row["value"]) for row in rows] == table["value"]
    assert Path("made/here/plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("folder")
def test_routes_are_written_step_by_step() -> None:
    words = ("--start", "La Chaux-de-Fonds", "--start", "Genève", "--out", "out")
    assert wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, *words).code == 0
    with Path("out/routes.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["start"], row["name"], float(row["cost"])) for row in csv.DictReader(file)]
    assert rows[:3] == [
        ("La Chaux-de-Fonds", "La Chaux-de-Fonds", 0.0),
        ("La Chaux-de-Fonds", "Bern", 70.0),
        ("La Chaux-de-Fonds", GOAL, 195.0),
    ]
    assert rows[-1] == ("Genève", GOAL, 287.0)


@pytest.mark.usefixtures("folder")
def test_json_is_all_there_is_on_standard_output() -> None:
    answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, "--json", "--error", 1)
    facts = answer.json
    assert facts["graph"]["vertices"] == 5
    assert facts["plan"]["success"] == 1.0
    assert facts["certified"]["error"] == 1.0
    assert facts["bracket_width"] < 1e-9
    assert [Path(file).name for file in facts["files"]] == [
        "values.csv",
        "values.parquet",
        "plan.png",
    ]
    assert all(Path(file).exists() for file in facts["files"])


@pytest.mark.usefixtures("folder")
def test_states_that_cannot_reach_are_said_first() -> None:
    write("roads.csv", ROADS + "Lugano,Chiasso,25,2,highway\n")
    answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL)
    assert answer.code == 0
    read = ("edges", "labels", "note")
    body = [line for line in answer.out.splitlines() if not line.startswith(read)]
    lost = "2 of 7 states cannot reach the goal at all: Lugano, Chiasso"
    assert body[0] == f"lost      {lost}"
    table = pq.read_table("wayfield-plan/values.parquet").to_pydict()
    at = table["name"].index("Lugano")
    assert table["value"][at] is None
    assert table["outcome"][at] == "unreachable"


@pytest.mark.usefixtures("folder")
def test_loops_where_nothing_can_arrive_are_not_the_plans() -> None:
    write("apart.csv", ROADS + "Lugano,Chiasso,25,2,highway\n")
    write("known.csv", KNOWN + "Lugano,300\nChiasso,320\n")
    found = planned("apart.csv", "known.csv", "--goal", GOAL)
    assert found["graph"]["cannot_reach_goal"] == 2
    assert found["graph"]["without_value"] == 0
    assert found["plan"]["loop_count"] == 0
    assert found["plan"]["success"] == 1.0


@pytest.mark.usefixtures("folder")
def test_one_way_streets() -> None:
    both = planned("roads.csv", "known.csv", "--goal", GOAL)
    one = planned("roads.csv", "known.csv", "--goal", GOAL, "--directed")
    assert both["graph"]["strong_components"] == 1
    assert one["graph"]["strong_components"] == 5
    assert one["graph"]["directed"]
    assert one["plan"]["success"] == 1.0
    complaint = refused(
        "plan", "roads.csv", "known.csv", "--goal", GOAL, "--directed", "-m", "harmonic"
    )
    assert "not defined on directed graphs: use --method amle" in complaint


PIT = "0 1\n1 2\n2 3\n3 4\n"
"""A path whose label 1 at vertex 3 makes a false sink between it and the goal."""


@pytest.mark.usefixtures("folder")
def test_loops_are_named_and_repaired() -> None:
    write("path.txt", PIT)
    write("pit.txt", "0 0\n2 5\n3 1\n")
    stuck = wayfield("plan", "path.txt", "pit.txt", "--goal", 0, "--start", 4, "--out", "out")
    assert stuck.code == 1  # the start that was asked for does not arrive
    assert "3 → 4 → 3" in stuck.out
    assert "loop!" in stuck.out
    assert "sinks     1 label is no higher than any neighbour" in stuck.out
    assert "drop it (--drop-false-sinks) or lift the field (--lift)" in stuck.out
    table = pq.read_table("out/values.parquet").to_pydict()
    assert table["outcome"] == ["reached", "reached", "loop", "loop", "loop"]
    assert table["cost"][3] is None
    safe = planned("path.txt", "pit.txt", "--goal", 0, "--start", 4, "--lift")
    assert safe["plan"]["success"] == 1.0
    assert [state["name"] for state in safe["plan"]["raised"]["states"]] == ["3", "4"]
    assert safe["labels"]["false_sinks"] == [{"name": "3", "value": 1.0}]
    assert safe["routes"][0]["path"] == ["4", "3", "2", "1", "0"]


@pytest.mark.usefixtures("folder")
def test_repaired_files_hold_the_field_that_is_walked_on() -> None:
    graph = wf.grid_graph(wf.load_layout("medium"), 4)
    labels = wf.sample_labels(graph, 0, 0.02)
    graph.save("maze.npz")
    pq.write_table(pa.table({"vertex": labels.vertices, "value": labels.values}), "known.parquet")
    words = ("plan", "maze.npz", "known.parquet", "--goal", 0, "--method", "harmonic", "--lift")
    answer = wayfield(*words, "--out", "out", "--json")
    assert answer.code == 0, answer.err
    table = pq.read_table("out/values.parquet").to_pydict()
    order = np.argsort(table["name"])
    value, raised = (np.array(table[name])[order] for name in ("value", "raised"))
    bare = wf.extend(graph, labels, wf.Harmonic())
    assert wf.plan(graph, bare, 0).success < 1.0
    assert wf.plan(graph, value, 0).success == 1.0
    assert raised.max() > 0
    assert value - raised == pytest.approx(bare.values)
    assert answer.json["plan"]["raised"]["count"] == (raised > 0).sum()
    with Path("out/values.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["name"]))
    assert np.array_equal([float(row["value"]) for row in rows], value)
    assert np.array_equal([float(row["raised"]) for row in rows], raised)


@pytest.mark.usefixtures("folder")
def test_false_sinks_are_dropped_and_named() -> None:
    write("path.txt", PIT)
    write("pit.txt", "0 0\n2 5\n3 1\n")
    words = ("path.txt", "pit.txt", "--goal", 0, "--drop-false-sinks")
    found = planned(*words)
    assert found["plan"]["success"] == 1.0
    assert found["labels"]["dropped"] == ["3"]
    assert found["labels"]["count"] == 2
    told = wayfield("plan", *words, "--no-files").out
    assert "dropped   1 label: 3\n" in told


@pytest.mark.usefixtures("folder")
def test_a_prior_is_the_graphs_own_distances() -> None:
    write("path.txt", PIT)
    write("two.txt", "0 0\n2 4\n")
    words = ("path.txt", "two.txt", "--goal", 0, "--start", 4, "--prior")
    wayfield("plan", *words, "distance", "--out", "out")
    assert pq.read_table("out/values.parquet")["value"].to_pylist() == [0.0, 2.0, 4.0, 5.0, 6.0]
    assert refused("plan", *words, "a.csv") == "--prior must be distance, got 'a.csv'"


@pytest.mark.usefixtures("folder")
def test_lengths_and_labels_in_different_units() -> None:
    write("path.txt", PIT)
    write("sixty.txt", "0 0\n2 120\n4 240\n")
    words = ("path.txt", "sixty.txt", "--goal", 0)
    offered = planned(*words)
    assert offered["labels"]["per_graph_distance"] == 60.0
    assert offered["advice"].endswith("are both in the same unit? If not, pass --length-unit 60")
    taken = planned(*words, "--length-unit", 60)
    assert taken["graph"]["largest_length"] == 60.0
    assert taken["labels"]["per_graph_distance"] == 1.0
    assert "--length-unit must be positive" in refused("plan", *words, "--length-unit", -1)


@pytest.mark.usefixtures("folder")
def test_labels_left_out_tell_whether_they_help() -> None:
    write("path.txt", PIT)
    write("known.txt", "0 0\n1 1\n2 2\n4 4\n")
    found = planned("path.txt", "known.txt", "--goal", 0)["held_out"]
    assert found["labels"] == 3
    assert found["distance_error"] == 0.0
    assert found["labels_help"] is False
    told = wayfield("plan", "path.txt", "known.txt", "--goal", 0, "--no-files").out
    assert f"held out  {found['text']}\n" in told
    compared = "`wayfield compare path.txt known.txt --goal 0` tries other fields."
    advice = "Use the graph distance: this field does not predict labels left out clearly better."
    assert f"advice    {advice} {compared}\n" in told
    assert planned("path.txt", "known.txt", "--goal", 0, "--folds", 0)["held_out"] is None
    complaint = refused("plan", "path.txt", "known.txt", "--goal", 0, "--folds", 1)
    assert complaint == "--folds must be 0, or at least 2"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("word", "method"),
    [
        ("amle", "AMLE()"),
        ("amle-cost", "AMLE(fill='cost')"),
        ("harmonic", "Harmonic()"),
        ("p=8", "PLaplacian(p=8.0)"),
        ("nearest", "NearestLabel()"),
        ("mcshane", "McShane(lipschitz=None)"),
        ("whitney", "Whitney(lipschitz=None)"),
    ],
)
def test_every_method_has_a_word(word: str, method: str) -> None:
    assert planned("roads.csv", "known.csv", "--goal", GOAL, "--method", word)["method"] == method


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("harmonc", "unknown method 'harmonc'; did you mean harmonic?"),
        ("p=eight", "'eight' is not a number"),
        ("p=1", "p"),
        ("zzz", "known are amle"),
    ],
)
def test_unknown_methods(word: str, complaint: str) -> None:
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--method", word)
    assert complaint in refused("plan", *words)


MINE = """
import numpy as np
from wayfield import AMLE

def half(graph, labels):
    return np.where(labels.mask(graph), 0.0, 1.0) + labels.span / 2

class Object:
    name = "my object"

    def solve(self, problem):
        return half(problem.graph, problem.labels)

amle = AMLE(fill="cost")
number = 3

def nothing(graph, labels):
    return None
"""


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the working folder, which is not on the path."""
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(folder)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "mine_of_the_tests", raising=False)
    write("mine_of_the_tests.py", MINE)
    return "mine_of_the_tests"


def test_methods_of_ones_own(module: str) -> None:
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--method")
    for name, method in (("half", f"{module}:half"), ("Object", "my object")):
        told = planned(*words, f"{module}:{name}")
        assert told["method"] == method
        assert told["status"] == "solved, without a bracket"
        assert told["labels"]["missed_count"] == 2
        assert told["labels"]["missed_most"] == 287 / 2
        assert told["residual"] is None
    assert planned(*words, f"{module}:amle")["method"] == "AMLE(fill='cost')"
    told = wayfield("plan", *words, f"{module}:half", "--no-files").out
    assert "missed    the field differs from 2 of 2 labels, by up to 144\n" in told
    chosen = ("-m", f"{module}:half", "-m", f"{module}:Object", "-m", "harmonic")
    rows = wayfield("compare", *words[:-1], *chosen, "--json").json["rows"]
    names = [row["method"] for row in rows]
    assert names == ["graph distance", f"{module}:half", f"{module}:Object", "harmonic"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("{}:none", "method '{0}:none': module '{0}' has no attribute 'none'"),
        ("{}:number", "method '{}:number' must be an extension such as AMLE(), a function"),
        ("{}:nothing", "{}:nothing: values must be an array of 5 numbers, got None"),
        ("{}.py:half", "write {}:half"),
        ("no_such_module:half", "method 'no_such_module:half': No module named 'no_such_module'"),
        (":half", "method ':half': Empty module name"),
    ],
)
def test_methods_of_ones_own_that_are_none(module: str, name: str, complaint: str) -> None:
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--method", name.format(module))
    assert complaint.format(module) in refused("plan", *words)


@pytest.mark.usefixtures("folder")
def test_positions_beside_the_labels_or_in_a_file_of_their_own() -> None:
    n = 5100  # too many for a picture without positions
    edges = "".join(f"{i} {i + 1}\n" for i in range(n - 1))
    write("line.txt", edges)
    write("two.txt", f"0 0\n{n - 1} {n - 1}\n")
    words = ("line.txt", "two.txt", "--goal", 0)
    bare = wayfield("plan", *words, "--out", "bare")
    assert "no picture: the graph has over 5,000 vertices, and no positions" in bare.out
    assert not Path("bare/plan.png").exists()
    places = "".join(f"{i},{i % 20},{i // 20}\n" for i in range(n))
    write("places.csv", "id,x,y\n" + places)
    assert wayfield("plan", *words, "--positions", "places.csv", "--out", "own").code == 0
    assert Path("own/plan.png").exists()
    rows = "".join(f"{i},{i % 20},{i // 20},{i if i in (0, n - 1) else ''}\n" for i in range(n))
    write("all.csv", "id,x,y,value\n" + rows)
    one = wayfield("plan", "line.txt", "all.csv", "--goal", 0, "--out", "one")
    assert one.code == 0
    assert "5,098 rows without a value, so without a label" in one.out
    assert Path("one/plan.png").exists()
    short = write("short.csv", "id,x,y\n" + "".join(places.splitlines(keepends=True)[:-1]))
    complaint = refused("plan", *words, "--positions", short)
    assert complaint == "short.csv has no position for 1 of 5,100 vertices: '5099' is the first"


# ------------------------------------------------------------------ the many ways to write a table


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("style", ["semicolon", "tab", "blank", "crlf", "mac", "bom", "utf-16"])
def test_odd_text_files_say_the_same(style: str) -> None:
    def odd(text: str) -> bytes:
        rows = list(csv.reader(text.splitlines()))
        mark = {"semicolon": ";", "tab": "\t", "blank": "  "}.get(style, ",")
        cells = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
        end = {"crlf": "\r\n", "mac": "\r"}.get(style, "\n")
        made = "# a comment\n\n" + "".join(mark.join(row) + "\n" for row in cells)
        made = made.replace("\n", end)
        return made.encode({"bom": "utf-8-sig", "utf-16": "utf-16"}.get(style, "utf-8"))

    plain = planned("roads.csv", "known.csv", "--goal", GOAL)
    Path("edges.txt").write_bytes(odd(ROADS))
    Path("labels.txt").write_bytes(odd(KNOWN))
    found = planned("edges.txt", "labels.txt", "--goal", GOAL)
    for fact in ("graph", "labels", "plan", "margin"):
        assert found[fact] == plain[fact]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas(mark: str) -> None:
    write("roads.csv", ROADS.replace(",", mark).replace(f"62{mark}", f"62,5{mark}"))
    write("known.csv", f"node{mark}v\nGenève{mark}287,25\nBern{mark}125\n")
    found = planned("roads.csv", "known.csv", "--goal", "Bern")
    assert found["labels"]["largest"] == 287.25
    assert found["graph"]["least_length"] == 62.5


@pytest.mark.usefixtures("folder")
def test_marks_in_numbers_are_settled_by_options() -> None:
    edges = write("e.csv", "from;to;m\na;b;1.234\nb;c;500\nc;d;12.000\n")
    labels = write("l.csv", "node;v\na;13.734\nd;0\n")
    words = (edges, labels, "--goal", "d")
    complaint = refused("plan", *words)
    assert "1.234 may be 1.234 or 1234; pass --decimal . for the first" in complaint
    found = planned(*words, "--decimal", ".")
    assert found["graph"]["largest_length"] == 500.0
    assert found["labels"]["largest"] == 13.734
    assert "'1.234' is not a number with a decimal comma" in refused(
        "plan", *words, "--decimal", "comma"
    )
    assert refused("plan", *words, "--decimal", ":").startswith("--decimal must be point or comma")


@pytest.mark.usefixtures("folder")
def test_a_column_of_ways_makes_the_graph_directed() -> None:
    streets = "u,v,length,oneway,maxspeed\na,b,1,yes,50\nb,c,1,no,50\na,c,5,-1,30\n"
    words = (write("osm.csv", streets), write("l.csv", "node,v\na,2\nc,0\n"), "--goal", "c")
    found = planned(*words)
    assert found["graph"]["directed"]
    assert found["graph"]["edges"] == 4  # a to b, b to c and back, c to a
    assert found["input"]["notes"] == [
        "osm.csv: by 'oneway' 2 of 3 edges one-way, so the graph is directed; "
        "--oneway none ignores the column",
        "osm.csv: not used: 'maxspeed'",
    ]
    assert found["input"]["edges"]["read_as"].startswith(
        "from = 'u', to = 'v', length = 'length', oneway = 'oneway'; 5 columns"
    )
    ignored = planned(*words, "--oneway", "none")
    assert not ignored["graph"]["directed"]
    assert ignored["input"]["notes"] == ["osm.csv: not used: 'oneway', 'maxspeed'"]
    arcs = planned(*words, "--directed")
    assert arcs["graph"]["edges"] == 3
    assert "osm.csv: every row is an arc by --directed, whatever its way" in arcs["input"]["notes"]
    complaint = refused("plan", *words, "--directed", "--oneway", "oneway")
    assert complaint.startswith("--directed and --oneway exclude each other")
    assert "Harmonic is not defined on directed graphs" in refused("plan", *words, "-m", "harmonic")
    compared = wayfield("compare", *words, "-m", "amle", "--json")
    assert compared.json["graph"].startswith("Graph(3 vertices, 4 arcs, directed")
    assert "by 'oneway' 2 of 3 edges one-way" in compared.err


@pytest.mark.usefixtures("folder")
def test_packed_files() -> None:
    plain = planned("roads.csv", "known.csv", "--goal", GOAL)
    Path("roads.csv.gz").write_bytes(gzip.compress(ROADS.encode()))
    packed = planned("roads.csv.gz", "known.csv", "--goal", GOAL)
    assert packed["graph"] == plain["graph"]


@pytest.mark.usefixtures("folder")
def test_latin_1_is_read_with_a_remark() -> None:
    Path("roads.csv").write_text(ROADS, encoding="latin-1")
    notes = planned("roads.csv", "known.csv", "--goal", GOAL)["input"]["notes"]
    assert notes[0] == (
        "roads.csv, row 2: byte 0xe8 is not UTF-8, so it is read as Windows-1252; --encoding names "
        "another encoding"
    )
    Path("known.csv").write_text(KNOWN, encoding="latin-1")
    words = ("roads.csv", "known.csv", "--goal", GOAL)
    assert planned(*words, "--encoding", "latin-1")["plan"]["success"] == 1.0
    assert "unknown encoding 'klingon'" in refused("plan", *words, "--encoding", "klingon")


@pytest.mark.usefixtures("folder")
def test_parquet_with_whole_numbers_for_names() -> None:
    arrays = {"source": [10, 20, 30], "target": [20, 30, 40], "weight": [1.0, 2.0, 3.0]}
    pq.write_table(pa.table(arrays), "edges.parquet")
    write("labels.csv", "10,6\n40,0\n")
    answer = wayfield("plan", "edges.parquet", "labels.csv", "--goal", 40, "--out", "out")
    assert answer.code == 0, answer.err
    table = pq.read_table("out/values.parquet")
    assert table.schema.field("name").type == pa.int64()
    assert sorted(table["name"].to_pylist()) == [10, 20, 30, 40]
    assert sorted(table["value"].to_pylist()) == [0.0, 3.0, 5.0, 6.0]


@pytest.mark.usefixtures("folder")
def test_saved_graphs_and_sparse_matrices() -> None:
    from scipy import sparse

    graph = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], directed=True)
    graph.save("graph.npz")
    sparse.save_npz("matrix.npz", graph.to_scipy())
    write("labels.csv", "3,0\n0,6\n")
    for file in ("graph.npz", "matrix.npz"):
        found = planned(file, "labels.csv", "--goal", 3)
        assert found["graph"]["directed"]
        assert found["graph"]["edges"] == 3
        assert found["plan"]["success"] == 1.0


@pytest.mark.usefixtures("folder")
def test_columns_may_be_named() -> None:
    write("odd.csv", "alpha,beta,gamma,delta\nx,1,a,b\nx,2,b,c\n")
    write("odd-labels.csv", "n,foo,bar\na,1,3\nc,2,0\n")
    words: tuple[object, ...] = ("odd.csv", "odd-labels.csv", "--goal", "c")
    columns = ("--tail", "gamma", "--head", 4, "--length", "beta")
    found = planned(*words, *columns, "--vertex", "n", "--value", "bar")
    assert found["input"]["edges"]["read_as"].startswith(
        "from = 'gamma', to = 'delta', length = 'beta'"
    )
    assert found["labels"]["largest"] == 3.0
    assert found["graph"]["largest_length"] == 2.0


@pytest.mark.usefixtures("folder")
def test_letters_are_no_header() -> None:
    write("letters.csv", "a,b\nb,c\nc,d\n")
    write("ends.csv", "a,3\nd,0\n")
    found = planned("letters.csv", "ends.csv", "--goal", "d")
    assert found["graph"]["vertices"] == 4
    assert "no header" in found["input"]["edges"]["read_as"]
    assert "every edge of length 1" in found["input"]["edges"]["read_as"]
    cut = planned("letters.csv", "ends.csv", "--goal", "d", "--header", "--start", "b")
    assert cut["graph"]["vertices"] == 3


@pytest.mark.usefixtures("folder")
def test_loops_and_parallels_are_told() -> None:
    rows = "Bern,Bern,5,1,x\nBern,Lausanne,90,1,x\n"
    found = planned(write("more.csv", ROADS + rows), "known.csv", "--goal", GOAL)
    assert found["input"]["notes"] == [
        "more.csv: not used: 'lanes', 'kind'",
        "1 self-loop dropped",
        "1 parallel edge of different length: the shortest is kept",
        "if costs depend on the direction, pass --directed",
    ]
    assert found["graph"]["edges"] == 5


@pytest.mark.usefixtures("folder")
def test_names_are_compared_with_composed_accents_and_without_space_around() -> None:
    write("known.csv", "node,v\n Gene\u0300ve ,287\n" + KNOWN.splitlines()[2] + "\n")
    assert planned("roads.csv", "known.csv", "--goal", GOAL)["labels"]["count"] == 2


@pytest.mark.usefixtures("folder")
def test_quotes_may_follow_a_space() -> None:
    spaced = ROADS.replace(',"', ', "').replace(",6", ", 6")
    assert spaced != ROADS
    found = planned(write("spaced.csv", spaced), "known.csv", "--goal", GOAL)
    assert found["graph"] == planned("roads.csv", "known.csv", "--goal", GOAL)["graph"]


@pytest.mark.usefixtures("folder")
def test_an_encoding_is_for_the_files_that_need_one() -> None:
    Path("roads.csv").write_text(ROADS, encoding="latin-1")
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--encoding", "cp1252")
    assert planned(*words)["plan"]["success"] == 1.0  # known.csv is UTF-8


@pytest.mark.usefixtures("folder")
def test_ways_that_differ_call_for_a_directed_graph() -> None:
    hill = write("hill.csv", "from,to,cost\na,b,3\nb,a,1\n")
    ends = write("ends.csv", "a,0\nb,1\n")
    assert "pass --directed" in planned(hill, ends, "--goal", "a")["input"]["notes"][-1]
    assert planned(hill, ends, "--goal", "a", "--directed")["input"]["notes"] == []


@pytest.mark.usefixtures("folder")
def test_names_are_never_markup() -> None:
    names = ["$x_1", "$\\frac{1", "[bold]", "駅", "<b>", "a\\b", "{x}"]
    write("odd.csv", "from,to,cost\n" + "".join(f"{name},b,3\n" for name in names))
    write("ends.csv", "name,v\nb,0\n" + "".join(f"{name},3\n" for name in names))
    starts = [word for name in names for word in ("--start", name)]
    answer = wayfield("plan", "odd.csv", "ends.csv", "--goal", "b", *starts, pictures=True)
    assert answer.code == 0, answer.err
    routes = [line for line in answer.out.splitlines() if line.startswith("route ")]
    assert len(routes) == len(names)
    assert all(name in route for name, route in zip(names, routes, strict=True))


@pytest.mark.usefixtures("folder")
def test_one_vertex_and_one_edge() -> None:
    write("one.csv", "from,to,cost\na,a,3\n")
    write("goal.csv", "a,0\n")
    answer = wayfield("plan", "one.csv", "goal.csv", "--goal", "a")
    assert answer.code == 0, answer.err
    assert "no other state can reach the goal" in answer.out
    write("two.csv", "a,b\n")
    assert wayfield("plan", "two.csv", "goal.csv", "--goal", "a").code == 0


@pytest.mark.usefixtures("folder")
def test_files_of_an_earlier_run_do_not_stay() -> None:
    words = ("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", "out")
    Path("out").mkdir()
    Path("out/notes.txt").touch()
    first = wayfield(*words, "--start", "Genève")
    assert "removed" not in first.out
    again = wayfield(*words)
    told = [line for line in again.out.splitlines() if line.startswith("removed")]
    assert told == [f"removed   {Path('out/routes.csv')}, of an earlier run"]
    left = sorted(file.name for file in Path("out").iterdir())
    assert left == [".wayfield.json", "notes.txt", "plan.png", "values.csv", "values.parquet"]
    assert wayfield(*words, "--json").json["removed"] == []


@pytest.mark.usefixtures("folder")
def test_files_that_look_like_ours_stay_where_no_run_has_been() -> None:
    Path("out").mkdir()
    Path("out/routes.csv").write_text("mine", encoding="utf-8")
    assert wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", "out").code == 0
    assert Path("out/routes.csv").read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["values.csv", "values.parquet", "routes.csv", "plan.png"])
def test_files_of_others_are_not_replaced(name: str) -> None:
    write(name, "mine")
    words = ("plan", "roads.csv", "known.csv", "--goal", GOAL, "--start", "Bern", "--out", ".")
    complaint = refused(*words)
    assert complaint.startswith(f"{name} was not written by wayfield, and stays as it is")
    assert Path(name).read_text(encoding="utf-8") == "mine"
    assert wayfield(*words, "--force").code == 0
    assert Path(name).read_bytes() != b"mine"
    assert wayfield(*words).code == 0
    with Path(name).open("ab") as file:
        file.write(b"a remark")
    assert refused(*words).startswith(f"{name} has changed since it was written by wayfield")


@pytest.mark.usefixtures("folder")
def test_a_full_disk_does_not_take_the_result_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("wayfield.graphs.tables.write_table", full)
    words = ("plan", "roads.csv", "known.csv", "--goal", GOAL, "--start", "Genève", "--out", "out")
    answer = wayfield(*words)
    assert answer.code == 1
    assert "route     Genève → Lausanne" in answer.out
    assert "wrote     nothing: No space left on device (out)" in answer.out
    assert not Path("out").exists()

    def slow(_: object, path: Path) -> None:
        path.touch()
        write("out/values.csv", "theirs")

    monkeypatch.setattr("wayfield.graphs.tables.write_table", slow)
    answer = wayfield(*words)
    assert answer.code == 1
    assert "route     Genève → Lausanne" in answer.out
    assert f"nothing: {Path('out/values.csv')} was not written by wayfield" in answer.out
    assert Path("out/values.csv").read_text(encoding="utf-8") == "theirs"
    Path("out/values.csv").unlink()
    monkeypatch.setattr("wayfield.graphs.tables.write_table", full)
    found = wayfield(*words, "--json")
    assert found.code == 1
    assert found.json["not_written"] == "No space left on device (out)"
    assert found.json["files"] == []


@pytest.mark.usefixtures("folder")
def test_names_do_not_command_the_terminal() -> None:
    name = "\x1b[2J\x9b31m\u202eevil"
    shown = r"\x1b[2J\x9b31m\u202eevil"
    write("odd.csv", f"from,to,cost\n{name},b,3\n")
    write("ends.csv", f"name,v\n{name},0\nb,3\n")
    words = ("plan", "odd.csv", "ends.csv", "--start", "b", "--goal")
    answer = wayfield(*words, name)
    assert answer.code == 0
    assert f"goal “{shown}”" in answer.out
    found = wayfield(*words, name, "--json")
    assert found.json["goal"] == name
    for text in (answer.out, found.out, wayfield(*words, f"{name}!").err):
        assert not set(name[:1] + name[4] + name[8]) & set(text)


@pytest.mark.usefixtures("folder")
def test_formulas_are_not_written_into_tables() -> None:
    name = "=cmd|' /C calc'!A0"
    write("odd.csv", f'from,to,cost\n"{name}",b,3\n')
    write("ends.csv", f'name,v\n"{name}",0\nb,3\n')
    words = ("odd.csv", "ends.csv", "--goal", name, "--start", "b", "--out", "out")
    assert wayfield("plan", *words).code == 0
    for file in ("values.csv", "routes.csv"):
        with Path("out", file).open(encoding="utf-8", newline="") as text:
            cells = {cell for row in csv.reader(text) for cell in row}
        assert "'" + name in cells
        assert name not in cells
    assert name in pq.read_table("out/values.parquet")["name"].to_pylist()


@pytest.mark.usefixtures("folder")
def test_everything_is_checked_before_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr("wayfield.cli.warmup.warm_up", compiled)
    assert "'x' is not a number" in refused_edges("from,to,cost\na,b,x\n")
    assert "is not a vertex" in refused_labels("node,v\nNowhere,1\n")
    words = ("roads.csv", "known.csv", "--goal", GOAL)
    assert "--start 'Rome'" in refused("plan", *words, "--start", "Rome")
    assert "--goal 'Rome'" in refused("compare", *words[:3], "Rome")
    assert "goal 9999" in refused("maze", "umaze", "--goal", "9999")
    assert "start 9999" in refused("maze", "umaze", "--start", "9999")
    assert "refinement" in refused("maze", "umaze", "--refinement", "0")
    assert "Harmonic is not defined" in refused("maze", "teleport", "--method", "harmonic")
    write("field.png", "mine")
    assert "field.png was not written" in refused("maze", "umaze", "--picture", "field.png")
    assert "must end in .png" in refused("maze", "umaze", "--picture", "field.xyz")
    assert "no folder" in refused("maze", "umaze", "--picture", "no/field.png")
    assert "unknown character" in refused("compare", "--maze", write("m.txt", "#x#"))


@pytest.mark.usefixtures("folder")
def test_results_do_not_overwrite_what_they_are_made_from() -> None:
    Path("roads.csv").rename("routes.csv")
    complaint = refused("plan", "routes.csv", "known.csv", "--goal", GOAL, "--out", ".")
    assert complaint == "the results would overwrite routes.csv: choose another --out folder"
    assert Path("routes.csv").read_text(encoding="utf-8") == ROADS
    assert planned("routes.csv", "known.csv", "--goal", GOAL, "--out", ".")["files"] == []


@pytest.mark.usefixtures("folder")
def test_starts_that_cannot_reach_the_goal() -> None:
    write("roads.csv", ROADS + "Lugano,Chiasso,25,2,highway\n")
    words = ("plan", "roads.csv", "known.csv", "--goal", GOAL, "--start", "Lugano", "--no-files")
    answer = wayfield(*words)
    assert answer.code == 1
    assert "route     Lugano: cannot reach the goal\n" in answer.out
    (route,) = wayfield(*words, "--json").json["routes"]
    assert route["outcome"] == "unreachable"
    assert route["cost"] is None
    assert route["steps"] is None


@pytest.mark.usefixtures("folder")
def test_notes_of_the_files_are_said() -> None:
    write("odd.csv", "from,to,minutes,km\na,b,1,2\n#b,c,1,2\n")
    write("ends.csv", "node,v\na,0\nb,1\n")
    answer = wayfield("plan", "odd.csv", "ends.csv", "--goal", "a", "--no-files")
    told = [line for line in answer.out.splitlines() if line.startswith("note")]
    assert told[0].startswith("note      odd.csv: 1 line skipped below the first row")
    assert told[1].startswith("note      odd.csv: 'km' is the length, not 'minutes'; ")


@pytest.mark.usefixtures("folder")
def test_one_is_not_many() -> None:
    write("one.csv", "from,to,length\na,b,2\n")
    write("ends.csv", "node,v\na,0\n")
    answer = wayfield("plan", "one.csv", "ends.csv", "--goal", "a", "--no-files")
    assert "graph     2 vertices, 1 edge, of length 2; in one piece\n" in answer.out
    assert "labels    1 (50 % of the vertices), value 0; goal a\n" in answer.out
    write("alone.csv", "a,a\n")
    answer = wayfield("plan", "alone.csv", "ends.csv", "--goal", "a", "--no-files")
    assert "graph     1 vertex, 0 edges" in answer.out
    write("two.csv", "from,to,length\na,b,2\nb,c,2\n")
    answer = wayfield("plan", "two.csv", "ends.csv", "--goal", "a", "--no-files", "--directed")
    assert "graph     3 vertices, 2 arcs (directed), all of length 2; " in answer.out


@pytest.mark.usefixtures("folder")
def test_places_are_said_with_their_file() -> None:
    write("path.csv", "a,b,1\n")
    write("ends.csv", "node,v\na,0\nb,1\n")
    write("where.csv", "id,x,y\na,0,0\nb,1,0\n")
    words = ("path.csv", "ends.csv", "--goal", "a", "--positions", "where.csv", "--no-files")
    assert "places    where.csv: vertex = 'id', x = 'x'" in wayfield("plan", *words).out


def test_help_says_which_files_the_options_are_for() -> None:
    help_text = " ".join(wayfield("plan", "--help").out.replace("│", " ").split())
    assert help_text.count("EDGES and LABELS") == 2
    assert "Encoding of files that are not UTF-8" in help_text


# ------------------------------------------------------------------ bad input


PIECES = st.sampled_from(
    [b",", b";", b" ", b'"', b"\n", b"#", b"\x00", b"\xff", b"nan", b"-1", b""]
)
DAMAGE = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 5), PIECES), max_size=3)


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(edges=DAMAGE, labels=DAMAGE, directed=st.booleans())
def test_damaged_files_give_an_answer_or_one_line(
    folder: Path, edges: Any, labels: Any, directed: bool
) -> None:
    for name, text, damage in (("e.csv", ROADS, edges), ("l.csv", KNOWN, labels)):
        data = text.encode()
        for place, size, piece in damage:
            data = data[:place] + piece + data[place + size :]
        Path(name).write_bytes(data)
    words = ["--directed"] if directed else []
    answer = wayfield("plan", "e.csv", "l.csv", "--goal", GOAL, "--no-files", *words)
    assert "internal error" not in answer.err
    assert answer.code == 0 or (answer.code == 2 and answer.err.count("\n") == 1)


@pytest.mark.usefixtures("folder")
def test_missing_file() -> None:
    complaint = refused("plan", "rods.csv", "known.csv", "--goal", GOAL)
    assert complaint == "rods.csv: No such file or directory"


@pytest.mark.usefixtures("folder")
def test_empty_file() -> None:
    assert refused_edges("") == "edges.csv is empty"
    assert refused_edges("\n# nothing\n\n") == "edges.csv is empty"
    assert refused_labels("") == "labels.csv is empty"


@pytest.mark.usefixtures("folder")
def test_header_only() -> None:
    assert refused_edges("src,dst,cost\n") == "edges.csv has a header but no rows"
    assert refused_labels("node,value\n") == "labels.csv has a header but no rows"


@pytest.mark.usefixtures("folder")
def test_wrong_delimiter() -> None:
    assert refused_edges(ROADS, "--delimiter", ";").startswith("edges.csv has one column")
    assert "is the delimiter right?" in refused_edges("a\nb\n")
    complaint = refused_labels("Genève\nBern\n")
    assert complaint.startswith("labels.csv has no column for the value")
    assert "must be one character" in refused_edges(ROADS, "--delimiter", "ab")


@pytest.mark.usefixtures("folder")
def test_files_given_in_each_others_place() -> None:
    assert "Is this the file of labels?" in refused_edges("name,minutes\nBern,0\nGenève,126\n")
    trips = "start,end,minutes\nBern,Genève,126\nGenève,Bern,120\n"
    assert "wayfield travel reads trips" in refused_labels(trips)
    # the user's word counts: read as labels, of which none is the goal's
    named = refused_labels(trips, "--vertex", "start", "--value", "minutes")
    assert "has no label in labels.csv" in named


@pytest.mark.usefixtures("folder")
def test_unknown_column() -> None:
    complaint = refused_edges(ROADS, "--length", "costs (m)")
    assert complaint.startswith("edges.csv has no column 'costs (m)' (it has 'src', 'dst'")
    assert complaint.endswith("did you mean 'cost (m)'?")
    assert "no column '6'" in refused_edges(ROADS, "--tail", 6)
    assert "no column 'height'" in refused_labels(KNOWN, "--value", "height")


@pytest.mark.usefixtures("folder")
def test_unknown_goal_and_start() -> None:
    complaint = refused("plan", "roads.csv", "known.csv", "--goal", "zurich hb")
    assert complaint == (f"--goal 'zurich hb' is not a vertex of the graph; did you mean '{GOAL}'?")
    complaint = refused("plan", "roads.csv", "known.csv", "--goal", GOAL, "--start", "Geneva")
    assert complaint.startswith("--start 'Geneva' is not a vertex")


@pytest.mark.usefixtures("folder")
def test_label_for_an_unknown_vertex() -> None:
    complaint = refused_labels("# known\nnode,v\nGeneve,287\n" + KNOWN.splitlines()[2] + "\n")
    assert complaint == (
        "labels.csv, row 3, column 'node': Geneve is not a vertex of the graph; "
        "did you mean 'Genève'?"
    )


@pytest.mark.usefixtures("folder")
def test_value_that_is_not_a_number() -> None:
    complaint = refused_labels(KNOWN + "\n\nBern,12x\n")
    assert complaint == "labels.csv, row 6, column 'v': '12x' is not a number"
    complaint = refused_edges(ROADS + "Bern,Thun,far,1,road\n")
    assert complaint == "edges.csv, row 7, column 'cost (m)': 'far' is not a number"
    complaint = refused_edges("a b 1\nb c 2\nc d x\n", "--no-header", "--length", 3)
    assert complaint == "edges.csv, row 3, column 3: 'x' is not a number"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_value_that_is_not_finite(value: str) -> None:
    complaint = refused_labels(KNOWN + f"Bern,{value}\n")
    assert complaint.startswith(f"labels.csv, row 4, column 'v': {value} is not a value")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("value", ["1e308", "-1e101", "9" * 100_000])
def test_value_beyond_the_limit(value: str) -> None:
    complaint = refused_labels(KNOWN + f"Bern,{value}\n")
    assert complaint.startswith("labels.csv, row 4, column 'v': ")
    limit = "is not a value" if len(value) > 9 else "is not between -1e+100 and 1e+100"
    assert limit in complaint
    assert len(complaint) < 200


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("length", ["0", "-3", "nan", "inf", "", "1e-200"])
def test_length_that_is_none(length: str) -> None:
    complaint = refused_edges(ROADS + f"Bern,Thun,{length},1,road\n")
    assert complaint.startswith("edges.csv, row 7, column 'cost (m)': ")
    assert "length" in complaint or "between 1e-100 and 1e+100" in complaint


@pytest.mark.usefixtures("folder")
def test_missing_names() -> None:
    complaint = refused_edges(ROADS + ",Thun,3,1,road\n")
    assert complaint == "edges.csv, row 7, column 'src': the vertex name is missing"
    assert "column 'node': the vertex name is missing" in refused_labels(KNOWN + ",3\n")


@pytest.mark.usefixtures("folder")
def test_two_values_for_one_vertex() -> None:
    assert planned("roads.csv", write("twice.csv", KNOWN + "Genève,287.0\n"), "--goal", GOAL)
    complaint = refused_labels(KNOWN + "Genève,288\n")
    assert complaint == (
        "labels.csv, row 4, column 'v': 'Genève' is labelled 288 here and 287 in row 2"
    )


@pytest.mark.usefixtures("folder")
def test_goal_without_a_label_and_labels_without_a_goal() -> None:
    complaint = refused("plan", "roads.csv", "known.csv", "--goal", "Bern")
    assert complaint == (
        "the goal 'Bern' has no label in known.csv: add a row for it, with the value 0 if labels "
        "are costs to the goal"
    )
    complaint = refused("plan", "roads.csv", "known.csv")
    assert complaint.startswith("no goal given: pass --goal NAME (the smallest label is 0")
    assert "no row has a value" in refused_labels("node,v\nGenève,\nBern,\n")


@pytest.mark.usefixtures("folder")
def test_files_cut_off_in_the_middle() -> None:
    complaint = refused_edges(ROADS[: ROADS.index("125")])
    assert complaint == "edges.csv, row 6: 3 columns, but 5 expected; is the file cut off?"
    complaint = refused_edges(ROADS[: ROADS.index("La Chaux-de-Fonds,Bern") + 5])
    assert complaint == "edges.csv, row 5: 1 column, but 5 expected; is the file cut off?"
    Path("cut.csv.gz").write_bytes(gzip.compress(ROADS.encode() * 99)[:-60])
    assert "cut.csv.gz is cut off or damaged" in refused(
        "plan", "cut.csv.gz", "known.csv", "--goal", GOAL
    )
    pq.write_table(pa.table({"src": ["a"], "dst": ["b"]}), "whole.parquet")
    Path("cut.parquet").write_bytes(Path("whole.parquet").read_bytes()[:-30])
    assert "cut.parquet is not a Parquet file, or is cut off" in refused(
        "plan", "cut.parquet", "known.csv", "--goal", GOAL
    )
    np.savez("whole.npz", src=np.arange(9), dst=np.arange(9))
    Path("cut.npz").write_bytes(Path("whole.npz").read_bytes()[:-50])
    assert "cut.npz is not an npz file, or is damaged" in refused(
        "plan", "cut.npz", "known.csv", "--goal", GOAL
    )


@pytest.mark.usefixtures("folder")
def test_rows_with_too_many_columns() -> None:
    complaint = refused_edges(ROADS + "Bern,Thun,3,1,road,narrow\n")
    assert complaint == (
        "edges.csv, row 7: 6 columns, but 5 expected; are quotes missing, or are "
        "there decimal commas?"
    )


@pytest.mark.usefixtures("folder")
def test_quotation_marks_that_are_not_closed() -> None:
    complaint = refused_edges('from,to,length\nA,"B,1\nB,E,2\n')
    assert complaint == "edges.csv, row 2: a quotation mark is not closed"
    complaint = refused_edges('from,to,length\nA,"B\n,1\nB,E",2\n')
    assert complaint.startswith("edges.csv, row 2, column 'to': 'B\\n,1\\nB,E' runs over several")
    complaint = refused_edges('from,to,length\nA,"B"x,1\n')
    assert complaint == "edges.csv, row 2: a cell goes on after its closing quotation mark"
    complaint = refused_edges('from,to,length\nA,"B' + "\nB,E,2" * 30_000)
    assert complaint.startswith("edges.csv, row 2: a cell of over 131,072 characters")


@pytest.mark.usefixtures("folder")
def test_one_column_for_both_ends() -> None:
    complaint = refused_edges(ROADS, "--tail", "src", "--head", "src")
    assert complaint == "edges.csv: from and to cannot both be the column 'src'"


@pytest.mark.usefixtures("folder")
def test_folder_instead_of_a_file() -> None:
    Path("folder").mkdir()
    complaint = refused("plan", "folder", "known.csv", "--goal", GOAL)
    assert complaint == "folder is a folder, not a file"


@pytest.mark.usefixtures("folder")
def test_npz_that_is_no_graph() -> None:
    np.savez("arrays.npz", src=np.arange(3), dst=np.arange(3))
    told = "neither a saved graph nor a sparse matrix: save the table as CSV or Parquet"
    assert told in refused("plan", "arrays.npz", "known.csv", "--goal", GOAL)
    told = "arrays.npz is an npz file, not a table: save the table as CSV or Parquet"
    assert told in refused("plan", "roads.csv", "arrays.npz", "--goal", GOAL)


@pytest.mark.usefixtures("folder")
def test_files_that_are_no_tables() -> None:
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    complaint = refused("plan", "picture.csv", "known.csv", "--goal", GOAL)
    assert complaint == "picture.csv is not a text file, or not one in utf-8"
    Path("zeros.csv").write_bytes(b"a,b\n\x00\x00,c\n")
    assert "is not a text file" in refused("plan", "zeros.csv", "known.csv", "--goal", GOAL)
    Path("m.mtx").write_bytes(b"%%MatrixMarket matrix coordinate\n3 3 1\n1 2 1\n")
    assert "scipy's save_npz" in refused("plan", "m.mtx", "known.csv", "--goal", GOAL)
    assert "is a stream" in refused("plan", os.devnull, "known.csv", "--goal", GOAL)
    Path("book.xlsx").write_bytes(b"PK\x03\x04rest")
    assert "save the sheet as CSV" in refused("plan", "book.xlsx", "known.csv", "--goal", GOAL)


@pytest.mark.usefixtures("folder")
def test_out_folder_that_cannot_be_written() -> None:
    write("file", "")
    for out in ("file", "file/inside"):
        complaint = refused("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", out)
        assert complaint.startswith("file")


@pytest.mark.usefixtures("folder")
def test_error_bound_that_is_none() -> None:
    words = ("roads.csv", "known.csv", "--goal", GOAL)
    assert "error" in refused("plan", *words, "--error", "-1")
    assert "Try 'wayfield plan --help'" in refused("plan", *words, "--error", "much")


@pytest.mark.usefixtures("folder")
def test_nothing_is_left_of_an_interrupted_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["wayfield.cli.planning"], "draw", interrupted)
    answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", "a/b")
    assert answer.code == 130
    assert not Path("a").exists()


@pytest.mark.usefixtures("folder")
def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    with monkeypatch.context() as without:
        without.setitem(sys.modules, "matplotlib", None)
        answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL)
    assert answer.code == 0
    assert (
        "no picture: this needs matplotlib, which is not installed: run pip install" in answer.out
    )
    assert Path("wayfield-plan/values.csv").exists()
    pq.write_table(pa.table({"from": ["a"], "to": ["b"]}), "edges.parquet")
    for module in ("pyarrow", "pyarrow.compute", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    answer = wayfield("plan", "roads.csv", "known.csv", "--goal", GOAL, "--out", "plain")
    assert answer.code == 0
    assert "no values.parquet: this needs pyarrow, which is not installed" in answer.out
    assert Path("plain/values.csv").exists()
    complaint = refused("plan", "edges.parquet", "known.csv", "--goal", GOAL)
    assert "pip install '.[files]'" in complaint


def test_margins_are_the_certificates(folder: Path) -> None:
    found = planned("roads.csv", "known.csv", "--goal", GOAL)
    least = found["margin"]["least"]
    graph = wf.Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 3, 4], [62, 80, 100, 70, 125])
    labels = wf.Labels([0, 4], [287.0, 0.0])
    field = wf.extend(graph, labels, wf.AMLE())
    from wayfield.certificates import certify

    proof = certify(graph, labels, field, wf.plan(graph, field.values, 4))
    assert math.isclose(least, proof.start_margin.min())
    assert found["margin"]["weakest"][0]["name"] == "Lausanne"


@pytest.mark.usefixtures("folder")
def test_every_key_of_the_json_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    facts = planned("roads.csv", "known.csv", "--goal", GOAL, "--start", "Genève", "--lift")

    def keys(data: Any) -> set[str]:
        if isinstance(data, dict):
            return set(data).union(*map(keys, data.values()))
        return set().union(*map(keys, data)) if isinstance(data, list) else set()

    missing = {key for key in keys(facts) if f"`{key}`" not in page}
    assert not missing


@pytest.mark.usefixtures("folder")
def test_every_column_of_the_files_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--start", "Genève", "--out", "out")
    assert wayfield("plan", *words).code == 0
    for file in ("values.csv", "routes.csv"):
        with Path("out", file).open(encoding="utf-8", newline="") as text:
            header = next(csv.reader(text))
        assert [name for name in header if f"`{name}`" not in page] == []


# ------------------------------------------------------------------------- a plan without labels


def test_without_labels_the_plan_follows_the_shortest_paths(folder: Path) -> None:
    words = ("roads.csv", "--goal", GOAL, "--start", "Genève")
    told = wayfield("plan", *words, "--out", "out", "--json").json
    assert told["method"] == "graph distance"
    assert told["routes"][0]["path"] == ["Genève", "Lausanne", "Bern", GOAL]
    with Path("out", "values.csv").open(encoding="utf-8", newline="") as text:
        values = {row["name"]: float(row["value"]) for row in csv.DictReader(text)}
    assert values["Lausanne"] == 225.0
    paths = "these are the graph's own shortest paths; with a few measured costs, "
    measure = "`wayfield travel trips roads.csv LABELS --goal 'Zürich \"HB\"'`"
    assert told["advice"] == f"{paths}{measure} tests whether the graph is wrong"
    answer = wayfield("plan", *words, "--no-files")
    assert "\nmethod    graph distance; " in answer.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "no goal given: pass --goal NAME"),
        (("--goal", GOAL, "--lift"), "--lift needs LABELS"),
        (("--goal", GOAL, "--method", "amle"), "--method needs LABELS"),
        (("--goal", GOAL, "--prior", "distance"), "--prior needs LABELS"),
    ],
)
def test_what_needs_labels(folder: Path, words: tuple[str, ...], complaint: str) -> None:
    assert complaint in refused("plan", "roads.csv", *words)


# -------------------------------------------------------------------- errors name flags and files


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--error", "-1"], "--error must be"),
        (["--length-unit", "1e300"], "--length-unit 1e+300: "),
        (["--method", "p=1e99"], "use --method amle"),
        (["--encoding", "rot13"], "unknown encoding 'rot13'"),
        (["--encoding", "\0"], "unknown encoding"),
        (["--directed", "--prior", "distance"], "'Genève' has a label, but"),
    ],
)
def test_errors_name_flags_and_vertices(folder: Path, words: list[str], said: str) -> None:
    if "--directed" in words:
        write("roads.csv", 'from,to\n"Zürich ""HB""",Genève\n')
    assert said in refused("plan", "roads.csv", "known.csv", "--goal", GOAL, *words)


def test_a_proof_that_cannot_be_written_costs_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", ".temporary")

    monkeypatch.setattr(Answer, "write_proof", fail)
    words = ("roads.csv", "known.csv", "--goal", GOAL, "--out", "out", "--proof", "a.proof")
    answer = wayfield("plan", *words)
    assert answer.code == 1
    assert "not written: No space left on device (a.proof)" in answer.out
    assert Path("out", "values.csv").exists()


def test_a_cell_that_is_too_long_is_named(folder: Path) -> None:
    write("roads.csv", f"from,to,length\n{'x' * 200_000},b,1\n")
    assert "row 2: a cell of over" in refused("plan", "roads.csv", "known.csv", "--goal", GOAL)


def test_compare_refuses_edges_beside_a_maze(folder: Path) -> None:
    assert "either EDGES and LABELS, or --maze" in refused(
        "compare", "roads.csv", "--maze", "medium"
    )
