"""The study of travel times on a small made network: equilibrium, errors, planted faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from shell import wayfield
from wayfield import travel
from wayfield_study.experiments import travel_times as study

SIDE = 9


def network(folder: Path, flow: bool) -> Path:
    """A grid of two-way streets that all fill up, with one zone per corner."""
    rng, rows = np.random.default_rng(0), []
    index = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    ends = [*zip(index[:, :-1].ravel(), index[:, 1:].ravel(), strict=True)]
    ends += zip(index[:-1].ravel(), index[1:].ravel(), strict=True)
    for x, y in ends:
        time = rng.uniform(1, 2)
        for tail, head in ((x, y), (y, x)):
            rows.append((tail + 5, head + 5, 8, time, time, 0.5, 2, 50, 0, 1))
    corners = [0, SIDE - 1, SIDE * (SIDE - 1), SIDE * SIDE - 1]
    for zone, corner in enumerate(corners, 1):
        rows += [(zone, corner + 5, 99, 1, 0.1, 0, 1, 50, 0, 9)]
        rows += [(corner + 5, zone, 99, 1, 0.1, 0, 1, 50, 0, 9)]
    head = f"<NUMBER OF ZONES> 4\n<NUMBER OF NODES> {SIDE * SIDE + 4}\n<FIRST THRU NODE> 5\n"
    text = head + "<END OF METADATA>\n" + "".join(" ".join(map(str, r)) + " ;\n" for r in rows)
    (folder / "made_net.tntp").write_text(text)
    demand = "".join(
        f"Origin {a}\n" + " ".join(f"{b} : 6.0;" for b in range(1, 5) if b != a) + "\n"
        for a in range(1, 5)
    )
    (folder / "made_trips.tntp").write_text("<END OF METADATA>\n" + demand)
    if flow:
        listed = "".join(f"{r[0]} {r[1]} {8.0 * (r[9] == 1)} 1.0\n" for r in rows)
        (folder / "made_flow.tntp").write_text("From To Volume Cost\n" + listed)
    return folder


def test_flows_are_read_and_an_equilibrium_is_found(tmp_path: Path) -> None:
    (town,) = study.read_towns(network(tmp_path, flow=True))
    np.testing.assert_allclose(town.world.lengths, 1.5 * town.graph.lengths)
    (tmp_path / "made_flow.tntp").unlink()
    (town,) = study.read_towns(tmp_path / "made_net.tntp")
    assert town.graph.num_vertices == SIDE * SIDE
    ratio = town.world.lengths / town.graph.lengths
    assert ratio.min() >= 1.0
    assert ratio.max() > 1.2
    # nearly nobody can save time: flows spread until used routes are about as quick
    net = travel.read_tntp(tmp_path / "made_net.tntp")
    demand = study._demand(tmp_path / "made_trips.tntp", 4)
    assert demand.sum() == 72.0
    few, many = (study.equilibrium(net, demand, rounds) for rounds in (20, 80))
    assert np.max(np.abs(few / many - 1)) < 0.3
    (tmp_path / "made_trips.tntp").unlink()
    with pytest.raises(wf.InputError, match=r"needs made_flow.tntp or made_trips.tntp beside it"):
        study.read_towns(tmp_path)
    with pytest.raises(wf.InputError, match="holds no network"):
        study.read_towns(tmp_path / "nothing")


def test_errors_and_verdicts(tmp_path: Path) -> None:
    (town,) = study.read_towns(network(tmp_path, flow=False))
    for kind in ("30 labels", "30 trips"):
        found = study.errors(town, kind, 0)
        assert list(found) == ["model", *study.METHODS, "inside 90 %", "below p90"]
        assert 0.0 < found["model"] < 0.1
        assert 0.7 < found["inside 90 %"] <= 1.0
    assert study.plant(town, "shuffled", 1).found
    assert study.plant(town, "start-up", 1).found
    assert study.plant(town, "slip", 1).found
    right = study.plant(town, "nothing, free flow", 1)
    assert (right.found, right.named, right.untrue) == (False, 0, 0)
    assert study.plant(town, "road closed", 1).untrue <= 1


def test_the_command_prints_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "KINDS", ("30 trips",))
    monkeypatch.setattr(study, "FAULTS", ("nothing", "shuffled"))
    answer = wayfield("study", "travel", network(tmp_path, flow=True), "--draws", 1)
    assert answer.code == 0, answer.err
    for text in ("30 trips, 5 % noise", "findings, 50 trips", "made", "mean", "shuffled"):
        assert text in answer.out
    assert wayfield("study", "travel", tmp_path / "nowhere").code == 2


def test_measured_trips_are_predicted_from_others(tmp_path: Path) -> None:
    (town,) = study.read_towns(network(tmp_path, flow=True))
    rng, n = np.random.default_rng(1), town.graph.num_vertices
    starts, ends = study._pairs(rng, n, 80)
    times = 3.0 + study._times(town.world, starts, ends) * rng.normal(1.0, 0.05, 80)
    text = "start,end,minutes\n"
    text += "".join(f"{s + 5},{e + 5},{t}\n" for s, e, t in zip(starts, ends, times, strict=True))
    (tmp_path / "taxis.csv").write_text(text)
    net = tmp_path / "made_net.tntp"
    graph, trips = study.read_measured(net, tmp_path / "taxis.csv")
    np.testing.assert_array_equal(trips.starts, starts)
    found = study.measured_errors(graph, trips, 30, 0)
    assert list(found) == ["model", *study.OF_MEASURED, "inside 90 %", "below p90"]
    # a constant belongs to every trip: a line knows, one factor does not
    assert max(found["model"], found["least squares"]) < 0.1 < found["one factor"]
    answer = wayfield("study", "travel", net, "--trips", tmp_path / "taxis.csv", "--draws", 2)
    assert answer.code == 0, answer.err
    assert "% of the mean time" in answer.out
    _, heads, rows = study.measured_table(graph, trips, range(2))
    assert heads == ["trips", *found]
    assert [row[0] for row in rows] == ["30"]
    (tmp_path / "taxis.csv").write_text("".join(text.splitlines(True)[:50]))
    answer = wayfield("study", "travel", net, "--trips", tmp_path / "taxis.csv")
    assert answer.code == 2
    assert "49 measured trips are too few: 60 are needed" in answer.err
