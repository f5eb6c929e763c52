"""Stale means stale: what makes a result another one, what does not, and what becomes of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console
from study_work import MARKER, figures, files, slow_figures, some_tasks

from wayfield_study.engine import Condition, Store, freshness, look_up, run, what_is_there
from wayfield_study.engine.freshness import bare, source, stamp, what_changed
from wayfield_study.engine.tasks import as_table

TASK = some_tasks(54)[0]
ROWS = as_table(TASK.cell, figures(TASK.cell))
BARE = cache(bare)
"""Of hundreds of files a test changes one: the others need not be parsed again."""


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one task in it."""
    store = Store(tmp_path / "results")
    store.write(TASK, ROWS)
    return store


def now_have(monkeypatch: pytest.MonkeyPatch, what: str, **changed: str) -> None:
    """From now on some versions, or some rooms of the source, are others."""
    now = getattr(freshness, what)() | changed
    monkeypatch.setattr(freshness, what, lambda: now)


# ------------------------------------------------------------------- what makes a result stale


@pytest.mark.parametrize("room", ["kernels", "extension", "graph", "audit"])
def test_other_code_makes_it_stale(kept: Store, monkeypatch: pytest.MonkeyPatch, room: str) -> None:
    assert kept.look(TASK).condition is Condition.DONE
    now_have(monkeypatch, "source", **{room: "another"})
    entry = kept.look(TASK)
    assert (entry.condition, entry.rows) == (Condition.STALE, ROWS)
    assert entry.changed == f"{room} changed since"
    assert entry.note == f"{kept.path(TASK)} is stale: {room} changed since"


@pytest.mark.parametrize("package", ["wayfield", "numpy", "scipy", "numba"])
def test_another_version_makes_it_stale(
    kept: Store, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    before = freshness.versions()[package]
    now_have(monkeypatch, "versions", **{package: "99.0"})
    entry = kept.look(TASK)
    assert entry.condition is Condition.STALE
    assert entry.changed == f"{package} {before}, now 99.0"


def test_another_version_of_the_experiment_makes_it_stale(kept: Store) -> None:
    (newer,) = some_tasks(54, version=2)
    entry = kept.look(newer)
    assert entry.condition is Condition.STALE
    assert entry.changed == "version 1 of the experiment, now 2"


def test_everything_that_changed_is_named(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = freshness.versions()["numpy"]
    now_have(monkeypatch, "versions", numpy="99.0")
    now_have(monkeypatch, "source", plans="another", kernels="another", newroom="new")
    changed = kept.look(some_tasks(54, version=3)[0]).changed
    rooms = [room for room in freshness.source() if room in ("kernels", "plans", "newroom")]
    assert changed == (
        f"version 1 of the experiment, now 3; numpy {before}, now 99.0; "
        f"{', '.join(rooms)} changed since"
    )


def test_a_room_that_is_gone_is_named() -> None:
    now = stamp(1, source)
    assert what_changed(now | {"source": now["source"] | {"attic": "x"}}, now) == (
        "attic changed since"
    )


def test_a_result_of_an_unknown_source_is_stale() -> None:
    now = stamp(1, source)
    assert what_changed(now | {"source": {}}, now) == "of an unknown source"
    assert what_changed({"version": 1, "versions": now["versions"]}, now) == "of an unknown source"


# ------------------------------------------------------------------- what has a say


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of the library and the study, which are now digested."""
    copies = tuple(tmp_path / folder.name for folder in freshness.FOLDERS)
    for folder, copy in zip(freshness.FOLDERS, copies, strict=True):
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(freshness, "FOLDERS", copies)
    monkeypatch.setattr(freshness, "bare", BARE)
    return tmp_path


def digest() -> dict[str, str]:
    return source.__wrapped__()


def changed_by(path: Path, edit: Callable[[str], str]) -> set[str]:
    """Rooms whose digest an edit of a file changes."""
    before, text = digest(), path.read_text("utf-8")
    edited = edit(text)
    assert edited != text
    path.write_text(edited, "utf-8")
    after = digest()
    return {room for room in before | after if before.get(room) != after.get(room)}


def test_the_digest_is_that_of_the_files(package: Path) -> None:
    assert digest() == source()


@pytest.mark.parametrize(
    ("file", "rooms"),
    [
        ("wayfield/numerics/heap.py", {"numerics"}),
        ("wayfield/numerics/workers.py", set()),
        ("wayfield/fields/harmonic.py", {"fields"}),
        ("wayfield/graphs/graph.py", {"graphs"}),
        ("wayfield/graphs/maps.txt", {"graphs"}),
        ("wayfield/graphs/tables/text.py", set()),
        ("wayfield/explorer/server.py", set()),
        ("wayfield_study/kernels/energy.py", {"kernels"}),
        ("wayfield_study/experiments/mazes.py", {"experiments"}),
        ("wayfield_study/experiments/beyond.py", set()),  # has a version of its own
        ("wayfield_study/experiments/rollout.py", set()),
        ("wayfield_study/report/page.py", set()),
        ("wayfield_study/paper/rules.py", set()),
        ("wayfield_study/engine/runner.py", set()),
        ("wayfield_study/cli.py", set()),
    ],
)
def test_code_has_a_say_where_it_computes(package: Path, file: str, rooms: set[str]) -> None:
    assert changed_by(package / file, lambda text: f"{text}\nSOMETHING = 1\n") == rooms


def test_a_new_file_has_a_say(package: Path) -> None:
    before = digest()
    (package / "wayfield" / "numerics" / "new.py").write_text("SOMETHING = 1\n", "utf-8")
    assert {room for room, each in digest().items() if before.get(room) != each} == {"numerics"}


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("\n\n\n", "\n\n\n# a remark\n\n", 1),
        lambda text: text.replace('"""', '"""Otherwise said: ', 1),
        lambda text: f"{text}\n\n\n# the end\n",
        lambda text: text.replace('    """', '    """Otherwise said: ', 1),
        lambda text: f'{text}\n"""A word on what stands above."""\n',
    ],
    ids=["comment", "docstring of the module", "end", "docstring of a function", "attribute"],
)
def test_remarks_have_no_say(package: Path, edit: Callable[[str], str]) -> None:
    assert changed_by(package / "wayfield_study" / "kernels" / "midrange.py", edit) == set()


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("x = 1  # one\n", "x = 1\n"),
        ('def f():\n    """Say.\n\n    More.\n    """\n    return 1\n', "def f():\n    return 1\n"),
        ("class A:\n    'Say.'\n\n    x = 1\n", "class A:\n    x = 1\n"),
        ('LIMIT = 3\n"""Of what."""\n', "LIMIT = 3\n"),
        ("x = '# no comment'\n", "x = '# no comment'"),
        ("x = f('''a\n# b\n''')  # c\n", "x = f('''a\n# b\n''')"),
    ],
)
def test_bare_code(code: str, same: str) -> None:
    assert bare(code) == same.rstrip()
    assert bare(same) == same.rstrip()


def test_texts_that_are_values_have_a_say() -> None:
    assert bare('x = "a"') != bare('x = "b"')
    assert bare("f('''a''')") != bare("f('''b''')")


# ------------------------------------------------------------------- what becomes of it


@pytest.fixture
def stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two results, computed before the kernels changed."""
    monkeypatch.setenv(MARKER, str(tmp_path / "begun"))
    store = Store(tmp_path / "results")
    run(some_tasks(1, 2, work=slow_figures), store, 0)
    (tmp_path / "begun").unlink()
    now_have(monkeypatch, "source", kernels="another")
    return store


def test_stale_results_are_run_again(stale: Store, tmp_path: Path) -> None:
    tasks, before = some_tasks(1, 2, work=slow_figures), files(stale)
    with (tmp_path / "log").open("w+") as log:
        outcome = run(tasks, stale, 0, console=Console(file=log))
        log.seek(0)
        text = log.read()
    assert f"{stale.path(tasks[0])} is stale: kernels changed since: running it again" in text
    assert (outcome.reused, outcome.stale, outcome.accepted) == (0, 2, {})
    assert (tmp_path / "begun").read_text().split() == ["1", "2"]
    assert files(stale).keys() == before.keys()
    assert {
        task: entry.condition for task, entry in look_up(tasks, stale).items()
    } == dict.fromkeys(tasks, Condition.DONE)


def test_stale_results_may_be_accepted(stale: Store, tmp_path: Path) -> None:
    tasks, before = some_tasks(1, 2, 3, work=slow_figures), files(stale)
    with (tmp_path / "log").open("w+") as log:
        outcome = run(tasks, stale, 0, console=Console(file=log), accept_stale=True)
        log.seek(0)
        text = log.read()
    assert "2 stale results are used as they are" in text
    assert "running it again" not in text
    assert (outcome.reused, outcome.stale) == (2, 0)
    assert outcome.accepted == dict.fromkeys(tasks[:2], "kernels changed since")
    assert list(outcome.tables) == tasks
    assert (tmp_path / "begun").read_text().split() == ["3"]
    assert before.items() <= files(stale).items()  # they stay what they are
    assert stale.look(tasks[0]).condition is Condition.STALE


def test_what_cannot_be_read_cannot_be_accepted(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayfield_study.engine.store.FORMAT", 99)
    found = what_is_there(look_up([TASK], kept), accept_stale=True)
    assert (found.tables, found.accepted, found.stale) == ({}, {}, 1)


def test_many_stale_results_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, tasks = Store(tmp_path / "results"), some_tasks(*range(8))
    run(tasks, store, 0)
    now_have(monkeypatch, "source", kernels="another")
    with (tmp_path / "log").open("w+") as log:
        run(tasks, store, 0, console=Console(file=log))
        log.seek(0)
        text = log.read()
    assert text.count("kernels changed since: running it again") == 5
    assert "… and 3 more that are stale or damaged" in text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('"" ; X = 5\n', '"" ; X = 6\n'),
        ('X = 5 ; ""\n', 'X = 6 ; ""\n'),
        ("X = 'a'\n", "X = 'b'\n"),
    ],
)
def test_a_text_beside_code_hides_no_code(one: str, other: str) -> None:
    assert bare(one) != bare(other)


def test_settings_that_stand_beside_the_papers_figures_count() -> None:
    """The number of pairs and of sweeps has a say in every figure."""
    assert "paper" in source()
