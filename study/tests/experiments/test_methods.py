"""Methods of a study: by name, of one's own, in every table; and what pools over seeds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_run import TINY

from wayfield_study.engine import Records, Row, Store, Study, Task, load_config, run
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import (
    EXPERIMENTS,
    STUDIES,
    Estimate,
    MazeCell,
    add_methods,
    find_method,
    finite_p,
    mechanism,
    ordering,
    over_seeds,
    paired,
    rollout,
)
from wayfield_study.experiments.comparison import Rate, across, by_arm, with_labels
from wayfield_study.experiments.trial import RIVALS, arms_of
from wayfield_study.paper.figures import FIGURES
from wayfield_study.paper.grid import GRID, SEEDS

COUNTS = ("reached", "boundary", "interior", "reached_all", "cost_all", "pair_end")
COMPARED = (rollout, ordering, mechanism, finite_p)
MINE = """
import numpy as np
import wayfield as wf
from wayfield.fields.base import Solution, Status

class Level:
    directed = False
    def solve(self, problem):
        return Solution(np.where(problem.labelled, problem.boundary, HEIGHT),
                        status=Status.NO_BRACKET)

def make():
    return Level()

LEVEL = Level()
HEIGHT = 5.0

def smooth(graph, labels):
    return wf.extend(graph, labels, wf.Harmonic()).values

def short(graph, labels):
    return np.zeros(3)

def raises(graph, labels):
    raise RuntimeError("no field today")

def undefined(graph, labels):
    return np.full(graph.num_vertices, np.nan)

def generator(graph, labels):
    yield 1.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a module of methods."""
    (tmp_path / f"mine_{tmp_path.name}.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def mine(folder: Path, name: str) -> str:
    return f"mine_{folder.name}:{name}"


# ---------------------------------------------------------------- by name


@pytest.mark.parametrize("rival", RIVALS, ids=lambda arm: arm.name)
def test_rivals_have_the_names_of_their_arms(rival: Any) -> None:
    assert find_method(rival.name) == rival.method
    index, exits = arms_of(rival.name)
    assert index is rival
    assert (exits.name, exits.ties) == (f"{rival.name}_exit", "exit")


def test_objects_and_factories(folder: Path) -> None:
    for name in ("Level", "make", "LEVEL"):
        assert hasattr(find_method(mine(folder, name)), "solve"), name
    smooth = Records.of(rollout.run(replace(TINY, method=mine(folder, "smooth"))))
    (harmonic,) = (row for row in rollout.run(TINY) if row["arm"] == "harmonic")
    (ours,) = smooth.where(arm=mine(folder, "smooth"))
    assert {name: ours[name] for name in COUNTS} == {name: harmonic[name] for name in COUNTS}


# ---------------------------------------------------------------- in every table


@pytest.mark.parametrize("experiment", COMPARED, ids=lambda module: module.__name__)
def test_a_method_has_a_row_for_each_tie_rule(experiment: Any) -> None:
    rows = Records.of(experiment.run(replace(TINY, method="p=8")))
    both = {"p8"} if experiment is mechanism else {"p8", "p8_exit"}
    assert set(rows.values("arm")) == both
    with_own = Records.of(as_table(TINY, experiment.run(TINY)) + as_table(TINY, list(rows)))
    shown = [table for section in experiment.EXPERIMENT.sections if section.tables
             for table in section.tables(with_own)]  # fmt: skip
    assert any("p = 8, exact" in [line[0] for line in table.rows] for table in shown)


def own_study(folder: Path, *methods: str) -> Study:
    names = ", ".join(f'"{name}"' for name in methods)
    text = f"""
        [grid]
        mazes = ["umaze"]
        refinements = [2]
        label_fractions = [0.1]
        label_counts = [1, 3]
        seeds = [1]
        goals = 2
        methods = [{names}]
        experiments = ["rollout", "ordering", "mechanism", "finite_p"]
    """
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return load_config(folder / "study.toml", EXPERIMENTS)


def test_methods_and_label_counts_of_a_study(folder: Path) -> None:
    study = own_study(folder, "amle", mine(folder, "Level"))
    tasks = study.tasks()
    assert len(set(tasks)) == 4 * 3 * 2
    outcome = run(tasks, Store(folder / "results"), workers=0)
    assert not outcome.failed
    for task, rows in outcome.tables.items():
        assert {row["method"] for row in rows} == {task.cell.columns["method"]}
        if task.experiment.name == "rollout":
            count = task.cell.columns["label_count"]
            assert all(row["labels"] <= count + 1 for row in rows if count)


def test_a_method_that_fails_spoils_no_other(folder: Path) -> None:
    wrong = [mine(folder, name) for name in ("raises", "short", "undefined", "generator")]
    study = own_study(folder, *wrong, "amle")
    outcome = run(study.tasks(), Store(folder / "results"), workers=0)
    assert {task.cell.columns["method"] for task in outcome.tables} == {"amle"}
    said = "".join(outcome.failed.values())
    assert len(outcome.failed) == 4 * 12
    for complaint in (
        "raises raised RuntimeError: no field today",
        "short: values has 3 entries, expected",
        "undefined: values[0] = nan is not a finite number",
        "generator: values must be an array of",
    ):
        assert complaint in said


def test_a_changed_method_is_run_again(folder: Path) -> None:
    study, store = own_study(folder, mine(folder, "Level")), Store(folder / "results")
    task = study.tasks()[0]
    run([task], store, workers=0)
    assert store.look(task).condition.value == "done"
    path = folder / f"mine_{folder.name}.py"
    path.write_text(MINE + "\n# a comment changes nothing\n", encoding="utf-8")
    assert store.look(task).condition.value == "done"
    path.write_text(MINE.replace("5.0", "6.0"), encoding="utf-8")
    assert store.look(task).changed == "the code of its method changed since"


def test_methods_beside_those_of_the_paper(folder: Path) -> None:
    paper = STUDIES["paper"]
    more = add_methods(paper, ["game=20", mine(folder, "LEVEL")])
    before, after = (study.tasks(study.profile("quick")) for study in (paper, more))
    names = {(t.experiment.name, t.cell.columns.get("method", "")) for t in after} - {
        (t.experiment.name, t.cell.columns.get("method", "")) for t in before
    }
    assert {name for name, _ in names} >= {"rollout", "ordering", "mechanism", "finite_p"}
    assert {method for _, method in names} == {"game=20", mine(folder, "LEVEL")}
    assert add_methods(paper, []).tasks() == paper.tasks()


def test_a_cell_has_a_fraction_or_a_count() -> None:
    cell = MazeCell("umaze", 4, 0.0, 1, 4, label_count=3)
    drawn = cell.draw()
    assert {len(labels) for labels in drawn.labels} <= {3, 4}
    assert replace(cell, label_count=4).draw().label_seed != drawn.label_seed


# ---------------------------------------------------------------- every sampled pair


def test_pairs_are_those_of_the_counts() -> None:
    for row in rollout.run(TINY):
        ended = row["pair_end"]
        assert len(ended) == row["pairs"] == len(row["pair_goal"]) == len(row["pair_start"])
        for name in ("reached", "boundary", "interior"):
            assert ended.count(name) == row[name]
        least, cost = (np.array(row[name]) for name in ("pair_least", "pair_cost"))
        assert (np.isinf(cost) == (np.array(ended) != "reached")).all()
        assert (cost >= least).all()
        assert (least / cost).sum() == pytest.approx(row["weighted"])


def test_columns_for_queries_are_not_read_back(tmp_path: Path) -> None:
    task, store = Task(rollout.EXPERIMENT, TINY), Store(tmp_path)
    outcome = run([task], store, workers=0)
    assert store.look(task).rows == outcome.tables[task]
    assert not any(name.startswith("pair_") for name in outcome.tables[task][0])


# ---------------------------------------------------------------- pooling

CELLS = [
    {"maze": maze, "refinement": 4, "label_fraction": lf, "label_count": 0, "goals": 8,
     "seed": seed, "ties": "index", "pairs": 8}
    for maze in ("medium", "large") for lf in (0.02, 0.05) for seed in (1, 2, 3)
]  # fmt: skip


def test_means_errors_and_differences_over_seeds() -> None:
    drawn = np.random.default_rng(0).integers(9, size=(2, len(CELLS)))
    arms = [
        [cell | {"arm": arm, "reached": int(n)} for cell, n in zip(CELLS, reached, strict=True)]
        for arm, reached in zip(("amle", "other"), drawn, strict=True)
    ]
    by_seed = drawn.reshape(2, 4, 3).mean(axis=1) / 8
    found = over_seeds(Records.of(arms[1]), "reached", "pairs")
    error = by_seed[1].std(ddof=1) / math.sqrt(3)
    assert found == pytest.approx((by_seed[1].mean(), error, 3))
    both = paired(Records.of(arms[0] + arms[1]), "other", "amle")
    signs = np.sign(drawn[1] - drawn[0])
    assert (both.won, both.lost) == ((signs > 0).sum(), (signs < 0).sum())
    assert both.won + both.lost + both.tied == 12
    assert both.difference.mean == pytest.approx((by_seed[1] - by_seed[0]).mean())
    fewer = [row for row in arms[0] if row["seed"] == 1]  # only cells that both have are paired
    found_of = paired(Records.of(fewer + arms[1]), "other", "amle")
    assert (found_of.won + found_of.lost + found_of.tied, found_of.difference.seeds) == (4, 1)


def test_rates_weigh_cells_or_decisions_and_leave_nothing_out() -> None:
    rows = [{"seed": 1, "a": a, "b": b} for a, b in ((1, 1), (0, 3))]
    assert over_seeds(Records.of(rows), "a", "b").mean == 0.5
    assert over_seeds(Records.of(rows), "a", "b", pooled=True).mean == 0.25
    none = [{"seed": seed, "a": 0, "b": b} for seed, b in ((1, 0), (2, 4))]
    assert over_seeds(Records.of(none), "a", "b")[::2] == (0.0, 1)
    assert over_seeds(Records.of(none[:1]), "a", "b").text(2) == "–"
    assert Estimate(-0.25, 0.5, 2).text(1, 100.0) == "−25.0 ± 50.0"


# ---------------------------------------------------------------- tables


PRINTED = Rate("reached", "pairs", printed={"harmonic": "main/harmonic/success"})


def papers_rows(arm: str) -> list[Row]:
    return [
        {
            "maze": maze, "refinement": r, "label_fraction": lf, "label_count": 0, "goals": 32,
            "seed": seed, "arm": arm, "ties": "index", "reached": 1, "pairs": 2,
        }
        for maze, r, lf in GRID for seed in SEEDS
    ]  # fmt: skip


def test_the_papers_figure_stands_beside_its_own_cells_and_methods_only() -> None:
    whole = Records.of(papers_rows("harmonic") + papers_rows("mine:game"))
    table = by_arm(whole, "t", "T", {"success": PRINTED})
    assert table.heads == ["method", "ties", "success", "paper"]
    theirs = FIGURES["main/harmonic/success"].text
    assert [line[-1] for line in table.rows] == [theirs, ""]
    for others in (
        [row | {"maze": f"{row['maze']}@1f0c2a"} for row in whole],
        whole.rows[1:],
        [*whole, whole.rows[0] | {"maze": "umaze"}],
        [row for row in whole if row["arm"] == "mine:game"],
    ):
        heads = by_arm(Records.of(others), "t", "T", {"success": PRINTED}).heads
        assert heads == ["method", "ties", "success"]


def test_labels_are_in_order_and_named() -> None:
    row = {**papers_rows("amle")[0], "maze": "mine@1f0c2a"}
    rows = [
        row | {"label_fraction": lf, "label_count": count}
        for lf, count in ((0.05, 0), (0.0, 16), (0.0, 1), (0.02, 0))
    ]
    table = across(with_labels(Records.of(rows)), ["labels"], "t", "T", PRINTED)
    assert table.heads[2:] == ["1 label", "16 labels", "lf = 0.02", "lf = 0.05"]
