"""`wayfield plan` on files that users bring, good ones and bad ones."""

from __future__ import annotations

import csv
import errno
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wayfield as wf
from shell import wayfield
from wayfield import InputError
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
NAMES = ["Genève", "Lausanne", "La Chaux-de-Fonds", "Bern", GOAL]
GRAPH = wf.Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 3, 4], [62, 80, 100, 70, 125])
LABELS = wf.Labels([0, 4], [287.0, 0.0])
WORDS: tuple[object, ...] = ("roads.csv", "known.csv", "--goal", GOAL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {
        "roads.csv": ROADS,
        "known.csv": KNOWN,
        "path.txt": "0 1\n1 2\n2 3\n3 4\n",
        "pit.txt": "0 0\n2 5\n3 1\n",  # a false sink at 3
        "exact.txt": "0 0\n1 1\n2 2\n4 4\n",
        "sixty.txt": "0 0\n2 120\n4 240\n",
        "osm.csv": "u,v,length,oneway,maxspeed\na,b,1,yes,50\nb,c,1,no,50\na,c,5,-1,30\n",
        "ends.csv": "node,v\na,2\nc,0\n",
        "marks.csv": "from;to;m\na;b;1.234\nb;c;500\nc;d;12.000\n",
        "marked.csv": "node;v\na;13.734\nd;0\n",
    }
    for name, text in files.items():
        write(name, text)
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
    assert answer.code == 2, answer.out
    assert answer.err.startswith("wayfield: ")
    assert answer.err.count("\n") == 1
    assert sorted(Path.cwd().rglob("*")) == before
    return answer.err.removeprefix("wayfield: ").strip()


def rows_of(file: str) -> list[dict[str, str]]:
    with Path(file).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


# ------------------------------------------------------------------ what it says and writes


def test_the_summary_in_full() -> None:
    write("roads.csv", ROADS + "Lugano,Chiasso,25,2,highway\n")
    answer = wayfield("plan", *WORDS, "--start", "Genève", "--start", "Lugano", "--error", 0.5)
    assert answer.code == 1  # Lugano does not arrive
    said = [line for line in answer.out.splitlines() if not line.startswith("method")]
    made = [Path("wayfield-plan", f) for f in ("values.csv", "values.parquet", "routes.csv")]
    wrote = ", ".join(map(str, [*made, Path("wayfield-plan", "plan.png")]))
    assert said == [
        "edges     roads.csv: from = 'src', to = 'dst', length = 'cost (m)'; 5 columns, comma "
        "between columns, header found",
        "labels    known.csv: vertex = 'node', value = 'v'; 2 columns, comma between columns, "
        "header found",
        "note      roads.csv: not used: 'lanes', 'kind'",
        "lost      2 of 7 states cannot reach the goal at all: Lugano, Chiasso",
        "graph     7 vertices, 6 edges, lengths 25 to 125; 2 components",
        f"labels    2 (28.6 % of the vertices), values 0 to 287; goal “{GOAL}”",
        "plan      4 of 4 starts reach the goal (100 %)",
        "proved    3 moves and 2 routes are optimal, if labels are right, no edge is false and "
        "each costs what the graph says",
        "margin    every route tolerates errors of the values below 13.3; weakest at Lausanne "
        "(13.3, 2 routes), “La Chaux-de-Fonds” (55, 1 route), Bern (58.3, 1 route)",
        "certified with errors up to 0.5, 71.4 % of the moves are proved optimal, and 71.4 % of "
        "the routes, if each edge costs what the graph says",
        "bound     the true cost-to-go is within 27.2 of the field (at half of the states, within "
        "0.5), if graph and labels are right",
        f"route     Genève → Lausanne → Bern → “{GOAL}”: cost 287, 3 steps; tolerates errors below "
        "13.3, weakest at Lausanne",
        "route     Lugano: cannot reach the goal",
        f"wrote     {wrote}",
        "advice    `wayfield compare roads.csv known.csv --goal 'Zürich \"HB\"'` says what to use: "
        "the labels, or the graph's own distances",
    ]


SCHEMA = {
    "wayfield": str, "advice": str, "units": None, "goal": str, "method": str, "status": str,
    "converged": bool, "seconds": float, "bracket_width": float, "residual": float,
    "graph": {
        "vertices": int, "edges": int, "directed": bool, "least_length": float,
        "largest_length": float, "components": int, "strong_components": int,
        "cannot_reach_goal": int, "cannot_reach_examples": list, "without_value": int,
        "behind_labels": int, "behind_labels_examples": list,
    },
    "labels": {
        "count": int, "least": float, "largest": float, "false_sink_count": int,
        "false_sinks": list, "dropped_count": int, "dropped": list, "per_graph_distance": float,
        "missed_count": int, "missed_most": float,
    },
    "contradictions": {
        "too_optimistic": int, "by_up_to": float, "too_pessimistic": int, "over_by_up_to": float,
    },
    "plan": {
        "can_reach": int, "reach": int, "success": float, "dead_ends": int, "loop_count": int,
        "loops": list, "raised": {"count": int, "most": float, "states": list},
    },
    "margin": {"least": float, "median": float, "weakest": list},
    "certified": {"error": float, "states": float, "starts": float},
    "proved": {"moves": int, "routes": int, "refuted": bool},
    "value_error_bound": {"largest": None, "median": None},
    "held_out": {
        "labels": int, "error": float, "spread": float, "distance_error": float,
        "distance_spread": float, "factor": float, "labels_help": None, "text": str,
    },
    "routes": list, "input": {"edges": dict, "labels": dict, "notes": list},
    "files": list, "removed": list, "no_picture": None, "no_parquet": None, "not_written": None,
}  # fmt: skip


def schema_of(data: Any, like: Any) -> Any:
    """The kinds of plain data, as deep as the schema goes."""
    if isinstance(like, dict) and isinstance(data, dict):
        return {key: schema_of(value, like.get(key)) for key, value in data.items()}
    return None if data is None else type(data)


def test_json_is_all_there_is_on_standard_output_and_every_key_is_documented() -> None:
    write("pit.txt", "0 0\n2 5\n3 1\n4 6\n")
    facts = planned("path.txt", "pit.txt", "--goal", 0, "--lift", "--start", 4)
    assert schema_of(facts, SCHEMA) == SCHEMA
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")

    def keys(data: Any) -> set[str]:
        if isinstance(data, dict):
            return set(data).union(*map(keys, data.values()))
        return set().union(*map(keys, data)) if isinstance(data, list) else set()

    wayfield("plan", *WORDS, "--start", "Genève", "--out", "out")
    header = set(rows_of("out/values.csv")[0]) | set(rows_of("out/routes.csv")[0])
    assert not {key for key in keys(facts) | header if f"`{key}`" not in page}


def test_files_hold_what_the_library_computes() -> None:
    words = ("--start", "La Chaux-de-Fonds", "--start", "Genève", "--out", "made/here")
    assert wayfield("plan", *WORDS, *words, pictures=True).code == 0
    field = wf.extend(GRAPH, LABELS, wf.AMLE())
    moves = wf.plan(GRAPH, field, 4)
    certificate = wf.certify(GRAPH, LABELS, field, moves)
    table = pq.read_table("made/here/values.parquet").to_pydict()
    order = [table["name"].index(name) for name in NAMES]
    columns = {name: [column[i] for i in order] for name, column in table.items()}
    margin = [None if np.isinf(each) else each for each in certificate.margin.tolist()]
    expected: dict[str, Any] = {
        "value": field.values.tolist(),
        "lower": field.lower.tolist(),  # type: ignore[union-attr]
        "upper": field.upper.tolist(),  # type: ignore[union-attr]
        "labelled": [True, False, False, False, True],
        "successor": [NAMES[y] for y in moves.successor],
        "outcome": ["reached"] * 5,
        "steps": moves.steps.tolist(),
        "cost": moves.cost.tolist(),
        "margin": margin,
    }
    assert columns == {"name": NAMES} | expected
    rows = rows_of("made/here/values.csv")
    assert [float(row["value"]) for row in rows] == table["value"]
    routes = [
        (row["start"], row["name"], float(row["cost"])) for row in rows_of("made/here/routes.csv")
    ]
    assert routes[:3] == [
        (NAMES[2], NAMES[2], 0.0),
        (NAMES[2], "Bern", 70.0),
        (NAMES[2], GOAL, 195.0),
    ]
    assert routes[-1] == ("Genève", GOAL, 287.0)
    assert Path("made/here/plan.png").read_bytes().startswith(b"\x89PNG")


def test_states_that_cannot_reach_or_loop_have_empty_cells() -> None:
    write("path.txt", "0 1\n1 2\n2 3\n3 4\n5 6\n")
    assert wayfield("plan", "path.txt", "pit.txt", "--goal", 0, "--out", "out").code == 0
    rows = {row["name"]: row for row in rows_of("out/values.csv")}
    assert [rows[x]["outcome"] for x in "12345"] == ["reached", *["loop"] * 3, "unreachable"]
    assert [rows[x]["cost"] for x in "135"] == ["1.0", "", ""]
    assert [rows[x]["successor"] for x in "1345"] == ["0", "4", "3", ""]
    assert rows["5"]["value"] == ""


def test_labels_where_nothing_can_arrive_are_no_loops_of_the_plan() -> None:
    write("roads.csv", ROADS + "Lugano,Chiasso,25,2,highway\n")
    write("known.csv", KNOWN + "Lugano,300\nChiasso,320\n")
    found = planned(*WORDS)
    assert found["graph"]["cannot_reach_goal"] == 2
    assert found["graph"]["without_value"] == found["plan"]["loop_count"] == 0


def test_loops_are_named_raised_and_dropped() -> None:
    words = ("path.txt", "pit.txt", "--goal", 0)
    stuck = wayfield("plan", *words, "--start", 4, "--no-files")
    assert stuck.code == 1  # the start that was asked for does not arrive
    for said in ("3 → 4 → 3", "loop!", "drop it (--drop-false-sinks) or lift the field (--lift)"):
        assert said in stuck.out
    safe = wayfield("plan", *words, "--start", 4, "--lift", "--out", "out", "--json")
    assert safe.code == 0
    assert safe.json["routes"][0]["path"] == ["4", "3", "2", "1", "0"]
    assert safe.json["labels"]["false_sinks"] == [{"name": "3", "value": 1.0}]
    path, labels = wf.Graph.from_edges(range(4), range(1, 5)), wf.Labels([0, 2, 3], [0.0, 5, 1])
    bare = wf.extend(path, labels, wf.AMLE())
    rows = sorted(rows_of("out/values.csv"), key=lambda row: row["name"])
    raised = [float(row["value"]) - float(row["raised"]) for row in rows]
    assert raised == pytest.approx(bare.values)
    dropped = wayfield("plan", *words, "--drop-false-sinks", "--no-files").out
    assert "dropped   1 label: 3\n" in dropped
    assert "labels    2 (40 % of the vertices)" in dropped


def test_a_prior_is_the_graphs_own_distances() -> None:
    write("two.txt", "0 0\n2 4\n")
    wayfield("plan", "path.txt", "two.txt", "--goal", 0, "--prior", "distance", "--out", "out")
    assert pq.read_table("out/values.parquet")["value"].to_pylist() == [0.0, 2.0, 4.0, 5.0, 6.0]


def test_lengths_and_labels_in_different_units() -> None:
    words = ("path.txt", "sixty.txt", "--goal", 0)
    assert planned(*words)["advice"].endswith("same unit? If not, pass --length-unit 60")
    assert planned(*words, "--length-unit", 2)["advice"].endswith("pass --length-unit 60")
    assert "pass --length-unit 60" in refused("plan", *words, "--prior", "distance")
    taken = planned(*words, "--length-unit", 60)
    assert taken["graph"]["largest_length"] == 60.0
    assert taken["units"] is None


def test_labels_left_out_tell_whether_they_help() -> None:
    words = ("path.txt", "exact.txt", "--goal", 0)
    told = wayfield("plan", *words, "--no-files").out
    assert "held out  3 labels left out in turn: mean error" in told
    tries = "`wayfield compare path.txt exact.txt --goal 0` tries other fields."
    worse = "this field does not predict labels left out clearly better."
    assert f"advice    Use the graph distance: {worse} {tries}\n" in told
    assert planned(*words, "--folds", 0)["held_out"] is None


def test_without_labels_the_plan_follows_the_shortest_paths() -> None:
    words = ("roads.csv", "--goal", GOAL, "--start", "Genève")
    told = wayfield("plan", *words, "--out", "out", "--json").json
    assert told["method"] == "graph distance"
    values = {row["name"]: float(row["value"]) for row in rows_of("out/values.csv")}
    assert values["Lausanne"] == 225.0
    measure = "`wayfield travel trips roads.csv LABELS --goal 'Zürich \"HB\"'`"
    assert told["advice"] == (
        "these are the graph's own shortest paths; with a few measured costs, "
        f"{measure} tests whether the graph is wrong"
    )


METHODS = {
    "amle": "AMLE()", "amle-cost": "AMLE(fill='cost')", "harmonic": "Harmonic()",
    "p=8": "PLaplacian(p=8.0)", "nearest": "NearestLabel()",
    "mcshane": "McShane(lipschitz=None)", "whitney": "Whitney(lipschitz=None)",
}  # fmt: skip


@pytest.mark.parametrize("word", METHODS)
def test_every_method_has_a_word(word: str) -> None:
    assert planned(*WORDS, "--method", word)["method"] == METHODS[word]


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
    words = (*WORDS, "--method")
    for name, method in (("half", f"{module}:half"), ("Object", "my object")):
        told = planned(*words, f"{module}:{name}")
        assert (told["method"], told["residual"]) == (method, None)
        assert (told["labels"]["missed_count"], told["labels"]["missed_most"]) == (2, 287 / 2)
    assert planned(*words, f"{module}:amle")["method"] == "AMLE(fill='cost')"
    told = wayfield("plan", *words, f"{module}:half", "--no-files").out
    assert "missed    the field differs from 2 of 2 labels, by up to 144\n" in told
    chosen = ("-m", f"{module}:half", "-m", f"{module}:Object", "-m", "harmonic")
    rows = wayfield("compare", *WORDS, *chosen, "--json").json["rows"]
    names = [row["method"] for row in rows]
    assert names == ["graph distance", f"{module}:half", f"{module}:Object", "harmonic"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("{}:none", "module '{0}' has no attribute 'none'"),
        ("{}:number", "method '{}:number' must be an extension such as AMLE(), a function"),
        ("{}:nothing", "{}:nothing: values must be an array of 5 numbers, got None"),
        ("{}.py:half", "write {}:half"),
        ("no_such_module:half", "No module named 'no_such_module'"),
        (":half", "Empty module name"),
    ],
)
def test_methods_of_ones_own_that_are_none(module: str, name: str, complaint: str) -> None:
    assert complaint.format(module) in refused("plan", *WORDS, "--method", name.format(module))


def test_positions_beside_the_labels_or_in_a_file_of_their_own() -> None:
    n = 5100  # too many for a picture without positions
    write("line.txt", "".join(f"{i} {i + 1}\n" for i in range(n - 1)))
    write("two.txt", f"0 0\n{n - 1} {n - 1}\n")
    words = ("line.txt", "two.txt", "--goal", 0)
    bare = wayfield("plan", *words, "--out", "bare")
    assert "no picture: the graph has over 5,000 vertices, and no positions" in bare.out
    places = "".join(f"{i},{i % 20},{i // 20}\n" for i in range(n))
    write("places.csv", "id,x,y\n" + places)
    own = wayfield("plan", *words, "--positions", "places.csv", "--out", "own")
    assert "places    places.csv: vertex = 'id', x = 'x'" in own.out
    assert Path("own/plan.png").exists()
    rows = "".join(f"{i},{i % 20},{i // 20},{i if i in (0, n - 1) else ''}\n" for i in range(n))
    write("all.csv", "id,x,y,value\n" + rows)
    one = wayfield("plan", "line.txt", "all.csv", "--goal", 0, "--out", "one")
    assert "5,098 rows without a value" in one.out
    assert Path("one/plan.png").exists()
    short = write("short.csv", "id,x,y\n" + "".join(places.splitlines(keepends=True)[:-1]))
    complaint = refused("plan", *words, "--positions", short)
    assert complaint == "short.csv has no position for 1 of 5,100 vertices: '5099' is the first"


# ------------------------------------------------------------------ the many ways to write a table


@pytest.mark.parametrize(
    ("edges", "labels", "words", "read"),
    [
        ("a,b,1\nb,c,2", "a,3\nc,0", "", (3, 1, 2, 3)),
        ("a|b|1\nb|c|2", "a|3\nc|0", "--delimiter |", (3, 1, 2, 3)),
        ("a,b,1\nb,c,2", "x,v\nb,2\nc,0", "--header", (2, 2, 2, 2)),
        ("from;to;m\na;b;1.234\nb;c;12.000", "n;v\na;1.5\nc;0", "--decimal .", (3, 1.234, 12, 1.5)),
        ("p,q,l,m\na,b,1,7\nb,c,2,9", "n,v\na,3\nc,0", "--length m", (3, 7, 9, 3)),
        ("p,q,l,m\na,b,1,7\nb,c,2,9", "n,v\na,3\nc,0", "--length none", (3, 1, 1, 3)),
        ("l,p,q\n1,a,b\n2,b,c", "v,n,u\n3,a,9\n0,c,9", "--tail p --head 3 --vertex n --value v",
            (3, 1, 2, 3)),
        ("from,to,length,v\na,b,100,36\nb,c,100,72", "n,v\na,15\nc,0", "--speed v", (3, 5, 10, 15)),
        ("é,b,1\nb,c,2", "é,3\nc,0", "--encoding latin-1", (3, 1, 2, 3)),
    ],
)  # fmt: skip
def test_every_option_for_reading_reaches_the_reader(
    edges: str, labels: str, words: str, read: tuple[float, ...]
) -> None:
    encoding = "latin-1" if "latin-1" in words else "utf-8"
    Path("e.csv").write_text(f"{edges}\n", encoding=encoding)
    Path("l.csv").write_text(f"{labels}\n", encoding=encoding)
    found = planned("e.csv", "l.csv", "--goal", "c", *words.split())
    graph, largest = found["graph"], found["labels"]["largest"]
    assert (graph["vertices"], graph["least_length"], graph["largest_length"], largest) == read


def test_a_column_of_ways_makes_the_graph_directed() -> None:
    words = ("osm.csv", "ends.csv", "--goal", "c")
    found = planned(*words)
    assert found["graph"]["directed"]
    assert found["graph"]["edges"] == 4  # a to b, b to c and back, c to a
    assert found["input"]["notes"] == [
        "osm.csv: by 'oneway' 2 of 3 edges one-way, so the graph is directed; "
        "--oneway none ignores the column",
        "osm.csv: not used: 'maxspeed'",
    ]
    assert not planned(*words, "--oneway", "none")["graph"]["directed"]
    arcs = planned(*words, "--directed")
    assert arcs["graph"]["edges"] == 3
    assert "osm.csv: every row is an arc by --directed, whatever its way" in arcs["input"]["notes"]
    compared = wayfield("compare", *words, "-m", "amle", "--json")
    assert compared.json["graph"].startswith("Graph(3 vertices, 4 arcs, directed")
    assert "by 'oneway' 2 of 3 edges one-way" in compared.err


def test_latin_1_is_read_with_a_remark() -> None:
    Path("roads.csv").write_text(ROADS, encoding="latin-1")
    notes = planned(*WORDS)["input"]["notes"]
    assert notes[0] == (
        "roads.csv, row 2: byte 0xe8 is not UTF-8, so it is read as Windows-1252; --encoding names "
        "another encoding"
    )


def test_parquet_with_whole_numbers_for_names() -> None:
    arrays = {"source": [10, 20, 30], "target": [20, 30, 40], "weight": [1.0, 2.0, 3.0]}
    pq.write_table(pa.table(arrays), "edges.parquet")
    write("labels.csv", "10,6\n40,0\n")
    answer = wayfield("plan", "edges.parquet", "labels.csv", "--goal", 40, "--out", "out")
    assert answer.code == 0, answer.err
    table = pq.read_table("out/values.parquet")
    assert table.schema.field("name").type == pa.int64()
    assert table.to_pydict()["successor"] == [20, 30, 40, 40]


def test_names_are_never_markup_and_do_not_command_the_terminal() -> None:
    wild = "\x1b[2J\x9b31m\u202eevil"
    names = ["$x_1", "$\\frac{1", "[bold]", "駅", "<b>", "a\\b", "{x}", wild]
    write("odd.csv", "from,to,cost\n" + "".join(f"{name},b,3\n" for name in names))
    write("ends.csv", "name,v\nb,0\n" + "".join(f"{name},3\n" for name in names))
    starts = [word for name in names for word in ("--start", name)]
    words = ("plan", "odd.csv", "ends.csv", "--goal", "b", *starts)
    answer = wayfield(*words, pictures=True)
    assert answer.code == 0, answer.err
    routes = [line for line in answer.out.splitlines() if line.startswith("route ")]
    shown = [*names[:-1], r"\x1b[2J\x9b31m\u202eevil"]
    assert all(name in route for name, route in zip(shown, routes, strict=True))
    found = wayfield(*words, "--json", "--no-files")
    assert found.json["routes"][-1]["start"] == wild
    for text in (answer.out, found.out, wayfield(*words, "--start", f"{wild}!").err):
        assert not {"\x1b", "\x9b", "\u202e"} & set(text)


def test_one_is_not_many() -> None:
    write("ends.csv", "node,v\na,0\n")
    words = ("ends.csv", "--goal", "a", "--no-files")
    for edges, more, told in (
        ("from,to,length\na,b,2\n", (), "graph     2 vertices, 1 edge, of length 2; in one piece"),
        ("from,to,length\na,b,2\n", (), "labels    1 (50 % of the vertices), value 0; goal a"),
        ("a,a\n", (), "graph     1 vertex, 0 edges, no lengths; in one piece"),
        ("a,a\n", (), "advice    no other state can reach the goal: is it the right one?"),
        (
            "from,to,length\na,b,2\nb,c,2\n",
            ("--directed",),
            "graph     3 vertices, 2 arcs (directed), all of length 2; 3 strong components",
        ),
    ):
        assert f"{told}\n" in wayfield("plan", write("one.csv", edges), *words, *more).out


# ------------------------------------------------------------------ whose files


def test_files_of_an_earlier_run_do_not_stay() -> None:
    words = ("plan", *WORDS, "--out", "out")
    Path("out").mkdir()
    Path("out/notes.txt").touch()
    assert "removed" not in wayfield(*words, "--start", "Genève").out
    assert f"\nremoved   {Path('out/routes.csv')}, of an earlier run\n" in wayfield(*words).out
    left = sorted(file.name for file in Path("out").iterdir())
    assert left == [".wayfield.json", "notes.txt", "plan.png", "values.csv", "values.parquet"]
    assert wayfield(*words, "--json").json["removed"] == []


@pytest.mark.parametrize("name", ["values.csv", "values.parquet", "routes.csv", "plan.png"])
def test_files_of_others_are_not_replaced(name: str) -> None:
    write(name, "mine")
    words = ("plan", *WORDS, "--start", "Bern", "--out", ".")
    assert refused(*words).startswith(f"{name} was not written by wayfield")
    assert wayfield(*words, "--force").code == 0
    assert Path(name).read_bytes() != b"mine"
    assert wayfield(*words).code == 0
    with Path(name).open("ab") as file:
        file.write(b"a remark")
    assert refused(*words).startswith(f"{name} has changed since it was written by wayfield")


def test_a_file_that_this_run_does_not_write_may_be_anybodys() -> None:
    Path("out").mkdir()
    write("out/routes.csv", "mine")
    assert wayfield("plan", *WORDS, "--out", "out").code == 0
    assert Path("out/routes.csv").read_text(encoding="utf-8") == "mine"


def test_results_do_not_overwrite_what_they_are_made_from() -> None:
    Path("roads.csv").rename("routes.csv")
    words = ("routes.csv", *WORDS[1:], "--out", ".")
    complaint = refused("plan", *words)
    assert complaint == "the results would overwrite routes.csv: choose another --out folder"
    assert planned(*words)["files"] == []


def test_a_full_disk_does_not_take_the_result_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", ".temporary")

    words = ("plan", *WORDS, "--start", "Genève", "--out", "out")
    monkeypatch.setattr(Answer, "write_proof", full)
    answer = wayfield(*words, "--proof", "a.proof")
    assert answer.code == 1
    assert "proof     not written: No space left on device (a.proof)\n" in answer.out
    assert Path("out/values.csv").exists()
    monkeypatch.setattr("wayfield.graphs.tables.write_table", full)
    answer = wayfield(*words, "--json")
    assert answer.code == 1
    assert answer.json["not_written"] == "No space left on device (out)"
    assert (answer.json["files"], answer.json["routes"][0]["steps"]) == ([], 3)


def test_a_bracket_without_a_proof_does_not_take_the_result_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_proof(*_: object) -> None:
        raise InputError("the bracket of this field cannot be written as a proof")

    monkeypatch.setattr(Answer, "write_proof", no_proof)
    answer = wayfield("plan", *WORDS, "--out", "out", "--proof", "a.proof")
    assert answer.code == 1
    assert "proof     not written: the bracket of this field cannot be written" in answer.out
    assert Path("out/values.csv").exists()


def test_nothing_is_left_of_an_interrupted_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["wayfield.cli.output"], "draw", interrupted)
    answer = wayfield("plan", *WORDS, "--out", "a/b")
    assert answer.code == 130
    assert not Path("a").exists()


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"from": ["a"], "to": ["b"]}), "edges.parquet")
    for module in ("matplotlib", "pyarrow", "pyarrow.compute", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    answer = wayfield("plan", *WORDS)
    assert answer.code == 0
    for lacking in ("no picture: this needs matplotlib", "no values.parquet: this needs pyarrow"):
        assert f"{lacking}, which is not installed: run pip install" in answer.out
    assert Path("wayfield-plan/values.csv").exists()
    assert "pip install '.[files]'" in refused("plan", "edges.parquet", *WORDS[1:])


# ------------------------------------------------------------------ bad input

PIECES = st.sampled_from(
    [b",", b";", b" ", b'"', b"\n", b"#", b"\x00", b"\xff", b"nan", b"-1", b""]
)
DAMAGE = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 5), PIECES), max_size=3)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edges=DAMAGE, labels=DAMAGE, directed=st.booleans())
def test_damaged_files_give_an_answer_or_one_line(edges: Any, labels: Any, directed: bool) -> None:
    for name, text, damage in (("e.csv", ROADS, edges), ("l.csv", KNOWN, labels)):
        data = text.encode()
        for place, size, piece in damage:
            data = data[:place] + piece + data[place + size :]
        Path(name).write_bytes(data)
    words = ["--directed"] if directed else []
    answer = wayfield("plan", "e.csv", "l.csv", "--goal", GOAL, "--no-files", *words)
    assert "internal error" not in answer.err
    assert answer.code == 0 or (answer.code == 2 and answer.err.count("\n") == 1)


REFUSED = {
    "plan rods.csv known.csv --goal Bern": "rods.csv: No such file or directory",
    "plan folder known.csv --goal Bern": "folder is a folder, not a file",
    "plan roads.csv known.csv": "no goal given: pass --goal NAME (the smallest label is 0, at",
    "plan roads.csv": "no goal given: pass --goal NAME",
    "plan roads.csv known.csv --goal Bern": "the goal 'Bern' has no label in known.csv: add a row",
    "plan roads.csv known.csv --goal bärn": "--goal 'bärn' is not a vertex of the graph; did you",
    "plan roads.csv known.csv --goal GOAL --start Geneva": "--start 'Geneva' is not a vertex",
    "plan roads.csv known.csv --goal GOAL --error -1": "--error must be a finite number of at",
    "plan roads.csv known.csv --goal GOAL --error inf": "--error must be a finite number of at",
    "plan roads.csv known.csv --goal GOAL --error much": "Try 'wayfield plan --help'",
    "plan roads.csv known.csv --goal GOAL --folds 1": "--folds must be 0, or at least 2",
    "plan roads.csv known.csv --goal GOAL --length-unit 0": "--length-unit must be positive and",
    "plan roads.csv known.csv --goal GOAL --length-unit 1e300": "--length-unit 1e+300: lengths[0]",
    "plan roads.csv known.csv --goal GOAL --prior a.csv": "--prior must be distance, got 'a.csv'",
    "plan roads.csv known.csv --goal GOAL -m harmonc": "'harmonc'; did you mean harmonic?",
    "plan roads.csv known.csv --goal GOAL -m zzz": "known are amle",
    "plan roads.csv known.csv --goal GOAL -m p=eight": "'eight' is not a number",
    "plan roads.csv known.csv --goal GOAL -m p=1e99": "use --method amle",
    "plan roads.csv known.csv --goal GOAL --directed -m harmonic": "use --method amle",
    "plan roads.csv known.csv --goal GOAL --out known.csv": "known.csv is a file, not a folder",
    "plan roads.csv known.csv --goal GOAL --out known.csv/x": "known.csv is a file, not a folder",
    "plan roads.csv known.csv --goal GOAL --proof known.csv": "known.csv",
    "plan roads.csv --goal GOAL --lift": "--lift needs LABELS",
    "plan roads.csv --goal GOAL --drop-false-sinks": "--drop-false-sinks needs LABELS",
    "plan roads.csv --goal GOAL --method amle": "--method needs LABELS",
    "plan roads.csv --goal GOAL --prior distance": "--prior needs LABELS",
    "plan osm.csv ends.csv --goal c -m harmonic": "Harmonic is not defined on directed graphs",
    "plan osm.csv ends.csv --goal c --directed --oneway oneway": "exclude each other",
    "plan lane.csv known.csv --goal GOAL --directed --prior distance": "'Genève' has a label, but",
    "plan marks.csv marked.csv --goal d": "1.234 may be 1.234 or 1234; pass --decimal .",
    "plan marks.csv marked.csv --goal d --decimal comma": "'1.234' is not a number with a decimal",
    "plan empty.csv known.csv --goal GOAL": "empty.csv is empty",
    "plan far.csv known.csv --goal GOAL": "far.csv, row 7, column 'cost (m)': 'far' is",
    "plan zero.csv known.csv --goal GOAL": "zero.csv, row 7, column 'cost (m)'",
    "plan roads.csv strange.csv --goal GOAL": "strange.csv, row 2, column 'node': Geneve is not a",
    "plan roads.csv twice.csv --goal GOAL": "twice.csv, row 4, column 'v': 'Genève' is labelled",
    "plan roads.csv known.csv --goal GOAL --length km": "roads.csv has no column 'km' (it has",
    "plan roads.csv known.csv --goal GOAL --encoding rot13": "unknown encoding 'rot13'",
    "plan roads.csv known.csv --goal GOAL --decimal :": "--decimal must be point or comma",
    "compare roads.csv --maze medium": "either EDGES and LABELS, or --maze",
    "compare roads.csv known.csv --goal Rome": "--goal 'Rome' is not a vertex",
}


@pytest.mark.parametrize("command", REFUSED)
def test_refusals(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("all is checked before kernels are compiled")

    Path("folder").mkdir()
    write("lane.csv", 'from,to\n"Zürich ""HB""",Genève\n')
    write("empty.csv", "")
    write("far.csv", ROADS + "Bern,Thun,far,1,road\n")
    write("zero.csv", ROADS + "Bern,Thun,0,1,road\n")
    write("strange.csv", "node,v\nGeneve,287\n")
    write("twice.csv", KNOWN + "Genève,288\n")
    monkeypatch.setattr("wayfield.cli.warmup.warm_up", compiled)
    words = [GOAL if word == "GOAL" else word for word in command.split()]
    assert REFUSED[command] in refused(*words)
