"""The study of decisions: figures that must hold on any cell, and that they repeat."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.engine import Records
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import STUDIES, decisions
from wayfield_study.experiments.decisions import DecisionCell
from wayfield_study.experiments.wrong_worlds import make_wrong_world

CELLS = [
    DecisionCell(world, 0.05, 90)
    for world in ("medium", "medium + passages", "replay graph", "walls")
]


def rows(experiment, cells=CELLS) -> Records:
    return Records.of(row for cell in cells for row in as_table(cell, experiment.run(cell)))


def test_proved_moves_are_right_where_the_premise_holds() -> None:
    found = rows(decisions.PROVED)
    sound = [row for row in found if row["world"] != "walls"]
    assert all(row["wrong"] == 0 < row["routes"] <= row["proved"] for row in sound)
    assert all(row["to_known"] <= row["to_labels"] for row in found)
    for row in found:
        if row["world"] in decisions.RIGHT:
            assert row["inverted"] <= row["if_errors"] <= row["if_labels"] + 1e-9
    (finding,) = decisions.findings_proved(found)
    assert finding.mark == "new"
    assert [line[0] for line in decisions.tables_proved(found)[0].rows] == [c.world for c in CELLS]


def test_audits_count_their_own_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "DRAWS", 12)
    monkeypatch.setattr(decisions, "SPLITS", 3)
    found = rows(decisions.AUDITED)
    assert str(rows(decisions.AUDITED, CELLS[:1]).rows) == str(found.rows[: len(decisions.ARMS)])
    assert found.values("arm") == [arm for arm in found.values("arm") if arm in decisions.ARMS]
    assert "proved_audits" not in found.where(world="walls").values("arm")
    assert len(decisions.tables_audits(found)) == len(decisions.ARMS)
    assert list(decisions.findings_audits(found))
    # one arm again, by hand
    cell = CELLS[0]
    case = cell.draw()
    answer = wf.solve(case.graph, cell.labels(case), case.goal)
    moves = answer.plan.successor
    right = case.truth[moves] + 1.0 == case.truth
    shares = []
    for draw in range(12):
        audit = wf.audit_decisions(answer, use_proved=False, seed=draw)
        for _ in range(30):
            if audit.state is not None:
                audit.record(bool(right[audit.state]))
        shares.append(audit.result.share)
    row = found.where(world="medium", arm="audits").rows[0]
    assert row["value"] == pytest.approx(np.mean(shares))
    assert (row["draws"], row["violations"]) == (12, 0)


def test_a_risk_that_is_exceeded_is_a_violation() -> None:
    row = decisions.summary("audits", np.array([0.0, 0.1, 0.11]), np.array([1.0, 0.5, 0.0]))
    assert (row["draws"], row["violations"], row["value"]) == (3, 1, 0.5)
    bad = {"world": "medium", "label_fraction": 0.05, **row}
    mean = bad | {"arm": "routes_mean", "risk": 0.05}
    (finding,) = decisions.findings_audits(Records.of([bad, mean]))
    assert finding.mark == "differs"


def test_a_route_that_leaves_the_graph_costs_the_world_s_price() -> None:
    """Walls: trying an arc that does not exist is no way to arrive."""
    case = CELLS[-1].draw()
    right, cost = case.judge(wf.plan(case.graph, case.truth, case.goal, rule="q").successor)
    assert np.isinf(cost).any() == (~right).any()
    assert np.isinf(case.costs).any()


@pytest.mark.parametrize("kind", decisions.WRONG)
def test_worlds_are_wrong_in_their_own_way(kind: str) -> None:
    world, again, other = (make_wrong_world(kind, seed) for seed in (1, 1, 4))
    assert np.array_equal(world.costs, again.costs)
    assert world.goal == again.goal != other.goal
    graph, there = world.graph, np.isfinite(world.costs)
    assert not graph.directed
    assert (world.costs >= graph.lengths).all()
    assert np.isfinite(world.truth).all()
    assert world.truth[world.goal] == 0.0
    assert there.all() == (kind != "walls")
    slow = world.costs[there] / graph.lengths[there]
    assert 0.0 < (slow == 1.0).mean() < 1.0 or kind == "walls"
    assert slow.max() <= {"walls": 1.0, "patch": 10.0}.get(kind, np.inf)
    # no arc leads to a better place than the truth says, and one of each state leads there
    beyond = (world.costs + world.truth[graph.indices])[there]
    best = np.full(graph.num_vertices, np.inf)
    np.minimum.at(best, graph.tails[there], beyond)
    best[world.goal] = 0.0
    assert best == pytest.approx(world.truth)


def test_measuring_where_it_is_wide_beats_drawing_at_random() -> None:
    cells = [DecisionCell("medium", 0.05, seed) for seed in (90, 91, 92)]
    found = rows(decisions.CHOSEN, cells)
    ten = found.where(labels=10).by("arm")
    assert ten["next"].mean("cost_ratio") < ten["random"].mean("cost_ratio")
    assert len(decisions.tables_labels(found)[0].rows) == 3
    assert list(decisions.findings_labels(found))


def test_a_value_of_the_amle_rests_on_fewer_labels() -> None:
    cells = [DecisionCell(world, 0.05, 90) for world in ("medium", "one-way maze")]
    found = rows(decisions.INFLUENCE, cells)
    assert [row["arm"] for row in found] == ["amle", "harmonic", "amle"], "none of it is directed"
    arms = found.where(world="medium").by("arm")
    assert 1.0 <= arms["amle"].mean("effective") <= arms["amle"].mean("labels")
    assert arms["amle"].mean("labels") < 0.2 * arms["harmonic"].mean("labels")
    assert [len(each.rows) for each in decisions.tables_influence(found)] == [2, 1]
    assert list(decisions.findings_influence(found))


def test_profiles() -> None:
    study = STUDIES["decisions"]
    standard = study.tasks(study.profile(None))
    per_cell = [t for t in standard if t.experiment is decisions.AUDITED]
    groups = {(t.cell.columns["world"], t.cell.columns["label_fraction"]) for t in per_cell}
    assert len(per_cell) * decisions.DRAWS // len(groups) == 2_000
    chosen = {t.cell.columns["world"] for t in standard if t.experiment is decisions.CHOSEN}
    assert chosen == set(decisions.RIGHT)
