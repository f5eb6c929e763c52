"""The benchmarks' own parts: worlds, ladders of peers, stored figures, the page. No timings."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import __main__ as bench
from benchmarks import page, peer_solvers, peers, processes, storm_solver
from benchmarks._timing import sweep_in_place
from benchmarks.cells import PROFILES, Cell
from benchmarks.ours import measure
from benchmarks.worlds import KINDS, LABELS, make_graph, make_labels

import wayfield as wf
from wayfield.fields.kernels import imbalance


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_are_connected_and_drawn_the_same_again(kind: str) -> None:
    graph, again = make_graph(kind, 400), make_graph(kind, 400)
    assert 300 <= graph.num_vertices <= 500
    assert (graph.components == 0).all()
    assert np.array_equal(graph.indices, again.indices)
    assert np.array_equal(graph.lengths, again.lengths)
    assert graph.is_unit == (kind in ("2-D grid", "3-D grid", "4-regular", "preferential"))
    sets = {labels: make_labels(graph, labels, 0.1) for labels in LABELS}
    truth = wf.cost_to_go(graph, graph.num_vertices // 2)
    assert np.array_equal(sets["true"].values, truth[sets["true"].vertices])
    assert all(np.array_equal(y.vertices, sets["true"].vertices) for y in sets.values())
    assert not np.array_equal(sets["noisy"].values, sets["true"].values)


def test_large_graphs_with_lengths_do_not_overflow() -> None:
    assert make_graph("2-D, whole", 60_000).num_vertices > 50_000


def test_preferential_attachment_has_hubs_and_regular_graphs_have_none() -> None:
    degrees = {kind: np.diff(make_graph(kind, 3_000).indptr) for kind in KINDS}
    assert degrees["preferential"].max() > 50
    assert degrees["4-regular"].max() == 4


def test_profiles_nest_and_keys_are_file_names() -> None:
    cells = {name: set(profile.cells) for name, profile in PROFILES.items()}
    assert all(len({cell.key for cell in found}) == len(found) for found in cells.values())
    assert cells["standard"] <= cells["full"]
    assert all("/" not in cell.key and " " not in cell.key for cell in cells["full"])
    assert {cell.size for cell in cells["full"]} == {10**k for k in range(3, 8)}


# ------------------------------------------------------------------ peers


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("SciPy spsolve", 1e-12),
        ("SciPy cg", 1e-6),
        ("p-IRLS", 1e-4),
        ("SciPy L-BFGS-B", 1e-1),
        ("networkx", 0.0),
        ("igraph", 0.0),
    ],
)
def test_ladders_lead_to_the_exact_field(
    name: str, most: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = make_graph("2-D grid", 25)
    task = peer_solvers.PEERS[name][0]
    problem = peers.Problem(task, graph, make_labels(graph, "random", 0.1))
    problem.save(tmp_path / "problem.npz")
    peer_solvers.main(name, str(tmp_path / "problem.npz"), "0")  # 0: no alarm in this process
    rungs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert min(rung["error"] for rung in rungs) <= most
    assert all(rung["seconds"] > 0 and rung["says"] and rung["version"] for rung in rungs)


def test_peers_that_only_know_classes_get_two() -> None:
    graph = make_graph("2-D grid", 200)
    problem = peers.Problem("classes", graph, make_labels(graph, "true", 0.2))
    assert set(problem.labels.values) == {0.0, 1.0}
    exact = wf.extend(graph, problem.labels, wf.Harmonic()).values
    assert np.array_equal(problem.solve(), exact)


# ------------------------------------------------------------------ processes beside Storm


@pytest.mark.parametrize("name", [*processes.MODELS, *processes.HELD_OUT])
def test_processes_are_whole_and_solved_in_few_rounds(name: str) -> None:
    model = (processes.MODELS | processes.HELD_OUT)[name](900)
    choice = model.state * 10 + model.action
    totals = np.bincount(choice, model.odds)
    assert totals[np.unique(choice)] == pytest.approx(1.0)
    assert (np.diff(choice * model.states + model.following) > 0).all()
    assert not (model.state == model.goal).any()
    field = wf.expected_cost(model.transitions(), model.goal, rtol=1e-9)
    assert np.isfinite(field.values).mean() > 0.9
    assert field.iterations <= 15


def test_closed_forms_lie_in_our_brackets_and_negative_costs_are_refused() -> None:
    """Storm is not there: an environment without it says so, and we are measured."""
    found = processes.measure_known(Path(sys.executable))
    assert "stormpy" in found["died"]
    exact = {name: answer for name, _, _, _, answer in storm_solver.known()}
    assert "is negative" in found["ours"].pop("negative reward, 3 states")
    for name, (low, high) in found["ours"].items():
        assert low <= exact[name] <= high
        assert high - low <= 1e-15 * max(1.0, 2 * exact[name])


def test_a_process_is_measured_without_storm() -> None:
    found = processes.measure("slip grid, goal in the middle", 100, 1.0, Path(sys.executable))
    assert found["states"] == 100
    assert found["storm"] == []
    assert set(found["ours"]) == {"1e-06", "1e-09", "default"}
    assert page.process_row(found)[3] == found["died"]


def storm(kind: str, accuracy: float, **found: Any) -> dict[str, Any]:
    return {"kind": kind, "accuracy": accuracy, **found}


def test_storm_is_told_beside_us() -> None:
    ours = {"1e-06": 0.1, "1e-09": 0.2, "default": 0.4}
    known = {"states": 1000, "outcomes": 9000, "limit": 60.0, "ours": ours, "rounds": 5}
    known |= {"width": 4e-16, "died": ""}
    answers = [
        storm("as it comes", 1e-6, seconds=0.05, error=1e-3, width=1e9, holds=True),
        storm("as it comes", 1e-9, seconds=0.05, error=2e-6, width=1e9, holds=True),
        storm("sound", 1e-6, seconds=0.2, error=1e-7, width=2e-6, holds=True),
        storm("sound", 1e-9, seconds=0.8, error=1e-10, width=2e-9, holds=False),
    ]
    stopped = [*answers[:2], storm("sound", 1e-6, stopped=True), storm("sound", 1e-9, stopped=True)]
    table = page.process_table(
        [
            known | {"model": "quick", "held_out": False, "storm": answers},
            known | {"model": "slow", "held_out": False, "storm": stopped},
            known | {"model": "new", "held_out": True, "storm": answers},
        ]
    )
    assert table is not None
    rows = {row[0]: row for row in table.rows}
    assert rows["quick"][2:7] == [
        "0.1 s / 0.2 s / 0.4 s", "0.2 s (2×)", "0.8 s (4×)", "2e-09, false", "50 ms (0.5×)"
    ]  # fmt: skip
    assert rows["quick"][7:] == ["1e-03", "2e-06", "4e-16", "5"]
    assert rows["slow"][3:6] == ["not in 60 s", "not in 60 s", "–"]
    assert rows["geometric mean"][4] == "35×, least 4×; 1 of 2 solved"  # √(4 · 300)
    assert rows["geometric mean *"][4] == "4×, least 4×; 1 of 1 solved"
    assert "new *" in rows
    assert page.process_table([]) is None


def test_wrong_answers_are_shown_beside_the_exact_ones() -> None:
    line = {"model": "walk", "kind": "sound", "exact": 0.5, "value": 0.49, "version": "2"}
    found = {"known": [line, line | {"bounds": [0.4, 0.6]}], "ours": {"walk": [0.5, 0.5]}}
    rows = page.known_table(found).rows
    assert rows[0] == ["walk", "Storm 2, sound", "0.5", "0.49", "nothing", "0.5 to 0.5"]
    assert rows[1][4] == "0.4 to 0.6"


# ------------------------------------------------------------------ figures and the page


def figure(cell: Cell, **others: Any) -> dict[str, Any]:
    measured = {
        "vertices": cell.size,
        "arcs": 4 * cell.size,
        "seconds": 1e-7 * cell.size**1.05,
        "sweep": 1e-9 * cell.size,
        "error": 1e-16,
        "status": "converged",
        "bytes_per_vertex": 150.0 if cell.size > 50_000 else None,
    }
    return cell.record(**measured | others)


def their(peer: str, *rungs: tuple[float, float], stopped: str = "") -> dict[str, Any]:
    steps = [
        {"setting": "s", "seconds": s, "error": e, "says": "nothing", "version": "1"}
        for s, e in rungs
    ]
    task = peer_solvers.PEERS[peer][0]
    known = {"kind": "2-D grid", "labels": "true", "vertices": 1000, "peer": peer, "task": task}
    known |= {"ours": 0.01, "bare": 0.005, "bare_wall": 0.004}
    return known | {"rungs": steps, "stopped": stopped, "limit": 60.0}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_graph_is_measured(kind: str) -> None:
    graph = make_graph(kind, 300)
    found = measure(Cell(kind, 300, "true", 0.1, "AMLE"), graph)
    assert found["status"] == str(wf.Status.CONVERGED)
    assert found["vertices"] == graph.num_vertices


def test_exponents_are_slopes_of_the_large_sizes() -> None:
    cells = [Cell("2-D grid", n, "true", 0.02, "AMLE") for n in (1_000, 10_000, 100_000)]
    figures = [figure(cells[0], seconds=9.0), *map(figure, cells[1:])]
    assert page.exponent(figures) == pytest.approx(1.05)
    assert math.isnan(page.exponent(figures[:2]))


def test_verdicts_on_peers() -> None:
    good = their("SciPy cg", (0.1, 1e-4), (0.2, 1e-7))
    assert page.verdict(good) == "0.2 s, 20× / 40× / 50× ours"
    slow = their("GraphLearning amle, tight", (1.0, 1e-4), stopped="stopped after 60 s")
    assert page.verdict(slow) == "true error 1.0e-04 at best; stopped after 60 s"
    assert page.verdict(their("PyAMG", stopped="it crashed")) == "it crashed"
    table = page.peer_table([slow, good], {"pyamg": "no wheel"})
    assert table is not None
    rows = {row[1]: row for row in table.rows}
    assert rows["SciPy cg 1"][2] == "10 ms / 5 ms / 4 ms"
    assert rows["SciPy cg 1"][4:6] == ["0.1 s (10× / 20× / 25×)", "0.2 s (20× / 40× / 50×)"]
    assert rows["GraphLearning amle, tight 1"][4:6] == ["1 s (100× / 200× / 250×)", "not in 60 s"]
    assert rows["PyAMG"][0] == "pyamg did not install"
    assert rows["PyAMG"][-1] == "no wheel"


def test_the_page_shows_all_that_is_known(tmp_path: Path) -> None:
    profile = PROFILES["standard"]
    ours = [figure(cell) for cell in profile.cells]
    html, markdown = page.write(tmp_path, "standard", ours, [their("SciPy cg", (0.1, 1e-4))], {})
    text = html.read_text()
    assert text.count("<svg") > 12
    assert "<title>AMLE" not in text
    for kind in KINDS:
        assert page.TITLES[kind] in text
    assert "| 1,000,000 | 0.2 s | 200 | 1e-16 | 150 |" in markdown.read_text()
    assert page.write(tmp_path, "quick", [], [], {})[0].exists()


def test_figures_are_kept_and_those_of_another_source_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "source", lambda: {"kernels": "ours"})  # digests take seconds
    store = bench.Store(tmp_path / "figures")
    assert store.find("a") is None
    store.keep("a", {"seconds": 1.0})
    assert bench.Store(tmp_path / "figures").find("a") == {"seconds": 1.0}
    store.source = {"kernels": "other"}
    assert store.find("a") is None
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["a.json"]


def test_in_place_sweeps_reach_the_amle() -> None:
    n = 12
    path = wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    fixed = np.zeros(n, dtype=bool)
    fixed[[0, -1]] = True
    field = np.zeros(n)
    field[-1] = 1.0
    for _ in range(2000):
        sweep_in_place(path.arcs, fixed, field)
    np.testing.assert_allclose(field, np.arange(n) / (n - 1), atol=1e-12)
    assert imbalance(path.arcs, path.arcs, fixed, True, field) < 1e-14
