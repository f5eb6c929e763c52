"""`wayfield travel trips`: a network of named junctions and measured trips; good files and bad."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from shell import wayfield
from travel.made import city, drive, times, with_lengths
from wayfield import travel
from wayfield.graphs.names import Names
from wayfield.graphs.tables import read_edges
from wayfield.travel.picture import draw
from wayfield.travel.tables import read_trips, read_words


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def table(name: str) -> list[dict[str, str]]:
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wf.Graph:
    """A city whose roads take 1.5 times as long as the file says, and twenty trips."""
    monkeypatch.chdir(tmp_path)
    graph = city(1, side=6)
    there = graph.tails < graph.indices
    rows = zip(graph.tails[there], graph.indices[there], graph.lengths[there], strict=True)
    roads = [f"n{x},n{y},{length},{'wide' if x % 2 else 'narrow'}" for x, y, length in rows]
    write("roads.csv", "\n".join(["from,to,minutes,kind", *roads, ""]))
    slow = with_lengths(graph, 1.5 * graph.lengths)
    trips, _ = drive(slow, 2, 24)
    listed = zip(trips.starts, trips.ends, trips.times, strict=True)
    cells = [f"n{s},n{e},{t:.3f},{i % 4}" for i, (s, e, t) in enumerate(listed)]
    write("trips.csv", "\n".join(["start,end,minutes,day", *cells, ""]))
    write("pairs.csv", "start,end\nn0,n35\nn7,n3\n")
    return slow


def answered(*words: object, code: int = 0, pictures: bool = False) -> Any:
    answer = wayfield("travel", "trips", *words, "--json", pictures=pictures)
    assert answer.code == code, answer.err
    return answer.json


def test_predictions_and_times_are_written(world: wf.Graph) -> None:
    found = answered("roads.csv", "trips.csv", "--predict", "pairs.csv", "--next", 2)
    assert found["sigma"] == pytest.approx(0.05, abs=0.03)
    assert found["findings"] == []
    assert len(found["next"]) == 2
    assert found["held_out"]["count"] == 24
    assert found["held_out"]["model"] < 0.1
    names = read_edges("roads.csv").names
    rows = table("wayfield-travel/predicted.csv")
    for row in rows:
        ends = names.index([row["start"], row["end"]], "")
        truth = times(world, np.array([[int(x[1:]) for x in (row["start"], row["end"])]]))[0]
        assert ends.size == 2
        assert float(row["p50"]) == pytest.approx(truth, rel=0.1)
        assert float(row["p50"]) < float(row["p90"])
        assert float(row["given"]) == pytest.approx(truth / 1.5)
    roads = table("wayfield-travel/times.csv")
    assert len(roads) == world.num_edges
    for row in roads:
        assert float(row["low"]) < float(row["length"]) < float(row["high"])
        assert float(row["length"]) == pytest.approx(1.5 * float(row["given"]), rel=0.3)
    # what was written can be read by plan
    plan = wayfield("plan", "wayfield-travel/times.csv", "--goal", "n0", "--json")
    assert plan.code == 0, plan.err
    saved = json.loads(Path("wayfield-travel/summary.json").read_text(encoding="utf-8"))
    assert saved["factor"] == found["factor"]


def test_the_summary_is_read_by_people() -> None:
    answer = wayfield("travel", "trips", "roads.csv", "trips.csv", "--group", "day")
    assert answer.code == 0, answer.err
    assert "24 trips" in answer.out
    assert "minutes" in answer.out
    assert re.search(r"roads take 1\.[3-7]\d* times as long as the graph says", answer.out)
    assert "24 trips left out were predicted" in answer.out
    assert "by one factor" in answer.out
    measured = table("wayfield-travel/predicted.csv")
    assert len(measured) == 24
    assert "measured" in measured[0]


def test_unrelated_columns_end_in_code_three() -> None:
    rows = Path("trips.csv").read_text(encoding="utf-8").splitlines()[1:]
    cells = [row.split(",") for row in rows]
    mixed = np.random.default_rng(3).permutation([row[2] for row in cells])
    lines = [f"{row[0]},{row[1]},{time}" for row, time in zip(cells, mixed, strict=True)]
    write("mixed.csv", "\n".join(["start,end,minutes", *lines, ""]))
    answer = wayfield("travel", "trips", "roads.csv", "mixed.csv")
    assert answer.code == 3
    assert "is it the right column of minutes" in answer.out
    assert "check" not in answer.out
    assert not Path("wayfield-travel").exists()


def test_classes_and_labels_are_read(world: wf.Graph) -> None:
    found = answered("roads.csv", "trips.csv", "--class", "kind", "--no-files")
    assert found["factor"] == pytest.approx(1.5, rel=0.1)
    far = wf.cost_to_go(world, 0)
    rows = [f"n{x},{far[x]:.3f}" for x in range(0, 36, 3)]
    write("known.csv", "\n".join(["junction,minutes", *rows, ""]))
    found = answered("roads.csv", "known.csv", "--goal", "n0", "--next", 1, "--no-files")
    assert found["held_out"]["count"] == 11
    assert len(found["next"]) == 1
    answer = wayfield("travel", "trips", "roads.csv", "known.csv")
    assert (answer.code, "no goal given" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start,end,minutes\nn0,n99,3\n", "n99 is not a vertex"),
        ("start,end,minutes\nn0,n0,3\n", "is the start of this trip as well"),
        ("start,end,minutes\nn0,n1,-3\n", "row 2, column 'minutes'"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    answer = wayfield("travel", "trips", "roads.csv", write("bad.csv", text))
    assert answer.code == 2
    assert message in answer.err
    assert not Path("wayfield-travel").exists()


def test_columns_are_named_in_any_file() -> None:
    for name in ("roads.csv", "trips.csv"):
        text = Path(name).read_text(encoding="utf-8")
        heading, rows = text.split("\n", 1)
        other = "p,q,dauer_3,kind" if name == "roads.csv" else "p,q,dauer_3,day"
        write(name, "\n".join([other, rows]))
        assert heading.count(",") == other.count(",")
    named = ("--from", "p", "--to", "q", "--time", "dauer_3")
    read = answered("roads.csv", "trips.csv", *named, "--no-files")["input"]
    assert read["edges"]["read_as"].startswith("from = 'p', to = 'q', length = 'dauer_3'")
    assert read["trips"]["read_as"].startswith("start = 'p', end = 'q', cost = 'dauer_3'")
    answer = wayfield("plan", "roads.csv", "--goal", "n0", *named[:4], "--time", "hours")
    assert (answer.code, "--time: no file has a column 'hours'" in answer.err) == (2, True)
    write("known.csv", "who,far_3,e,n\nn0,0,1,2\nn9,9,4,3\n")
    words = (*named[:4], "--time", "far_3", "--x", "e", "--y", "n", "--json", "--no-files")
    found = wayfield("plan", "roads.csv", "known.csv", "--goal", "n0", "--length", "none", *words)
    assert found.code == 0, found.err
    said = "vertex = 'who', value = 'far_3', x = 'e', y = 'n'"
    assert found.json["input"]["labels"]["read_as"].startswith(said)


def test_repeated_trips_may_differ() -> None:
    write("again.csv", "start,end,minutes\nn0,n5,9\nn0,n5,12\n")
    trips = read_trips("again.csv", Names([f"n{x}" for x in range(9)]))
    assert trips.times.tolist() == [9.0, 12.0]
    assert read_words("trips.csv", "day").tolist()[:5] == ["0", "1", "2", "3", "0"]


def test_the_picture_shows_slow_roads_and_findings() -> None:
    pytest.importorskip("matplotlib")
    graph = city(1, directed=True)
    slow = np.where(graph.positions[graph.tails][:, 0] > 4, 2.0, 1.0)
    model = travel.fit(graph, drive(with_lengths(graph, graph.lengths * slow), 1, 60)[0])
    axes = draw(model)
    drawn = axes.collections[0]
    values, ends = np.asarray(drawn.get_array()), drawn.get_segments()
    east = np.array([each[:, 0].mean() > 4.5 for each in ends])
    assert values[east].mean() > 1.3 * values[~east].mean()
    assert "median road" in axes.figure.axes[-1].get_ylabel()
    answered("roads.csv", "trips.csv", pictures=True)
    assert Path("wayfield-travel/times.png").stat().st_size > 10_000
