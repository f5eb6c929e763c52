"""`wayfield travel trips`: a network of named junctions, a few measured trips, bad files."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from shell import wayfield
from wayfield import travel
from wayfield.graphs.tables import Style, are_pairs, read_edges
from wayfield.travel import Fit, MendMethod
from wayfield.travel.facts import suspect_columns
from wayfield.travel.tables import read_trips

JUNCTIONS = ["Ash", "Birch Lane", "Cedar", "Dale", "Elm", "Fir", "Gate", "Hill", "Ivy", "Juniper"]
RING = [(x, (x + 1) % 10) for x in range(10)]
FALSE = (0, 5)
"""A chord across the ring that does not exist."""


def network(*more: tuple[int, int], length: float = 2.0) -> str:
    rows = [f"{JUNCTIONS[x]},{JUNCTIONS[y]},{length}" for x, y in [*RING, *more]]
    return "\n".join(["from,to,minutes", *rows, ""])


TRIPS = "start,end,minutes\nFir,Ash,10\nElm,Ash,8\n"
KNOWN = "junction,minutes\nAsh,0\nElm,8\nFir,10\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("roads.csv", network(FALSE))
    write("trips.csv", TRIPS)
    write("known.csv", KNOWN)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def mended(*words: object, pictures: bool = False) -> Any:
    """The JSON of a mend that must succeed."""
    words = ("travel", "trips", *words, "--method", "least-change", "--json")
    answer = wayfield(*words, pictures=pictures)
    assert answer.code == 0, answer.err
    return answer.json


def refused(*words: object) -> str:
    """The one line that is said; nothing may be left behind."""
    before = sorted(Path.cwd().rglob("*"))
    answer = wayfield("travel", "trips", *words, "--method", "least-change")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert sorted(Path.cwd().rglob("*")) == before
    return answer.err.removeprefix("wayfield: ").strip()


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ------------------------------------------------------------------ what is found and written


def test_the_false_edge_is_named_and_written() -> None:
    told = mended("roads.csv", "trips.csv", pictures=True)
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash – Fir (+8)"
    assert told["against"]["too_optimistic"] == 2
    assert told["misfit"]["mended"] == 0.0 < told["misfit"]["believed"]
    assert [Path(file).name for file in told["files"]] == [
        "mended.csv", "suspects.csv", "summary.json", "mended.png",
    ]  # fmt: skip
    (suspect,) = rows("wayfield-travel/suspects.csv")
    assert (suspect["from"], suspect["to"], float(suspect["added"])) == ("Ash", "Fir", 8.0)
    assert Path("wayfield-travel/mended.png").read_bytes().startswith(b"\x89PNG")
    assert (
        json.loads(Path("wayfield-travel/summary.json").read_text())["finding"] == told["finding"]
    )


def test_labels_say_the_same_with_their_goal() -> None:
    told = mended("roads.csv", "known.csv", "--goal", "Ash", "--no-files")
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash – Fir (+8)"
    assert told["goal"] == "Ash"
    assert not Path("wayfield-travel").exists()


def test_plan_reads_the_mended_graph_back() -> None:
    mended("roads.csv", "trips.csv")
    back, _ = read_edges("wayfield-travel/mended.csv").to_graph()
    assert back.num_edges == 11
    assert back.lengths.max() == 10.0
    answer = wayfield("plan", "wayfield-travel/mended.csv", "known.csv", "--goal", "Ash", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["input"]["edges"]["read_as"].startswith(
        "from = 'from', to = 'to', length = 'length'"
    )


def test_a_directed_graph_comes_back_directed() -> None:
    write("arcs.csv", network(*((y, x) for x, y in RING), FALSE))
    told = mended("arcs.csv", write("t.csv", "from,to,time\nAsh,Fir,10\n"), "--directed")
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash → Fir (+8)"
    back = read_edges("wayfield-travel/mended.csv")
    assert back.one_way
    assert back.to_graph()[0].num_arcs == 21


def test_an_edge_that_is_costlier_one_way_is_shown_with_its_direction() -> None:
    both_ways = network(*((y, x) for x, y in RING), FALSE, FALSE[::-1])
    write("arcs.csv", both_ways)
    told = mended("arcs.csv", write("t.csv", "from,to,time\nAsh,Fir,10\n"), "--directed")
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash → Fir (+8)"
    assert (told["edges"], told["graph"]["arcs"], told["costlier"]) == (11, 22, 1)
    assert told["findings"] is None
    (suspect,) = rows("wayfield-travel/suspects.csv")
    assert (suspect["from"], suspect["to"], suspect["kind"]) == ("Ash", "Fir", "costlier")


def test_both_ways_of_a_false_edge_are_one_edge() -> None:
    write("arcs.csv", network(*((y, x) for x, y in RING), FALSE, FALSE[::-1]))
    trips = write("t.csv", "from,to,time\nAsh,Fir,10\nFir,Ash,10\n")
    told = mended("arcs.csv", trips, "--directed")
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash – Fir (+8)"
    assert told["costlier"] == 1
    (suspect,) = rows("wayfield-travel/suspects.csv")
    assert (suspect["kind"], suspect["named"], suspect["probability"]) == ("costlier", "no", "")


def test_suspects_of_a_method_by_name_are_what_it_made_costlier() -> None:
    ring = wf.Graph.from_edges(*np.transpose(RING))
    lengths = ring.lengths.copy()
    for x, y, cost in ((0, 1, 19.0), (4, 5, 2.4), (7, 8, 0.5)):
        ends = np.minimum(ring.tails, ring.indices), np.maximum(ring.tails, ring.indices)
        lengths[(ends[0] == x) & (ends[1] == y)] = cost
    other = wf.Graph(ring.indptr, ring.indices, lengths, directed=False)
    found = travel.mend(ring, wf.Labels([0, 1], [0.0, 1.0]), 0, _Fixed(other))
    columns = suspect_columns(found, wf.Names(JUNCTIONS))
    assert columns["kind"] == ["costlier", "costlier"]
    assert columns["from"] == ["Ash", "Elm"]
    listed = [each["called"] for each in found.facts()["changes"]]
    assert listed == ["0 – 1", "4 – 5", "7 – 8"], "cheaper ones are changes, too"


def test_a_right_graph_is_left_alone_and_that_is_said() -> None:
    told = wayfield("travel", "trips", write("right.csv", network()), "trips.csv", "--json").json
    assert told["finding"] == "the trips do not contradict the graph: Dijkstra is as good"
    assert told["against"]["too_optimistic"] == 0
    assert rows("wayfield-travel/suspects.csv") == []
    assert all(row["believed"] == row["length"] for row in rows("wayfield-travel/mended.csv"))


def test_a_fault_that_is_proved_but_not_placed_is_not_called_none() -> None:
    street = "".join(f"v{x},v{x + 1},1\n" for x in range(20))
    write("street.csv", f"from,to,minutes\n{street}")
    trips = "v0,v4,4\nv1,v6,5\nv3,v8,5\nv15,v18,9\n"
    write("walks.csv", f"start,end,minutes\n{trips}")
    told = wayfield("travel", "trips", "street.csv", "walks.csv", "--json").json
    assert told["against"]["too_optimistic"] == 1
    assert told["finding"].startswith("the trips contradict the graph, but do not tell where")
    assert told["suspected"] == [
        "give --positions FILE: with them false edges can be told from slow streets"
    ]
    assert "more trips would show where" in told["advice"]
    assert "Dijkstra is as good" not in told["finding"]


class _Fixed(MendMethod):
    """A mend method that knows its answer."""

    def __init__(self, graph: wf.Graph) -> None:
        self.graph = graph

    def fit(self, problem: Any) -> Any:
        return Fit(self.graph.lengths)


def test_the_summary_is_for_people() -> None:
    answer = wayfield("travel", "trips", "roads.csv", "trips.csv", "--method", "least-change")
    assert answer.code == 0
    words = [line.split()[0] for line in answer.out.splitlines()]
    assert words == [
        "edges", "trips", "note", "graph", "trips", "against", "method", "fit", "found", "wrote",
        "advice",
    ]  # fmt: skip
    assert (
        "trips.csv is read as trips; if it has labels, name their columns (--vertex …)"
        in answer.out
    )
    assert "2 of 2 trips exceed the graph's shortest paths, by up to 8" in answer.out


def test_foreign_files_are_not_replaced() -> None:
    Path("wayfield-travel").mkdir()
    write("wayfield-travel/mended.csv", "mine")
    assert "was not written by wayfield" in refused("roads.csv", "trips.csv")
    assert mended("roads.csv", "trips.csv", "--force")["files"]
    assert mended("roads.csv", "trips.csv")["files"], "its own files are"


def test_input_is_not_overwritten() -> None:
    Path("out").mkdir()
    write("out/mended.csv", network(FALSE))
    told = refused("out/mended.csv", "trips.csv", "--out", "out", "--force")
    assert "would overwrite out/mended.csv" in told


def test_a_large_graph_without_places_has_no_picture() -> None:
    tails = "\n".join(f"{x},{x + 1},1" for x in range(5001))
    write("long.csv", f"from,to,length\n{tails}\n")
    told = mended("long.csv", write("t.csv", "start,end,cost\n0,300,500\n"))
    assert "no positions (--positions FILE)" in told["no_picture"]
    assert not Path("wayfield-travel/mended.png").exists()


def test_what_upper_bounds_prove() -> None:
    told = mended("roads.csv", "trips.csv", "--bound", "upper")
    assert told["against"]["too_optimistic"] == 0  # a detour proves nothing
    quick = write("quick.csv", "start,end,minutes\nFir,Ash,1\nElm,Ash,8\n")
    told = mended("roads.csv", quick, "--bound", "upper")
    assert told["against"]["too_pessimistic"] == 1
    assert told["against"]["over_by_up_to"] == 1.0


def test_upper_bounds_never_make_costlier() -> None:
    told = mended("roads.csv", "trips.csv", "--bound", "upper")
    assert told["changed"] == 0
    assert told["trips"]["upper_bounds"] is True
    assert told["against"]["too_optimistic"] == 0  # what was paid proves no way too cheap


def test_units_are_those_of_the_trips() -> None:
    told = mended("roads.csv", write("s.csv", "start,end,s\nFir,Ash,600\n"), "--length-unit", 60)
    assert told["finding"] == "LeastChange() changes the cost of 1 edge: Ash – Fir (+480)"


def test_another_unit_is_asked_about() -> None:
    seconds = write("s.csv", "start,end,s\nFir,Ash,600\nElm,Ash,480\n")
    answer = wayfield(
        "travel", "trips", "roads.csv", seconds, "--method", "least-change", "--no-files"
    )
    asked = "are both in the same unit? If not, pass --length-unit "
    assert f"units     the costs of the trips are 120 times the graph's own distances: {asked}" in (
        answer.out
    )
    told = mended("roads.csv", seconds, "--length-unit", 10, "--no-files")
    assert told["units"].endswith("pass --length-unit 120"), "of lengths as they stand in the file"
    known = write("k.csv", "junction,s\nAsh,0\nCedar,240\nBirch Lane,120\n")
    told = mended("roads.csv", known, "--goal", "Ash", "--no-files")
    assert told["units"].startswith("labels are 60 times")
    assert mended("roads.csv", "trips.csv", "--length-unit", 2, "--no-files")["units"] is None


def test_rounding_is_offered_as_a_reason_and_never_assumed() -> None:
    odd = write("odd.csv", network(length=2.04))
    trips = write("t.csv", "start,end,minutes\nElm,Ash,8.2\nHill,Ash,6.1\nDale,Ash,9\n")
    answer = wayfield("travel", "trips", odd, trips, "--method", "least-change", "--no-files")
    said = "the costs have 1 decimal, and rounding alone would explain 2 of these contradictions"
    assert f"rounding  {said}: if they are rounded, pass --error 0.05\n" in answer.out
    told = mended(odd, trips, "--no-files")
    assert told["trips"]["error"] == 0.0
    assert told["rounding"] == {"decimals": 1, "error": 0.05, "explains": 2}
    told = mended(odd, trips, "--no-files", "--error", 0.05)
    assert told["rounding"] is None
    assert told["against"]["too_optimistic"] == 1


def test_whole_costs_of_whole_lengths_are_not_taken_for_rounded() -> None:
    one_more = write("t.csv", "start,end,minutes\nElm,Ash,9\n")
    told = mended(write("right.csv", network()), one_more, "--no-files")
    assert told["against"]["too_optimistic"] == 1
    assert told["rounding"] is None


def test_labels_are_counted_as_plan_counts_them() -> None:
    words = ("roads.csv", "known.csv", "--goal", "Ash", "--no-files", "--json")
    planned = wayfield("plan", *words).json
    told = mended(*words[:-1])
    for key in ("count", "least", "largest", "per_graph_distance"):
        assert told["labels"][key] == planned["labels"][key]
    assert told["against"] == planned["contradictions"]
    answer = wayfield("travel", "trips", *words[:-1], "--method", "least-change")
    assert "labels    3 (30 % of the vertices), values 0 to 10; goal Ash\n" in answer.out
    assert "2 of 3 labels exceed the graph's shortest paths" in answer.out


@pytest.mark.parametrize("data", [("trips.csv",), ("known.csv", "--goal", "Ash")])
def test_the_advice_is_a_command_that_runs(data: tuple[str, ...]) -> None:
    rows = "\n".join(f"{name},{x},{x * x % 7}" for x, name in enumerate(JUNCTIONS))
    write("my places.csv", f"name,x,y\n{rows}\n")
    told = mended("roads.csv", *data, "--out", "new folder", "--positions", "my places.csv")
    _, command, _ = told["advice"].split("`")
    first, *words = shlex.split(command)
    assert first == "wayfield"
    answer = wayfield(*words, "--start", "Fir", "--json", "--no-files")
    assert answer.code == 0, answer.err
    assert answer.json["goal"] == "Ash"
    assert answer.json["routes"][0]["cost"] == 10.0


# ------------------------------------------------------------------ labels or trips


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRIPS, True),
        (KNOWN, False),
        ("Fir,Ash,10\nElm,Ash,8\n", True),
        ("Fir,10\nElm,8\n", False),
        ("u,v,time\nFir,Ash,10\n", True),
        ("origin;destination;cost;day\nFir;Ash;10;Monday\n", True),
        ("state,v,x\nFir,2.5,1.0\n", False),
        ("start,end,cost\nNowhere,Ash,10\n", True),
    ],
)
def test_the_header_or_the_cells_tell_trips_from_labels(text: str, expected: bool) -> None:
    assert are_pairs(write("data.csv", text), wf.Names(JUNCTIONS)) is expected


def test_the_user_settles_it() -> None:
    write("odd.csv", "node,other,minutes\nFir,Ash,10\n")
    told = mended("roads.csv", "odd.csv", "--trip-start", "node")
    assert told["trips"]["count"] == 1
    told = mended("roads.csv", "odd.csv", "--vertex", "node", "--goal", "Ash")
    assert told["labels"]["count"] == 2, "the goal's own counts"
    columns = ("--trip-start", "other", "--trip-end", "node", "--trip-cost", "minutes")
    told = mended("roads.csv", "odd.csv", *columns)
    assert told["input"]["trips"]["read_as"].startswith("start = 'other', end = 'node'")


# ------------------------------------------------------------------ bad input


def bad_trips(rows: str, *words: object) -> str:
    return refused("roads.csv", write("bad.csv", f"start,end,cost\n{rows}\n"), *words)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Firr,Ash,10", "row 2, column 'start': Firr is not a vertex of the graph; did you mean"),
        ("Fir,Nowhere,10", "row 2, column 'end': Nowhere is not a vertex of the graph"),
        ("Fir,Ash,-3", "row 2, column 'cost': -3 is not a positive cost"),
        ("Fir,Ash,0", "row 2, column 'cost': 0 is not a positive cost"),
        ("Fir,Ash,", "row 2, column 'cost': an empty cell is not a cost"),
        ("Fir,Ash,soon", "row 2, column 'cost': 'soon' is not a number"),
        ("Fir,Fir,4", "row 2, column 'end': Fir is the start of this trip as well"),
        ("Fir,Ash,inf", "row 2, column 'cost': inf is not between"),
        (",Ash,3", "row 2, column 'start': the vertex name is missing"),
    ],
)
def test_bad_trips(row: str, message: str) -> None:
    assert message in bad_trips(row)


def test_trips_that_contradict_each_other() -> None:
    told = bad_trips("Fir,Ash,10\nElm,Ash,8\nFir,Ash,13")
    assert (
        "row 4, column 'cost': the trip from 'Fir' to 'Ash' costs 13 here and 10 in row 2" in told
    )
    assert "pass --error 1.5 if costs are as uncertain as that, or --bound upper" in told
    write("bad.csv", "start,end,cost\nFir,Ash,10\nFir,Ash,13\n")
    assert mended("roads.csv", "bad.csv", "--error", 1.5)["trips"]["merged"] == 1
    assert mended("roads.csv", "bad.csv", "--bound", "upper")["trips"]["largest"] == 10.0


def test_a_pair_without_a_way_between() -> None:
    write("one.csv", "from,to,length,oneway\nAsh,Fir,1,yes\nFir,Gate,1,no\n")
    told = refused("one.csv", write("t.csv", "start,end,cost\nGate,Ash,5\nFir,Ash,2\n"))
    assert "t.csv: the graph has no path from 'Fir' to 'Ash', though going there cost 2" in told
    assert "(and 1 more): is an edge missing, or one-way?" in told


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (KNOWN, (), "no goal given: pass --goal NAME"),
        (KNOWN, ("--goal", "Nowhere"), "--goal 'Nowhere' is not a vertex"),
        (
            KNOWN,
            ("--goal", "Elm"),
            "8.0 is given for the goal 'Elm', where the cost is 0",
        ),
        ("v,t\nFir,-2\n", ("--goal", "Ash"), "label values[0] = -2.0 at 'Fir' is not positive"),
        ("v,t\nAsh,0\n", ("--goal", "Ash"), "only the goal 'Ash' is labelled"),
        (KNOWN, ("--goal", "Ash", "--bound", "lower"), "--bound must be upper, got 'lower'"),
        ("a,b\n1,2\n", ("--trip-start", "a"), "has no column for the cost of a trip"),
    ],
)
def test_bad_labels_and_options(text: str, words: tuple[str, ...], message: str) -> None:
    assert message in refused("roads.csv", write("bad.csv", text), *words)


def test_an_unknown_method() -> None:
    answer = wayfield("travel", "trips", "roads.csv", "trips.csv", "--method", "least-chang")
    assert answer.code == 2
    assert "unknown method 'least-chang'; did you mean least-change?" in answer.err


def test_fewer_labels_than_can_be_held_out() -> None:
    answer = wayfield("travel", "trips", "roads.csv", "trips.csv", "--method", "best")
    assert answer.code == 2
    assert "--method best needs at least 3 labels or trips, got 2" in answer.err
    assert "name one method instead, such as --method smooth" in answer.err
    assert answer.err.count("\n") == 1


def test_fewer_labels_than_folds_are_left_out_one_by_one() -> None:
    write("four.csv", "start,end,minutes\nFir,Ash,10\nElm,Ash,8\nGate,Ash,8\nHill,Ash,6\n")
    words = ("travel", "trips", "roads.csv", "four.csv", "--method", "best", "--json", "--no-files")
    answer = wayfield(*words)
    assert answer.code == 0, answer.err
    told = answer.json
    assert told["chosen"] in told["scores"]
    assert told["scores"]["plain"]["error"] > 0.0


# ------------------------------------------------------------------ what is borne out


def streets() -> tuple[str, str, str]:
    """Blocks of 8 by 8, with an edge across that does not exist; eight exact times, and places."""
    block = [f"J{x}{y}" for x in range(8) for y in range(8)]
    ends = [(8 * x + y, 8 * x + y + 1) for x in range(8) for y in range(7)]
    ends += [(8 * x + y, 8 * x + y + 8) for x in range(7) for y in range(8)]
    rows = "".join(f"{block[a]},{block[b]},1\n" for a, b in [*ends, (0, 63)])
    known = [(0, 0), (5, 5), (20, 6), (33, 5), (47, 12), (55, 13), (60, 11), (62, 13)]
    times = "".join(f"{block[v]},{t}\n" for v, t in known)
    places = "".join(f"{name},{k // 8},{k % 8}\n" for k, name in enumerate(block))
    return (
        write("blocks.csv", f"from,to,minutes\n{rows}"),
        write("times.csv", f"junction,minutes\n{times}"),
        write("places.csv", f"name,x,y\n{places}"),
    )


def test_with_positions_a_false_edge_is_named_and_without_they_are_asked_for() -> None:
    edges, times, places = streets()
    words = ("travel", "trips", edges, times, "--goal", "J00", "--json")
    told = wayfield(*words, "--positions", places).json
    (finding,) = told["findings"]
    assert (finding["kind"], finding["called"]) == ("false edge", "J00 – J77")
    assert (finding["named"], finding["evidence"]) == (True, "positions")
    assert told["finding"].startswith("1 edge does not exist, by the positions of its ends")
    (suspect,) = rows("wayfield-travel/suspects.csv")
    assert (suspect["kind"], suspect["named"]) == ("false edge", "yes")
    told = wayfield(*words).json
    assert told["suspected"][-1].startswith("give --positions FILE: with them false edges can be")


def test_mended_rows_are_those_of_the_file() -> None:
    edges, times, places = streets()
    wayfield("travel", "trips", edges, times, "--goal", "J00", "--positions", places)
    before, after = rows(edges), rows("wayfield-travel/mended.csv")
    assert [(row["from"], row["to"]) for row in after] == [(r["from"], r["to"]) for r in before]
    assert [int(row["row"]) for row in after] == list(range(1, len(before) + 1))
    assert float(after[-1]["length"]) == 28.0, "the false edge is twice as long as its detour"


def test_units_come_first() -> None:
    edges, _, places = streets()
    seconds = write("s.csv", "junction,s\nJ00,0\nJ05,300\nJ24,360\nJ41,300\nJ07,420\nJ70,420\n")
    answer = wayfield(
        "travel", "trips", edges, seconds, "--goal", "J00", "--positions", places, "--next", 2
    )
    assert answer.code == 0
    assert "are both in the same unit? If not, pass --length-unit 60\n" in answer.out
    assert "found     nothing yet" in answer.out
    assert not Path("wayfield-travel").exists()
    answer = wayfield("plan", edges, seconds, "--goal", "J00", "--no-files")
    assert "units     labels are 60 times the graph's own distances" in answer.out
    assert "advice    labels are 60 times the graph's own distances" in answer.out
    found = wayfield("compare", edges, seconds, "--goal", "J00", "-m", "amle")
    assert "If not, pass --length-unit 60" in found.out


def test_what_to_measure_next() -> None:
    edges, times, places = streets()
    words = ("travel", "trips", edges, times, "--goal", "J00", "--positions", places, "--no-files")
    told = wayfield(*words, "--next", 3, "--json").json
    assert len(set(told["next"])) == 3
    assert not set(told["next"]) & {row["junction"] for row in rows(times)}
    assert "\nnext      measure J" in wayfield(*words, "--next", 3).out


# ------------------------------------------------------------------ speeds, for roads and routers

STREETS = """\
u,v,key,osmid,length,oneway,reversed,maxspeed,highway
1,2,0,"[7, 8]",500.0,False,False,30,residential
2,3,0,9,500.0,False,"[True, False]","['30', '60']","['a', 'b']"
3,4,0,10,100.0,True,False,FI:urban,primary
4,1,0,11,440.0,True,False,,primary
"""


def test_speeds_make_seconds_and_are_used_only_if_asked_for() -> None:
    write("streets.csv", STREETS)
    plain = read_edges("streets.csv")
    assert plain.lengths is not None
    assert plain.lengths.tolist() == [500.0, 500.0, 100.0, 440.0]
    assert "'maxspeed'" in plain.notes[-1]
    told = read_edges("streets.csv", {"speed": "maxspeed"})
    assert told.lengths == pytest.approx([60.0, 40.0, 7.2, 3.6 * 440 / 45])
    assert any("an edge costs 'length' in metres over 'maxspeed' in km/h" in n for n in told.notes)
    assert any("FI:urban as 50 km/h" in note for note in told.notes)
    assert any("1 of 4 rows without a speed, taken as the median, 45 km/h" in n for n in told.notes)


def test_a_speed_that_is_none() -> None:
    write("streets.csv", STREETS.replace("FI:urban", "brisk"))
    with pytest.raises(wf.InputError, match=r"row 4, column 'maxspeed': 'brisk' is not a speed"):
        read_edges("streets.csv", {"speed": "maxspeed"})
    write("streets.csv", "u,v,length,maxspeed\n1,2,5,\n")
    with pytest.raises(wf.InputError, match="column 'maxspeed': no row has a speed"):
        read_edges("streets.csv", {"speed": "maxspeed"})
    with pytest.raises(wf.InputError, match="a speed column needs a length column"):
        read_edges("streets.csv", {"speed": "maxspeed", "length": "none"})


def test_plan_takes_speeds_too() -> None:
    write("streets.csv", STREETS)
    write("v.csv", "node,seconds\n1,0\n")
    answer = wayfield(
        "plan", "streets.csv", "v.csv", "--goal", 1, "--speed", "maxspeed", "--json", "--no-files"
    )
    assert answer.code == 0, answer.err
    assert answer.json["graph"]["largest_length"] == pytest.approx(60.0)


# ------------------------------------------------------------------ the readers themselves


def test_trips_from_other_texts() -> None:
    write("t.txt", "Fir\tAsh\t10,5\nElm\tAsh\t8,25\n")
    found = read_trips("t.txt", wf.Names(JUNCTIONS), style=Style(decimal=","))
    assert found.costs.tolist() == [10.5, 8.25]
    assert found.starts.tolist() == [5, 4]
    assert repr(found).startswith("TripTable(2 rows; start = column 1")


def test_networkx_gets_the_mended_lengths() -> None:
    networkx = pytest.importorskip("networkx")
    source = networkx.MultiDiGraph()
    source.add_edges_from(
        [("a", "b", {"length": 100.0}), ("a", "b", {"length": 150.0}), ("b", "a", {"length": 90.0})]
    )
    source.add_edge("a", "a", length=10.0)
    with pytest.warns(wf.errors.InputWarning):
        graph = wf.Graph.from_networkx(source)
    trips = travel.Trips([0], [1], [200.0])
    found = travel.mend(graph, trips, method=travel.LeastChange("unit", only_odd=None))
    out = found.to_networkx(source, "travel_time")
    assert [data["travel_time"] for data in out["a"]["b"].values()] == [200.0, 300.0]
    assert out["b"]["a"][0]["travel_time"] == 90.0
    assert "travel_time" not in source["b"]["a"][0]
    bare = found.to_networkx(attribute="cost")
    assert bare[0][1]["cost"] == 200.0
    assert bare.is_directed()
    with pytest.raises(wf.InputError, match="source must be a networkx graph of 2 nodes"):
        found.to_networkx(networkx.path_graph(3))
    one_way = wf.Graph.from_edges([1], [0], directed=True)
    found = travel.mend(one_way, travel.Trips([1], [0], [2.0]), method=travel.LeastChange())
    with pytest.raises(wf.InputError, match="source has an edge from 0 to 1 that the graph"):
        found.to_networkx(networkx.path_graph(2))
