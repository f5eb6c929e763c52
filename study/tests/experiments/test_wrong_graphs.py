"""The study of wrong graphs: its experiments, that it resumes, and what its report says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from study_work import files

import wayfield as wf
import wayfield.cli
from pages import outline
from wayfield_study.engine import Records, Row, Store, Task, by_experiment, run
from wayfield_study.engine.tasks import headline
from wayfield_study.experiments import STUDIES
from wayfield_study.experiments.wrong_graphs import every_world, sources
from wayfield_study.experiments.wrong_graphs.common import (
    WALKS,
    WrongCell,
    clearly_above,
    paired,
    read_grid,
    say_gain,
)
from wayfield_study.experiments.wrong_graphs.worlds import WRONG_WORLDS
from wayfield_study.report import Provenance, write_report

STUDY = STUDIES["wrong-graphs"]
SOME = ("patch", "short1")
QUICK = [task for task in STUDY.tasks(STUDY.profile("quick")) if task.cell.columns["world"] in SOME]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("wrong") / "results")
    assert run(QUICK, store, workers=0).failed == {}
    return store


@pytest.fixture(scope="module")
def tables(store: Store) -> dict[str, Records]:
    rows = by_experiment({task: store.look(task).rows for task in QUICK})
    return {name: Records.of(some) for name, some in rows.items()}


# ------------------------------------------------------------------- experiments


def test_every_world_and_arm_is_there(tables: dict[str, Records]) -> None:
    cells = every_world.EXPERIMENT.cells(STUDY.profile("quick"))
    assert {cell.world for cell in cells} == set(WRONG_WORLDS)
    assert tables["wrong_worlds"].values("arm") == list(WALKS)


def test_paid_labels_are_upper_bounds() -> None:
    case = WrongCell("short1", 0.05, 0, 0.2).draw()
    paid = sources.paid(case)
    assert paid.bound == "upper"
    assert (paid.labels.values >= case.world.truth[paid.labels.vertices] - 1e-9).all()
    assert (paid.labels.values > case.world.truth[paid.labels.vertices] + 1e-9).any()
    assert case.world.goal in paid.labels.vertices


def test_noise_has_mean_one_and_spares_the_goal() -> None:
    case = WrongCell("exact", 0.9, 0).draw()
    noisy = sources.noisy(case, np.random.default_rng(0))
    others = case.labels.values > 0
    factors = noisy.labels.values[others] / case.labels.values[others]
    assert factors.mean() == pytest.approx(1.0, abs=0.02)
    assert np.log(factors).std() == pytest.approx(sources.SIGMA, rel=0.05)
    assert noisy.labels.values[~others].tolist() == [0.0]


def test_memory_helps_dijkstra(tables: dict[str, Records]) -> None:
    parts = tables["wrong_memory"].where(arm="dijkstra").by("episodes")
    assert list(parts) == ["1–10", "11–50", "51–200"]
    assert parts["51–200"].mean("spl") > parts["1–10"].mean("spl")
    assert parts["51–200"].mean("bumps") < parts["1–10"].mean("bumps")


# ------------------------------------------------------------------- words


def made(arm: str, seed: int, spl: float, world: str = "patch") -> Row:
    cell = {"world": world, "size": 1.0, "label_fraction": 0.05, "seed": seed}
    return cell | {"arm": arm, "spl": spl}


def test_differences_are_paired_by_cell() -> None:
    ours = [made("mend", 1, 0.9), made("mend", 0, 0.7), made("mend", 2, 0.1)]
    theirs = [made("dijkstra", 0, 0.5), made("dijkstra", 1, 0.8)]
    slip = [made("mend", 0, 0.2, "slip"), made("dijkstra", 0, 0.3, "slip")]
    rows = Records.of([*ours, *slip, *theirs])
    assert paired(rows) == pytest.approx([0.05, 0.1])  # seed 0 over two worlds, seed 2 has no pair
    assert say_gain(rows.where(seed=1)) == "+0.100"
    assert say_gain(rows.where(seed=2)) == "–"


def test_what_is_clearly_above() -> None:
    assert clearly_above(np.array([0.1, 0.2, 0.15, 0.1]))
    assert not clearly_above(np.array([0.1, 0.1])), "two seeds show nothing"
    assert not clearly_above(np.array([0.1, -0.2, 0.15]))
    assert not clearly_above(np.array([0.1]))
    assert not clearly_above(np.zeros(8))


def test_findings_say_where_nothing_helps() -> None:
    about = {"cost_ratio": 1.0, "bumps": 0.0, "chosen": "", "pairs": 1, "reached": 1}
    helped = [made("mend", seed, 0.7 + 0.01 * seed) for seed in range(4)]
    not_helped = [made("mend", seed, 0.5, "oneway") for seed in range(4)]
    plain = [made("dijkstra", s, 0.5, world) for s in range(4) for world in ("patch", "oneway")]
    rows = Records.of(row | about for row in (*helped, *not_helped, *plain))
    worth, vain = every_world.findings(rows)
    assert "0.607 on the mended graph, 0.500 for replanning Dijkstra" in worth.text
    assert "gains more than 0.02 in 4 of 8 instances and loses more than that in 0" in worth.text
    assert "In 1 of 2 worlds no arm is clearly better: doors that open one way" in vain.text


# ------------------------------------------------------------------- grids


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"worlds": ["moon"]}, r"grid.worlds\[0\] must be one of"),
        ({"sizes": [0.0]}, r"grid.sizes\[0\]"),
        ({"label_fractions": [1.5]}, r"grid.label_fractions\[0\]"),
        ({"seeds": [-1]}, r"grid.seeds\[0\]"),
        ({"goals": 3}, "unknown key grid.goals"),
    ],
)
def test_a_grid_that_cannot_be_read(given: Row, message: str, tmp_path: Path) -> None:
    with pytest.raises(wf.InputError, match=message):
        read_grid(given, tmp_path)


def test_a_grid_of_ones_own(tmp_path: Path) -> None:
    cells = read_grid({"worlds": ["patch", "road"], "sizes": [0.5, 1], "seeds": [3]}, tmp_path)
    assert len(cells) == len(set(cells)) == 8
    assert {cell.seed for cell in cells} == {3}


def test_the_standard_profile() -> None:
    tasks = STUDY.tasks()
    big = [task.cell for task in tasks if task.experiment is every_world.EXPERIMENT]
    assert len(big) == 14 * 8 * 2
    assert {cell.columns["size"] for cell in big} == {1.0}
    assert not set(STUDY.experiments) & set(STUDIES["paper"].experiments)


# ------------------------------------------------------------------- store and report


def test_it_resumes_and_the_bytes_are_the_same(store: Store, tmp_path: Path) -> None:
    some = [task for task in QUICK if (task.cell.world, task.cell.seed) == ("short1", 0)]
    names = {task.experiment.name for task in some}
    assert names == {experiment.name for experiment in STUDY.experiments}
    resumed = Store(tmp_path / "resumed")
    assert run(some[:3], resumed, workers=0).reused == 0
    again = run(some, resumed, workers=0)
    assert (again.reused, len(again.tables)) == (3, len(some))
    whole, part = files(store), files(resumed)
    assert part.items() <= whole.items()


def test_its_report(tables: dict[str, Records], tmp_path: Path) -> None:
    provenance = Provenance("wayfield study wrong-graphs")
    pages = [write_report(STUDY, tables, tmp_path / name, provenance) for name in ("one", "two")]
    texts = [page.read_bytes() for page in pages]
    assert texts[0] == texts[1]
    found = outline(texts[0].decode())
    for experiment in STUDY.experiments:
        for section in experiment.sections:
            assert section.title in found.words
    for word in (*WRONG_WORLDS.values(), "oracle"):
        assert word in found.words
    rows = tables["wrong_worlds"]
    assert f"{rows.where(arm='mend').mean('spl'):.3f}" in found.words
    assert say_gain(rows) in found.words
    assert "There are too few results for findings." in found.words
    assert "±" not in found.words.replace("± are 95 % intervals", "")
    for claim in ("Does it pay to mend", "Can mending do harm"):
        assert claim not in found.words, "two seeds make no finding"
    assert "Not run here" not in found.words
    assert "nan" not in found.words.lower().split()


def test_its_findings_with_seeds_enough(tables: dict[str, Records], tmp_path: Path) -> None:
    more = {
        name: Records.of([*rows, *(row | {"seed": row["seed"] + 2} for row in rows)])
        for name, rows in tables.items()
    }
    page = write_report(STUDY, more, tmp_path, Provenance("wayfield study wrong-graphs"))
    words = outline(page.read_text(encoding="utf-8")).words
    for claim in (
        "Where does nothing beat replanning Dijkstra",
        "Can mending do harm",
        "What are labels worth to a walker that remembers?",
        "Mend minus replanning Dijkstra",
    ):
        assert claim in words


def test_tables_begin_with_what_they_are_about(tables: dict[str, Records]) -> None:
    table, *_ = every_world.tables(tables["wrong_worlds"])
    first = ["world", "mend", "Dijkstra, replanning", "mend − replanning Dijkstra", "least change"]
    assert table.heads[:5] == first
    ours = tables["wrong_worlds"].where(arm="mend", world="patch").mean("spl")
    assert table.rows[0][:2] == ["patch", f"{ours:.3f}"]


def test_the_last_words_of_a_run_are_about_spl(store: Store, tables: dict[str, Records]) -> None:
    found = run(QUICK, store, workers=0).tables.items()
    first = STUDY.experiments[0].name
    said = [headline(rows) for task, rows in found if task.experiment.name == first]
    assert {measure for measure, _ in said} == {"SPL"}
    rows = tables["wrong_worlds"].where(arm="mend")
    assert np.mean([figures["mend"] for _, figures in said]) == pytest.approx(rows.mean("spl"))


def test_a_report_of_what_is_there(tables: dict[str, Records], tmp_path: Path) -> None:
    some = tables["wrong_worlds"].where(world="short1")
    page = write_report(STUDY, {"wrong_worlds": some}, tmp_path, Provenance("wayfield report"))
    assert "Not run here" in outline(page.read_text(encoding="utf-8")).words


def test_a_task_is_the_same_in_any_order() -> None:
    cell = WrongCell("tele", 0.05, 1, 0.1)
    task = Task(every_world.EXPERIMENT, cell)
    assert task.experiment.run(cell) == task.experiment.run(cell)
