"""The directed study: its worlds, its arms, and what it writes."""

from __future__ import annotations

import csv
import json
import os
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from wayfield.study.directed import COURSES, Place, places, run_place
from wayfield.study.worlds import WORLDS, make_world

import wayfield as wf
from wayfield import cli
from wayfield.study import directed

SIZE = 60 if "NUMBA_DISABLE_JIT" in os.environ else 600


@pytest.fixture(scope="module")
def lines() -> list[directed.Line]:
    cells = [Place(kind, SIZE, fraction, 54) for kind in WORLDS for fraction in (0.01, 0.1)]
    return directed.run_directed(cells)


@pytest.mark.parametrize("kind", WORLDS)
def test_worlds_are_the_same_for_the_same_seed(kind: str) -> None:
    one, two, other = (make_world(kind, SIZE, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.graph.indices, two.graph.indices)
    assert np.array_equal(one.graph.lengths, two.graph.lengths)
    assert one.goal == two.goal
    assert not np.array_equal(one.graph.indices, other.graph.indices)
    assert one.graph.directed
    able = np.isfinite(wf.cost_to_go(one.graph, one.goal))
    assert able.mean() > 0.5


def test_worlds_are_what_they_are_called() -> None:
    maze, terrain, replay = (make_world(kind, 3_000, 7) for kind in WORLDS)
    assert maze.graph.is_unit
    assert 0.7 < maze.reciprocity < 0.95
    assert set(np.unique(terrain.graph.lengths)) == set(range(1, 10))
    assert terrain.reciprocity == 1.0
    assert (terrain.graph.lengths != terrain.graph.reverse_arcs.lengths).any()
    assert 0.6 <= replay.reciprocity <= 0.8
    assert replay.graph.num_vertices == 3_000
    arcs = set(zip(replay.graph.tails.tolist(), replay.graph.indices.tolist(), strict=True))
    both = sum((y, x) in arcs for x, y in arcs)
    assert replay.reciprocity == pytest.approx(both / len(arcs))


def test_the_slope_rule_with_cost_fill_never_fails(lines: list[directed.Line]) -> None:
    ours = [line for line in lines if line.arm == "cost_slope"]
    assert len(ours) == 6
    assert all(line.reached == line.starts > 0 for line in ours)
    assert all(line.cost_ratio is not None and line.cost_ratio >= 1.0 for line in ours)


def test_the_reference_and_repair_reach_from_everywhere(lines: list[directed.Line]) -> None:
    for line in lines:
        if line.arm == "dijkstra":
            assert line.reached == line.starts
            assert line.cost_ratio == pytest.approx(1.0)
        if line.arm.endswith("_lrta"):
            assert line.reached == line.starts <= directed.WALKS
        if line.cost_ratio is not None:
            assert line.cost_ratio >= 1.0 - 1e-6


def test_every_arm_is_there_and_figures_repeat(lines: list[directed.Line]) -> None:
    place = Place("replay graph", SIZE, 0.01, 54)
    again = run_place(place)
    before = [x for x in lines if x.kind == place.kind and x.fraction == place.fraction]
    assert [x.arm for x in again] == [course.name for course in COURSES] + ["dijkstra"]
    for new, old in zip(again, before, strict=True):
        assert (new.arm, new.reached, new.cost_ratio) == (old.arm, old.reached, old.cost_ratio)


def test_places() -> None:
    small = places()
    assert len(small) == len(set(small)) == 75
    assert {place.fraction for place in small} == {0.001, 0.003, 0.01, 0.03, 0.1}
    large = places(large=True)
    assert large[:75] == small
    assert max(place.size for place in large) == 100_000


def test_what_is_written(lines: list[directed.Line], tmp_path: Path) -> None:
    table, record = directed.write_lines(lines, tmp_path / "deep" / "down")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(lines)
    assert rows[0]["arm"] == "cost_slope"
    content = json.loads(record.read_text(encoding="utf-8"))
    assert content["wayfield"] == wf.__version__
    assert content["lines"][0]["reached"] == int(rows[0]["reached"])


def test_the_table(lines: list[directed.Line]) -> None:
    out = StringIO()
    Console(file=out, width=80).print(directed.summary(lines))
    text = out.getvalue()
    for word in (*WORLDS, "AMLE, cost fill, slope", "reverse Dijkstra", "1.0000"):
        assert word in text


def test_an_arm_that_never_reaches_has_no_cost() -> None:
    about = {"kind": "k", "size": 1, "fraction": 0.1, "seed": 0}
    about |= {"vertices": 2, "arcs": 1, "reciprocity": 0.0, "labels": 1}
    line = directed._line(about, "cost_q", np.array([np.inf, np.inf]), 0.0)
    assert (line.reached, line.cost_ratio) == (0, None)
    assert directed._cell([line]) == "0.0000  –"


def test_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    few = [Place(kind, SIZE, 0.05, 54) for kind in WORLDS]
    monkeypatch.setattr(directed, "places", lambda large: few if large else few[:1])
    monkeypatch.setattr(sys, "argv", ["wayfield", "study", "directed", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    out, err = capsys.readouterr()
    assert "reverse Dijkstra" in out
    assert "directed.csv" in out
    assert "1/1 tasks" in err
    assert (tmp_path / "directed.json").exists()
