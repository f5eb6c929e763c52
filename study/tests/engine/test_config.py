from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from study_work import figures, other_figures

import wayfield as wf
from wayfield_study.engine import Experiment, Store, Study, by_experiment, load_config, run
from wayfield_study.engine.config import read_list
from wayfield_study.experiments import EXPERIMENTS, SAMPLE, MazeCell, find_study, grid, read_grid

KNOWN = (
    Experiment("rollout", "another", 1, other_figures, read_grid=read_grid),
    Experiment("toy", "a toy", 1, figures, read_grid=read_grid),
    Experiment("special", "on graphs of its own", 1, other_figures),
    Experiment("worlds", "on other cells", 1, other_figures, read_grid=lambda given, folder: []),
)
LEAVING = """
import sys
from wayfield_study.engine import Experiment
X = Experiment("own", "it leaves", 1, print, read_grid=lambda given, folder: sys.exit(0))
"""
MAZE = "#####\n#...#\n#.#.#\n#####\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def cells(study: Study) -> list[MazeCell]:
    return [task.cell for task in study.tasks() if isinstance(task.cell, MazeCell)]


def test_all_combinations(tmp_path: Path) -> None:
    text = """
        [grid]
        mazes = ["umaze", "antmaze-medium-v2"]
        refinements = [2, 3]
        label_fractions = [0.1, 1]
        seeds = [0, 7]
        goals = 4
        experiments = ["toy", "rollout"]
    """
    study = load_config(write(tmp_path, text), KNOWN)
    tasks = study.tasks()
    assert (study.name, study.title) == ("study", "Study: study.toml")
    assert len(set(tasks)) == len(tasks) == 32
    assert {task.experiment.name for task in tasks} == {"toy", "rollout"}
    assert {cell.maze for cell in cells(study)} == {"umaze", "medium"}
    assert {cell.label_fraction for cell in cells(study)} == {0.1, 1.0}
    assert {cell.goals for cell in cells(study)} == {4}


@pytest.mark.parametrize("text", ["", "[grid]"])
def test_the_papers_values_are_the_default(tmp_path: Path, text: str) -> None:
    study = load_config(write(tmp_path, text), KNOWN)
    assert [experiment.name for experiment in study.experiments] == ["rollout"]
    assert len(cells(study)) == 120
    assert set(cells(study)) == set(grid())


def test_a_byte_order_mark_is_no_statement(tmp_path: Path) -> None:
    assert cells(load_config(write(tmp_path, "\ufeff[grid]\nseeds = [1]\n"), KNOWN))


def test_the_sample_can_be_run(tmp_path: Path) -> None:
    assert len(load_config(write(tmp_path, SAMPLE), EXPERIMENTS).tasks()) == 36


def test_a_maze_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(MAZE, encoding="utf-8")
    config = write(tmp_path, '[grid]\nmazes = ["mine.txt"]\nrefinements = [2]\nseeds = [1]')
    study = find_study(str(config))
    cell = cells(study)[0]
    assert cell.text == MAZE.strip()
    assert cell.maze.startswith("mine@")
    outcome = run(study.tasks()[:1], Store(tmp_path / "results"), workers=0)
    (rows,) = by_experiment(outcome.tables).values()
    assert {row["maze"] for row in rows} == {cell.maze}
    assert {row["vertices"] for row in rows} == {5 * 4}


def test_a_maze_of_ones_own_passes_for_no_other(tmp_path: Path) -> None:
    """Neither for a map of the same name, nor for itself before it was edited."""
    config = write(tmp_path, '[grid]\nmazes = ["medium.txt"]\nrefinements = [2]\nseeds = [1]')
    names = []
    for text in (MAZE, MAZE.replace("#.#.#", "#...#")):
        (tmp_path / "medium.txt").write_text(text, encoding="utf-8")
        names.append(cells(load_config(config, EXPERIMENTS))[0].maze)
    assert len({*names, "medium"}) == 3


def test_a_maze_is_named_by_its_text() -> None:
    with pytest.raises(wf.InputError, match="'medium' does not name its text"):
        MazeCell("medium", 4, 0.02, 54, text=MAZE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("goals = 3", "unknown key goals; known are grid"),
        ("grid = 3", "grid must be a table"),
        ("[grid]\nmaze = ['umaze']", "unknown key grid.maze; known are mazes, refinements"),
        ("[grid]\nspeed = 3", "seeds, goals, methods, experiments"),
        ("[grid]\nmazes = 'umaze'", "grid.mazes must be a nonempty list, got 'umaze'"),
        ("[grid]\nseeds = []", "grid.seeds must be a nonempty list, got []"),
        ("[grid]\nmazes = ['umaze', 3]", "grid.mazes[1] must be the name of a map"),
        ("[grid]\nmazes = ['umase']", "grid.mazes[0]: umase: unknown layout 'umase'"),
        ("[grid]\nmazes = ['no.txt']", "grid.mazes[0]: cannot read no.txt: No such file"),
        ("[grid]\nmazes = ['odd.txt']", "grid.mazes[0]: odd.txt: "),
        ("[grid]\nmazes = ['bytes.txt']", "grid.mazes[0]: bytes.txt: "),
        ("[grid]\nmazes = ['cell.txt']", "grid.mazes[0]: cell.txt must have two free cells"),
        ("[grid]\nmazes = ['apart.txt']", "grid.mazes[0]: apart.txt must have two free cells"),
        ("[grid]\nseeds = [9223372036854775808]", "grid.seeds[0] must be at most"),
        ("[grid]\nmazes = ['teleport']", "grid.mazes[0]: teleport has one-way cells or teleports"),
        ("[grid]\nmazes = ['umaze', 'pointmaze-umaze']", "= 'pointmaze-umaze' is listed twice"),
        ("[grid]\nrefinements = [4, 0]", "grid.refinements[1] must be a whole number of at least"),
        ("[grid]\nrefinements = [2.5]", "grid.refinements[0] must be a whole number"),
        ("[grid]\nlabel_fractions = [0.0]", "grid.label_fractions[0] must be more than 0"),
        ("[grid]\nlabel_fractions = [1.5]", "grid.label_fractions[0] must be a finite number"),
        ("[grid]\nlabel_fractions = ['x']", "grid.label_fractions[0] must be a finite number"),
        ("[grid]\nseeds = [-1]", "grid.seeds[0] must be a whole number of at least 0, got -1"),
        ("[grid]\nseeds = [1, 2, 1]", "grid.seeds[2] = 1 is listed twice"),
        (f"[grid]\nseeds = {list(range(40_000))}", "at most 100,000 cells, got 960,000"),
        ("[grid]\nexperiments = ['leaving:X']", "[0]: leaving:X called sys.exit(0)"),
        ("[grid]\nexperiments = ['leaving_later:X']", "an experiment called sys.exit(0)"),
        ("[grid]\nseeds = [true]", "grid.seeds[0] must be a whole number"),
        ("[grid]\ngoals = 513", "grid.goals must be at most 512, got 513"),
        ("[grid]\nexperiments = ['toi']", "grid.experiments[0]: unknown experiment 'toi'"),
        ("[grid]\nexperiments = [[]]", "grid.experiments[0] must be the name of an experiment"),
        ("[grid]\nexperiments = ['special']", "grid.experiments[0]: special brings its own graphs"),
        ("[grid]\nexperiments = ['toy', 'toy']", "grid.experiments[1] = 'toy' is listed twice"),
        ("[grid]\nexperiments = ['toy', 'worlds']", "toy, worlds run on cells of different kinds"),
        ("[grid]\nexperiments = ['nomodule:X']", "cannot import nomodule:X: No module named"),
        ("[grid]\nexperiments = ['os:X']", "cannot import os:X: module 'os' has no attribute 'X'"),
        ("[grid]\nexperiments = [':X']", "[0]: cannot import :X: Empty module name"),
        ("[grid]\nexperiments = ['os:path']", "os:path is not an Experiment but module"),
        ("[grid]\nexperiments = ['broken:X']", "broken:X: invalid syntax (broken.py, line 1)"),
        ("[grid]\nrefinements = [4, 1000000000]", "[1] must be at most 1474, got 1000000000"),
        (f"x = {'[' * 5000}{']' * 5000}", "nested too deeply for a study"),
        ("[grid", "Expected"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, text: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "odd.txt").write_text("##\n#?", encoding="utf-8")
    (tmp_path / "cell.txt").write_text("###\n#.#\n###", encoding="utf-8")
    (tmp_path / "apart.txt").write_text("#####\n#.#.#\n#####", encoding="utf-8")
    (tmp_path / "broken.py").write_text("def\n", encoding="utf-8")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    (tmp_path / "leaving_later.py").write_text(LEAVING, encoding="utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xff")
    path = write(tmp_path, text)
    with pytest.raises(wf.InputError, match=re.escape(f"{path}: ")) as error:
        load_config(path, KNOWN)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_entries_of_a_list_are_not_compared_with_all_others() -> None:
    compared = 0

    class Entry(int):
        __hash__ = int.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int(self) == other

    seeds = {"seeds": list(range(2000))}
    assert len(read_list(seeds, "seeds", (), lambda value, _: Entry(value))) == 2000
    assert compared < 10_000


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_config(tmp_path / "none.toml", KNOWN)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(wf.InputError, match="decode"):
        load_config(path, KNOWN)
