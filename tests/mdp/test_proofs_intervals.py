"""Proofs of expected cost for odds in intervals: true ones are accepted, and false ones are not."""

from __future__ import annotations

import struct
import time
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from chance_proofs import (
    accepted,
    extreme_reach,
    is_true,
    least_worst_cost,
    ordered,
    process_of,
    random_field,
    tally,
    worst_cost,
)
from exact_chance import of_plan
from proofs import File
from wayfield_verify import NotProved, Unreadable, verify
from wayfield_verify.__main__ import main


@pytest.mark.parametrize("kind", ["worst", "best"])
def test_random_proofs_are_accepted_and_false_ones_are_not(kind: str, tmp_path: Path) -> None:
    found = tally(range(1000, 1015), kind, tmp_path / "a.proof")
    assert found["true, accepted"] == 15
    assert not [what for what in found if "ACCEPTED" in what or "REJECTED" in what]
    false = {what.split(":")[0] for what in found if "FALSE" in what}
    assert false >= {"value", "bound", "plan", "odds", "cost", "next state", "end", "giving up"}
    assert sum(found[what] for what in found if "FALSE" in what) > 75


def test_random_processes_have_every_kind_of_trouble() -> None:
    """Otherwise the test above would mean little."""
    seen = set()
    for seed in range(1000, 1015):
        for kind in ("worst", "best"):
            field = random_field(seed, kind)
            lost, inner = np.isinf(field.values), (field.reach > 0) & (field.reach < 1)
            moving = field.plan >= 0
            seen |= {f"{kind}: infinite"} if lost.any() and moving.any() else set()
            seen |= {f"{kind}: may arrive"} if inner.any() else set()
            wide = moving & (field.reach_upper - field.reach_lower == 1.0)
            seen |= {f"{kind}: unknown arrival"} if wide.any() else set()
            seen |= {"labels"} if field.labels is not None else set()
    assert len(seen) == 6, seen


@pytest.mark.parametrize("seed", range(5))
def test_the_reference_is_what_all_vertices_give(seed: int, tmp_path: Path) -> None:
    """Every plan against every combination of vertices, in rationals."""
    field = random_field(seed, "worst")
    options, ends = process_of(File(field.write_proof(tmp_path / "a.proof")))
    free = [x for x in range(len(options)) if x not in ends][:3]
    # other states have no choices, so that there are few combinations
    options = [mine if x in free else {} for x, mine in enumerate(options)]
    stop = [-1]
    least = [inf] * len(options)
    for picked in product(*(stop + list(options[x]) for x in free)):
        plan = [-1] * len(options)
        for x, a in zip(free, picked, strict=True):
            plan[x] = a
        rows = []
        for combination in product(*(options[x][plan[x]] if plan[x] > 0 else [None] for x in free)):
            taken = [{} for _ in options]
            for x, choice in zip(free, combination, strict=True):
                if choice is not None:
                    taken[x] = {plan[x]: choice}
            rows.append(of_plan(taken, plan, ends, field.give_up))
        worst = [max(column) for column in zip(*(row[0] for row in rows), strict=True)]
        assert worst == worst_cost(options, plan, ends, field.give_up)
        largest = [max(column) for column in zip(*(row[1] for row in rows), strict=True)]
        assert largest == extreme_reach(options, plan, ends, 1)
        if inf not in worst:
            smallest = [min(column) for column in zip(*(row[1] for row in rows), strict=True)]
            assert smallest == extreme_reach(options, plan, ends, -1)
        least = [min(a, b) for a, b in zip(least, worst, strict=True)]
    assert least == least_worst_cost(options, ends, field.give_up)


# ---------------------------------------------------------------- what a file says


def slippery(**more: float) -> wf.chance.ExpectedCost:
    """State 0 arrives at 1 with odds of 0.5 to 0.9, falls to 2 with up to 0.2, or stays."""
    moves = wf.Transitions.from_intervals(
        [0, 0, 0], [0, 0, 0], [0, 1, 2], [0.1, 0.5, 0.0], [0.3, 0.9, 0.2]
    )
    return wf.expected_cost(moves, 1, **more)  # type: ignore[arg-type]


def test_sentences_say_which_odds(tmp_path: Path) -> None:
    path = tmp_path / "a.proof"
    said = " ".join(verify(slippery(odds="worst", give_up=9.0).write_proof(path)))
    assert "The least expected cost, for the worst odds, of a policy" in said
    assert "at most the upper bound, whatever the odds" in said
    assert "The least probability that the plan arrives" in said
    said = " ".join(verify(slippery(odds="best").write_proof(path)))
    assert "for the best odds" in said
    assert (
        "From 1 state no policy ends surely, for some odds: the expected cost is infinite" in said
    )
    assert "the plan arrives at a goal or label surely, for some odds" in said
    said = " ".join(verify(slippery(odds="worst").write_proof(path)))
    assert "From 2 states no policy ends surely, whatever the odds" in said


@pytest.mark.parametrize("odds", ["worst", "best"])
def test_bounds_of_the_file_are_hardly_wider(odds: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 300
    state, action = np.repeat(np.arange(n), 6), np.tile(np.repeat([0, 1], 3), n)
    following = np.clip(state + rng.integers(-3, 8, 6 * n), 0, n - 1)
    counted = wf.Transitions(state, action, following, rng.integers(1, 30, 6 * n))
    field = wf.expected_cost(counted.with_intervals(), n - 1, give_up=1000.0, odds=odds)
    file = File(field.write_proof(tmp_path / "a.proof"))
    verify(tmp_path / "a.proof")
    steps = np.frombuffer(file.sections["uppr"], f"<u{len(file.sections['uppr']) // n}")
    width = (steps * np.spacing(np.abs(field.values))).max()
    assert width <= 4.0 * field.width


@pytest.mark.parametrize("odds", ["worst", "best"])
@pytest.mark.parametrize("give_up", [None, 50.0])
def test_points_whose_sums_are_rounded_are_proved(
    odds: str, give_up: float | None, tmp_path: Path
) -> None:
    """Thirds, sevenths and tenths as doubles do not sum to 1; a dead end has all that is left."""
    for parts in (3, 5, 6, 7, 10, 13, 20, 21, 22, 49):
        p = np.full(parts, 1 / parts)
        heads = np.arange(1, parts + 1)
        rows = (np.zeros(parts + 1, int), np.append(heads, parts + 1))
        low, high = np.append(p, 0.0), np.append(p, 0.5)
        back = (heads, np.zeros(parts, int))  # from everywhere else back to 0, but for the goal
        moves = wf.Transitions.from_intervals(
            np.append(rows[0], back[0][1:]),
            0 * np.append(rows[0], back[0][1:]),
            np.append(rows[1], back[1][1:]),
            np.append(low, np.ones(parts - 1)),
            np.append(high, np.ones(parts - 1)),
        )
        field = wf.expected_cost(moves, 1, give_up, odds=odds)
        assert np.isfinite(field.values[0])
        file = File(field.write_proof(tmp_path / "a.proof"))
        verify(tmp_path / "a.proof")
        assert parts > 7 or is_true(file)  # vertices are many


@pytest.mark.parametrize(
    ("tag", "content", "message"),
    [
        ("oddl", np.array([0.1, 0.5, -0.1]).tobytes(), "bound on odds is negative"),
        ("oddl", np.array([0.1, 0.5, 0.3]).tobytes(), "in the wrong order"),
        ("oddl", np.array([0.2, 0.7, 0.2]).tobytes(), "exclude a sum of 1"),
        ("oddh", np.array([0.3, 0.5, 0.1]).tobytes(), "exclude a sum of 1"),
        ("oddh", np.array([0.3, np.inf, 0.2]).tobytes(), "infinite or NaN"),
        ("oddh", None, "section 'oddh' is missing"),
        ("cost", np.array([0.0]).tobytes(), "cost is not positive, with odds in intervals"),
        ("clai", struct.pack("<Bd6h", 5, 9.0, *[1] * 6), "claim is unknown"),
        ("clai", struct.pack("<Bd6h", 8, 9.0, *[1] * 6), "claim is unknown"),
        ("clai", struct.pack("<Bd6h", 0, 9.0, *[1] * 6), "section 'coun' is missing"),
    ],
)
def test_what_are_no_odds_is_unreadable(
    tag: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    file = File(slippery(odds="worst", give_up=9.0).write_proof(tmp_path / "a.proof"))
    if content is None:
        del file.sections[tag]
    else:
        file.sections[tag] = content
    with pytest.raises(Unreadable, match=message):
        verify(file.write(tmp_path / "a.proof"))


@pytest.mark.parametrize("kind", ["worst", "best"])
def test_whatever_the_bytes_say_there_is_a_verdict(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.proof"
    file = File(random_field(12, kind).write_proof(path))
    codes, rng = set(), np.random.default_rng(0)
    for tag, content in list(file.sections.items()):
        for i in rng.integers(8 * len(content), size=30).tolist() if content else ():
            changed = bytearray(content)
            changed[i // 8] ^= 1 << i % 8
            other = file.copy()
            other.sections[tag] = bytes(changed)
            codes.add(main([str(other.write(path))]))
    assert codes == {0, 1, 2}


def test_the_time_of_a_check_is_in_proportion_to_the_file(tmp_path: Path) -> None:
    seconds = []
    for n in (1000, 8000):
        states = np.arange(n - 1)
        moves = wf.Transitions.from_intervals(
            np.repeat(states, 2), 0 * np.repeat(states, 2), np.c_[states, states + 1].ravel(),
            0.25, 0.75, np.linspace(0.5, 0.7, 2 * n - 2),
        )  # fmt: skip
        path = wf.expected_cost(moves, n - 1, give_up=90.0, odds="best").write_proof(tmp_path / "a")
        assert "bpla" in File(path).sections
        start = time.process_time()
        verify(path)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 30.0 * seconds[0]  # 64 if it were quadratic


# ---------------------------------------------------------------- lies by hand


def test_the_middle_of_the_odds_is_neither_the_worst_nor_the_best(tmp_path: Path) -> None:
    """The cost for odds between the bounds is exact for these, and wrong for the extremes."""
    path = tmp_path / "a.proof"
    moves = wf.Transitions.from_intervals([0, 0], [0, 0], [1, 0], [0.25, 0.25], [0.75, 0.75])
    for odds, value, claim in (("worst", 4.0, "exceeds the upper"), ("best", 4 / 3, "undercuts")):
        field = wf.expected_cost(moves, 1, odds=odds)
        assert field.values[0] == pytest.approx(value, rel=1e-14)
        file = File(field.write_proof(path))
        assert accepted(path)
        file.put("valu", np.array([2.0, 0.0]))
        assert not is_true(file)
        with pytest.raises(NotProved, match=claim):
            verify(file.write(path))


def test_a_loop_that_odds_may_keep_is_infinite_or_not(tmp_path: Path) -> None:
    """State 0 may stay for ever, if the odds of leaving are 0; the best odds leave at once."""
    path = tmp_path / "a.proof"
    moves = wf.Transitions.from_intervals([0, 0], [0, 0], [1, 0], [0.0, 0.0], [1.0, 1.0])
    worst, best = (wf.expected_cost(moves, 1, odds=odds) for odds in ("worst", "best"))
    assert worst.values.tolist() == [np.inf, 0.0]
    assert best.values.tolist() == [1.0, 0.0]
    for field, other in ((worst, best), (best, worst)):
        file = File(field.write_proof(path))
        assert accepted(path)
        claim = struct.unpack("<Bd6h", file.sections["clai"])
        file.sections["clai"] = struct.pack("<Bd6h", 14 if other is best else 4, *claim[1:])
        assert not is_true(file)
        assert not accepted(file.write(path))


def test_arrival_where_the_odds_may_keep_the_walk(tmp_path: Path) -> None:
    """0 stays or moves on to 1, which arrives in one of two cases: any number suits staying."""
    path = tmp_path / "a.proof"
    moves = wf.Transitions.from_intervals(
        [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 2, 3], [0.0, 0.0, 0.5, 0.5], [1.0, 1.0, 0.5, 0.5]
    )
    field = wf.expected_cost(moves, 2, give_up=9.0, odds="best")
    assert field.plan.tolist() == [0, 0, -1, -1]
    file = File(field.write_proof(path))
    assert accepted(path)
    file.sections |= {"rlor": bytes(4), "rupr": bytes(4)}
    for number in (0.9, 0.5):
        file.put("reac", np.array([number, 0.5, 1.0, 0.0]))
        for barrier in ([0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0]):
            file.put("bpla", np.array(barrier))
            with pytest.raises(NotProved, match=r"may not end|barrier|not follow"):
                verify(ordered(file).write(path))
    # below 0 no probability is an upper barrier
    file.put("reac", np.array([-0.5, -0.5, 1.0, 0.0]))
    assert not accepted(file.write(path))
