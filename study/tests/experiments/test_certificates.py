"""Certificates by method: the counts against a naive walker, and what theorems forbid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_run import TINY

import wayfield as wf
from wayfield_study.engine import Profile, Records, Row
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import MazeCell, certificates
from wayfield_study.experiments.trial import COMPARED, Trial

FEW = MazeCell("umaze", 3, 0.0, 54, goals=3, label_count=2)
KEPT: dict[MazeCell, list[Row]] = {}


def rows_of(cell: MazeCell) -> list[Row]:
    if cell not in KEPT:
        KEPT[cell] = as_table(cell, certificates.run(cell))
    return KEPT[cell]


def naive(cell: MazeCell, method: Any, ties: Any) -> dict[str, int]:
    """Half-gaps, walks and failures, state by state, on unit lengths."""
    drawn, found = cell.draw(), dict.fromkeys(("holding", "decisions", "broken", "failed"), 0)
    found |= dict.fromkeys(("met", "met_holding"), 0)
    graph = drawn.graph
    for goal, truth, labels, starts in zip(
        drawn.goals.tolist(), drawn.truths, drawn.labels, drawn.starts.tolist(), strict=True
    ):
        field = wf.extend(graph, labels, method).values
        move = wf.plan(graph, field, goal, "q", ties).successor
        holds = {goal: True}
        for x in range(graph.num_vertices):
            if x == goal:
                continue
            near = graph.indices[graph.indptr[x] : graph.indptr[x + 1]]
            worse = [truth[y] for y in near if truth[y] > min(truth[near])]
            gap = min(worse) - min(truth[near]) if worse else np.inf
            holds[x] = bool(max(abs(field[near] - truth[near])) < gap / 2)
            found["decisions"] += 1
            found["holding"] += holds[x]
        for start in starts:
            x, seen, broken = start, set[int](), False
            while x != goal and x not in seen:
                seen.add(x)
                broken |= not holds[x]
                found["met"] += 1
                found["met_holding"] += holds[x]
                x = int(move[x])
            found["broken"] += broken
            found["failed"] += x != goal
    return found


@pytest.mark.parametrize("cell", [TINY, FEW], ids=["fraction", "count"])
@pytest.mark.parametrize("arm", COMPARED, ids=lambda arm: arm.name)
def test_half_gaps_are_those_of_a_walker(cell: MazeCell, arm: Any) -> None:
    (row,) = (row for row in rows_of(cell) if row["arm"] == arm.name)
    expected = naive(cell, arm.method, arm.ties)
    assert {name: row[name] for name in expected} == expected
    assert row["premise"] == row["pairs"] - row["broken"]


@pytest.mark.parametrize("cell", [TINY, FEW], ids=["fraction", "count"])
def test_what_theorems_forbid(cell: MazeCell) -> None:
    for row in rows_of(cell):
        assert row["failed"] <= row["broken"] <= row["pairs"] == 512 - 512 % cell.goals
        assert row["wrong"] == 0
        assert row["bound_sum"] <= row["tau_sum"]
        assert row["proved"] <= row["audited"] <= row["decisions"]
        assert row["routes"] <= row["pairs"]
        if row["arm"] in ("amle", "amle_exit"):
            assert row["corollary_premise"] <= row["premise"]
            assert row["corollary_holds"] <= row["holding"]
            assert row["corollary_decisions"] == row["decisions"]
            assert row["amle_bound_sum"] <= row["bound_sum"]
            assert row["extrema"] == 0


@pytest.mark.parametrize("arm", COMPARED, ids=lambda arm: arm.name)
def test_proved_moves_and_audits_are_those_of_the_library(arm: Any) -> None:
    trial, found = Trial(FEW), np.zeros(4, dtype=int)
    drawn = trial.drawn
    for number, field in enumerate(trial.fields(arm.method)):
        goal, truth = int(drawn.goals[number]), drawn.truths[number]
        route = wf.plan(drawn.graph, field.values, goal, "q", arm.ties)
        known = wf.certify(drawn.graph, drawn.labels[number], field.values, route)
        right = truth[route.successor] + 1.0 == truth
        audit = wf.audit_decisions(known, 0.1, 0.9, seed=number)
        for _ in range(30):
            if audit.state is not None:
                audit.record(bool(right[audit.state]))
        certified = audit.result.certified
        others = np.arange(truth.size) != goal
        found += [
            (known.proved & others).sum(),
            known.route_proved[drawn.starts[number]].sum(),
            (certified & others).sum(),
            (certified & others & ~right).sum(),
        ]
    (row,) = (row for row in rows_of(FEW) if row["arm"] == arm.name)
    names = ("proved", "routes", "audited", "audited_wrong")
    assert [row[name] for name in names] == found.tolist()


def test_every_statement_has_a_table_with_every_method() -> None:
    rows = Records.of([*rows_of(TINY), *rows_of(FEW)])
    shown = {table.name: table for table in certificates.tables(rows)}
    assert set(shown) == set(certificates.STATEMENTS)
    for name, table in shown.items():
        assert table.heads[2:] == ["2 labels", "lf = 0.08"]
        count = 2 if name in ("corollary", "label-fidelity") else len(COMPARED)
        assert len(table.rows) == count, name
    first, second = certificates.charts(rows)
    assert "harmonic" in first.legend
    assert first.title != second.title
    (finding,) = certificates.theorem(rows)
    assert finding.scope.startswith("On 2 cells (")
    assert "labels: 2" in finding.scope
    assert finding.mark == "new"


def test_labels_from_one_to_many() -> None:
    paper = certificates.cells(Profile("paper", "", 32))
    assert {cell.label_count for cell in paper} == {0, 1, 2, 4, 8, 16}
    assert {cell.label_fraction for cell in paper} == {0.0, 0.02, 0.05, 0.08, 0.12}
    assert {cell.goals for cell in paper} == {8}
    assert len(paper) == 162
