"""The experiments: each on a tiny cell, what they must count, and the profiles."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import small_run
from small_run import TINY

import wayfield as wf
from wayfield_study.engine import Row, Store, Task, by_experiment
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import (
    EXPERIMENTS,
    STUDIES,
    MazeCell,
    Trial,
    grid,
    witnesses,
)
from wayfield_study.experiments.iteration_audit import BUDGETS
from wayfield_study.experiments.trial import HARMONIC, RIVALS, SWEEPS
from wayfield_study.experiments.witnesses import GraphCell
from wayfield_study.lattice_search import search
from wayfield_study.paper.grid import PAPER_RELAXATION
from wayfield_study.report import Section
from wayfield_study.sweeps import MidrangeSweeps

BY_NAME = {experiment.name: experiment for experiment in STUDIES["all"].experiments}
pytestmark = pytest.mark.usefixtures("computed")
KEPT: dict[str, list[Row]] = {}
"""Rows of the shared run, by experiment."""


@pytest.fixture(scope="module")
def computed(paper_store: Store) -> None:
    KEPT.update(by_experiment({task: paper_store.look(task).rows for task in small_run.TASKS}))


OUTCOMES = [
    name
    for name in BY_NAME
    if name not in ("ordering", "mechanism", "certificates", *small_run.CELLS)
]


def rows_of(name: str) -> list[Row]:
    return KEPT[name]


def pick(name: str, **settings: Any) -> Row:
    """The one row with these values."""
    (row,) = (r for r in rows_of(name) if all(r[k] == v for k, v in settings.items()))
    return row


def shared(row: Row, other: Row) -> tuple[Row, Row]:
    """Both rows, cut down to the columns they have in common."""
    names = row.keys() & other.keys()
    return {k: row[k] for k in names}, {k: other[k] for k in names}


# ---------------------------------------------------------------- every experiment


@pytest.mark.parametrize("name", BY_NAME)
def test_rows_are_the_same_every_time(name: str) -> None:
    cells = small_run.CELLS.get(name, [TINY])
    again = [row for cell in cells for row in as_table(cell, BY_NAME[name].run(cell))]
    assert BY_NAME[name].to_report(again) == rows_of(name)


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_start_ends_somewhere(name: str) -> None:
    ends = ("reached", "boundary", "interior", "dead_ends")
    for row in rows_of(name):
        assert sum(row[end] for end in ends) == row["pairs"] == 512
        assert sum(row[f"{end}_all"] for end in ends) == row["starts_all"]
        assert row["starts_all"] == TINY.goals * (row["vertices"] - 1)
        assert row["dead_ends"] == row["dead_ends_all"] == 0
        assert row["cost_all"] >= row["least_cost_all"]


# ---------------------------------------------------------------- rollouts


def test_arms_of_the_main_experiment() -> None:
    arms = [row["arm"] for row in rows_of("rollout")]
    papers = ["harmonic", "sweeps", "amle", "amle_exit", "nearest", "nearest_exit"]
    assert arms == [*papers, *(arm.name for arm in RIVALS), "oracle"]
    assert len(RIVALS) == 8
    for row in rows_of("rollout"):
        assert row["ties"] == ("exit" if row["arm"].endswith("_exit") else "index")
        assert 0.0 <= row["weighted"] <= row["reached"]


def test_the_oracle_walks_shortest_paths() -> None:
    row = pick("rollout", arm="oracle")
    assert row["reached_all"] == row["starts_all"]
    assert row["cost_all"] == row["least_cost_all"]


@pytest.mark.parametrize("name", ["rollout", "held_out"])
def test_exact_fields_and_exit_ties_reach_from_everywhere(name: str) -> None:
    chosen = [row for row in rows_of(name) if row["arm"] == "amle_exit"]
    assert chosen
    assert all(row["reached_all"] == row["starts_all"] for row in chosen)


def test_counts_agree_with_walking_every_pair() -> None:
    drawn = TINY.draw()
    reached = boundary = 0
    for labels, goal, starts in zip(drawn.labels, drawn.goals, drawn.starts, strict=True):
        field = wf.extend(drawn.graph, labels, wf.NearestLabel())
        route = wf.plan(drawn.graph, field.values, int(goal), "q", "index")
        for start in starts:
            walk = route.rollout(int(start))
            reached += walk.path[-1] == goal
            cycle = walk.path[np.argmax(walk.path == walk.path[-1]) :]
            boundary += walk.path[-1] != goal and bool(np.isin(cycle, labels.vertices).any())
    row = pick("rollout", arm="nearest")
    assert 0 < row["reached"] < row["pairs"]
    assert (row["reached"], row["boundary"]) == (reached, boundary)


def test_fields_are_solved_once_for_each_method() -> None:
    trial = Trial(TINY)
    assert trial.fields(HARMONIC.method) is trial.fields(wf.Harmonic())


def test_the_draws_of_the_study_stay_as_they_are() -> None:
    drawn = MazeCell("large", 8, 0.02, 55).draw()
    assert drawn.goals[:3].tolist() == [728, 1083, 2156]
    assert drawn.starts[0, :3].tolist() == [1636, 1537, 2637]
    assert drawn.labels[0].vertices[:3].tolist() == [24, 37, 92]


# ---------------------------------------------------------------- audits


def test_ordering_has_both_scopes_of_every_arm() -> None:
    rows = rows_of("ordering")
    assert len({(row["arm"], row["scope"]) for row in rows}) == len(rows) == 6
    for row in rows:
        assert row["low_tau"] <= row["ranked"] <= row["decisions"]
        assert row["agreed"] <= row["decisions"]
        assert row["excluded"] == 0
    everything = pick("ordering", arm="amle", scope="all")
    assert everything["decisions"] == pick("rollout", arm="amle")["starts_all"]


def test_decisions_on_rollouts_are_the_steps_of_the_walks() -> None:
    scope, row = (
        pick("ordering", arm="amle", scope="eval_rollouts"),
        pick("rollout", arm="amle"),
    )
    assert row["reached"] == row["pairs"]
    trial = Trial(TINY)
    drawn, cost, least = trial.drawn, 0.0, 0.0
    for k, field in enumerate(trial.fields(wf.AMLE())):
        route = wf.plan(drawn.graph, field, int(drawn.goals[k]), "q", "index")
        cost += route.cost[drawn.starts[k]].sum()
        least += drawn.truths[k][drawn.starts[k]].sum()
    assert scope["decisions"] == cost
    assert scope["regret_sum"] == pytest.approx(cost - least)


def test_mechanism_counts_nest() -> None:
    for row in rows_of("mechanism"):
        for prefix in ("", "scope_"):
            kinds = ("both", "primary", "harmonic_only", "neither")
            assert sum(row[prefix + kind] for kind in kinds) == row["decisions"]
            assert row[f"{prefix}harmonic_only"] == 0  # unit lengths
        assert row["certified"] <= row["corrected"] <= row["inversions"] <= row["untied"]
        assert row["separated_seen"] == row["separated"]


def test_both_amles_are_audited_on_the_same_decisions() -> None:
    sweeps, exact = rows_of("mechanism")
    for name in ("decisions", "untied", "inversions"):
        assert sweeps[name] == exact[name]


def test_the_family_is_that_of_the_other_experiments() -> None:
    rows = rows_of("finite_p")
    assert [row["p"] for row in rows] == [2, 4, 8, 16, 32, 64, 128, math.inf, math.inf]
    for arm in ("harmonic", "sweeps", "amle"):
        mine = pick("finite_p", arm=arm)
        here, there = shared(mine, pick("rollout", arm=arm))
        assert here == there
        scope = pick("ordering", arm=arm, scope="eval_rollouts")
        assert mine["eval_agreed"] == scope["agreed"]
        assert mine["eval_tau_sum"] == scope["tau_sum"]


def test_every_p_is_certified() -> None:
    widths = [row["width"] for row in rows_of("finite_p") if row["arm"] != "sweeps"]
    assert max(widths) <= 2e-11


@pytest.mark.parametrize("budget", [50, 100, 500])
def test_sweeps_with_checkpoints_are_separate_runs(budget: int) -> None:
    method = MidrangeSweeps(budget, "harmonic", PAPER_RELAXATION)
    alone = Trial(TINY).row(replace(SWEEPS, method=method))
    here, there = shared(pick("iteration_audit", sweeps=budget), alone)
    assert here == there


def test_residuals_never_grow() -> None:
    rows = [row for row in rows_of("iteration_audit") if row["arm"] == "sweeps"]
    assert tuple(row["sweeps"] for row in rows) == BUDGETS
    residuals = [row["residual"] for row in rows]
    assert residuals == sorted(residuals, reverse=True)  # the update does not expand distances


@pytest.mark.parametrize("name", ["solver_audit", "lbfgs_budget"])
def test_the_certified_solver_is_the_measure(name: str) -> None:
    for row in rows_of(name):
        assert 0 <= row["converged"] <= row["solves"] == TINY.goals
        if row["arm"] == "certified":
            assert row["converged"] == row["solves"]
            assert row["error"] == 0.0
            assert row["fixed_point"] <= 1e-9
        elif row["arm"] != "irls":  # reweighted least squares may be exact to rounding
            assert row["error"] > row["width"]
    solvers = {"lbfgs", "picard", "newton"} if name == "solver_audit" else {"lbfgs700"}
    assert {row["arm"] for row in rows_of(name)} == solvers | {"certified"}
    assert max(row["iterations"] for row in rows_of("lbfgs_budget")) <= 700


# ---------------------------------------------------------------- small graphs


def figure(rows: list[Row], item: str, quantity: str) -> tuple[float, str]:
    (row,) = (r for r in rows if (r["item"], r["quantity"]) == (item, quantity))
    return float(row["value"]), str(row["exact"])


def test_the_search_counts_its_witnesses() -> None:
    lattice = GraphCell("lattice-3x3", 20260510, candidates=60)
    rows = as_table(lattice, witnesses.run(lattice))
    found = search((3, 3), 60, 20260510)
    assert figure(rows, "all", "tested")[0] == 60
    assert figure(rows, "all", "witnesses_exit")[0] == 0  # the reach theorem
    for way, count in found.counts.items():
        assert figure(rows, "all", f"witnesses_{way}")[0] == count


def test_drawings_hold_what_was_found() -> None:
    by_way = {row["way"]: row for row in rows_of("small_graphs") if row["graph"] == "witness-1"}
    assert by_way.keys() == {"swept", "exact", "exit"}
    for row in by_way.values():
        columns = ("x", "y", "values", "successor", "arrives", "labelled")
        assert {len(row[name]) for name in columns} == {row["vertices"]}
        assert row["failing"] == row["arrives"].count(False)
        assert row["labelled"].count(True) == row["labels"]
        assert row["values"][row["goal"]] == 0.0
        assert len(row["tails"]) == len(row["heads"]) > 0
    assert by_way["swept"]["amle"] < by_way["exact"]["amle"] == by_way["exit"]["amle"] == 1.0


# ---------------------------------------------------------------- the registry


def test_every_experiment_has_a_section() -> None:
    assert all(experiment.sections for experiment in EXPERIMENTS)
    for section in (each for experiment in EXPERIMENTS for each in experiment.sections):
        assert isinstance(section, Section)
        assert section.title
        assert section.about
        shown = (section.charts, section.drawings, section.tables)
        assert section.compared or any(make is not None for make in shown), section.title


@pytest.mark.parametrize("study", STUDIES)
def test_every_experiment_has_cells_in_every_profile(study: str) -> None:
    chosen = STUDIES[study]
    for profile in chosen.profiles:
        tasks = chosen.tasks(profile)
        lacking = chosen.left_out(profile)
        if profile.name == "official":  # has an experiment to itself
            assert {task.experiment.name for task in tasks} | set(lacking) == {"point_official"}
            continue
        able = {
            each
            for each in chosen.experiments
            if each.name not in lacking and each.name != "point_official"
        }
        assert {task.experiment for task in tasks} == able
        assert len(set(tasks)) == len(tasks)
        assert len({(task.experiment.name, str(task.cell.columns)) for task in tasks}) == len(tasks)
        for task in tasks:
            assert task.effort > 0


# ---------------------------------------------------------------- profiles


def profile(name: str, goals: int | None = None) -> list[Task]:
    study = STUDIES["all"]
    return study.tasks(study.profile(name, goals))


def test_the_paper_is_its_tables_and_what_verdicts_rest_on() -> None:
    """Its experiments measure figures or statements of the paper, or judge them."""
    paper, everything = STUDIES["paper"], STUDIES["all"]
    rest_on = {"other_draws", "other_searches"}
    others = {each.name for each in paper.experiments if each.measures is None}
    assert others == rest_on | {"certificates"}
    assert everything.experiments[: len(paper.experiments)] == paper.experiments
    beyond = {each.name for each in everything.experiments} - {e.name for e in paper.experiments}
    assert beyond == {"design", "held_out"}
    # the same settings, so that one takes the other's results
    assert set(paper.tasks()) <= set(everything.tasks())
    assert paper.profiles == everything.profiles
    assert paper.cover is everything.cover


def cells(tasks: list[Task], experiment: str) -> list[MazeCell]:
    found = [task.cell for task in tasks if task.experiment.name == experiment]
    assert all(isinstance(cell, MazeCell) for cell in found)
    return found  # type: ignore[return-value]


def test_the_papers_cells() -> None:
    tasks = profile("paper")
    for name in ("rollout", "ordering", "mechanism"):
        own = [cell for cell in cells(tasks, name) if not cell.method]
        assert own == grid(goals=32)
    assert cells(tasks, "finite_p") == cells(tasks, "lbfgs_budget")  # on the same goals
    assert {replace(cell, goals=32) for cell in cells(tasks, "finite_p")} == set(grid(goals=32))
    assert {cell.goals for cell in cells(tasks, "finite_p")} == {2, 4, 8}
    for name in ("iteration_audit", "solver_audit"):
        assert len(cells(tasks, name)) == 24
        assert {cell.refinement for cell in cells(tasks, name)} == {8, 12}
        assert {cell.label_fraction for cell in cells(tasks, name)} == {0.02, 0.08}
        assert {cell.seed for cell in cells(tasks, name)} == {54, 55, 56}
    assert {cell.goals for cell in cells(tasks, "solver_audit")} == {2, 4}


def test_held_out_mazes_are_not_the_papers() -> None:
    mazes = {cell.maze for cell in cells(profile("paper"), "held_out")}
    assert {"umaze", "giant", "large-eval"} <= mazes
    assert not mazes & {"medium", "large"}
    assert mazes <= set(wf.layout_names())
