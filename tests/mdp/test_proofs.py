"""Proofs of expected cost, for known odds and in intervals: true files are accepted, others not."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from chance_proofs import (
    accepted,
    counts_of,
    extreme_reach,
    is_true,
    least_worst_cost,
    ordered,
    process_of,
    random_field,
    tally,
    worst_cost,
)
from exact_chance import least_expected_cost, of_plan
from proofs import File
from wayfield_verify import NotProved, Unreadable, verify
from wayfield_verify.__main__ import main

# ---------------------------------------------------------------- random processes

KINDS = ("costs", "free", "given", "worst", "best")


@pytest.mark.parametrize("kind", KINDS)
def test_random_proofs_are_accepted_and_false_ones_are_not(kind: str, tmp_path: Path) -> None:
    found = tally(range(1000, 1018), kind, tmp_path / "a.proof")
    assert found["true, accepted"] == 18
    assert not [what for what in found if "ACCEPTED" in what or "REJECTED" in what]
    false = {what.split(":")[0] for what in found if "FALSE" in what}
    known = {"odds"} if kind in ("worst", "best") else {"count"}
    assert false >= known | {"value", "bound", "plan", "cost", "next state", "end", "giving up"}
    assert sum(found[what] for what in found if "FALSE" in what) > 75
    if kind in ("free", "given"):
        assert found["free loop: FALSE, rejected"] > 5


def test_random_processes_have_every_kind_of_trouble() -> None:
    """Otherwise the test above would mean little."""
    seen = set()
    for seed, kind in product(range(1000, 1018), KINDS[1:]):
        field, between = random_field(seed, kind), kind in ("worst", "best")
        moves, moving = field.transitions, field.plan >= 0
        lost, inner = np.isinf(field.values), (field.reach > 0) & (field.reach < 1)
        used = moves._choices(field.plan)
        rows = [slice(*moves.outcome_indptr[k : k + 2]) for k in used[used >= 0]]
        troubles = {
            "infinite": lost.any() and moving.any(),
            "may arrive": inner.any(),
            "lost, yet may arrive": (lost & inner).any() and not between,
            "unknown arrival": (moving & (field.reach_upper - field.reach_lower == 1.0)).any(),
            "gives up": field.gives_up.any(),
            "several goals": field.goal.size > 1,
            "labels": field.labels is not None,
            "free move with several outcomes": any(
                not moves.costs[some].any() and some.stop - some.start > 1 for some in rows
            ),
        }
        seen |= {(what, kind if between else "known") for what, found in troubles.items() if found}
    assert len(seen) >= 18, seen


@pytest.mark.parametrize("kind", KINDS[1:])
def test_whatever_the_bytes_say_there_is_a_verdict(kind: str, tmp_path: Path) -> None:
    """Any bit flipped, and the digest made to fit: 0, 1 or 2, never a traceback."""
    path = tmp_path / "a.proof"
    field = random_field(12, kind)
    file = File(field.write_proof(path))
    content = path.read_bytes()
    assert field.write_proof(path).read_bytes() == content  # the same every time
    codes, rng = set(), np.random.default_rng(0)
    for tag, content in list(file.sections.items()):
        for i in rng.integers(8 * len(content), size=20).tolist() if content else ():
            changed = bytearray(content)
            changed[i // 8] ^= 1 << i % 8
            other = file.copy()
            other.sections[tag] = bytes(changed)
            codes.add(main([str(other.write(path))]))
        other = file.copy()
        del other.sections[tag]
        codes.add(main([str(other.write(path))]))
    assert codes == {0, 1, 2}


def test_free_moves_are_solved_as_in_rationals() -> None:
    rng = np.random.default_rng([0, 77])
    for seed in rng.integers(10**6, size=40).tolist():
        field = random_field(seed, "free")
        ends = dict.fromkeys(field.goal.tolist(), 0.0)
        if field.labels is not None:
            labels = field.labels
            ends |= dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
        exact = least_expected_cost(field.transitions, ends, field.give_up)
        cost, reach = of_plan(field.transitions, field.plan.tolist(), ends, field.give_up)
        for s, value in enumerate(exact):
            assert field.lower[s] <= value <= field.upper[s], seed
            assert cost[s] <= field.upper[s], seed
            assert field.reach_lower[s] <= reach[s] <= field.reach_upper[s], seed
        assert field.width <= 1e-9 * max(1.0, np.abs(field.values[field.values < np.inf]).max())


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


# ---------------------------------------------------------------- free moves


def lift() -> wf.Transitions:
    """Two floors joined by a free lift that stops at either; stairs lead from each to the exit."""
    return wf.Transitions(
        [0, 0, 1, 1, 0, 1], [0, 0, 0, 0, 1, 1], [0, 1, 0, 1, 2, 2], cost=[0, 0, 0, 0, 5, 3]
    )


def test_a_free_lift_is_taken_to_the_cheaper_exit(tmp_path: Path) -> None:
    field = wf.expected_cost(lift(), goal=2)
    assert field.values.tolist() == [3.0, 3.0, 0.0]
    assert field.plan.tolist() == [0, 1, -1]
    said = verify(field.write_proof(tmp_path / "lift.proof"))
    assert any("arrives at a goal or label surely" in sentence for sentence in said)
    # riding for ever is consistent with any value, and ends nowhere
    file = File(tmp_path / "lift.proof")
    file.sections["plan"] = bytes([1, 1, 0])
    file.sections["bpla"] = bytes(len(file.sections["bpla"]))
    for ranks in ((0, 0, 0), (1, 2, 0), (2, 1, 0), (1, 1, 0)):
        file.sections["rank"] = bytes(ranks)
        with pytest.raises(NotProved, match="may go on for ever"):
            verify(file.write(tmp_path / "loop.proof"))


def test_a_free_walk_of_many_steps(tmp_path: Path) -> None:
    """A fair walk between a toll and a fence: free moves with odds, 10,000 of them in the mean."""
    n = 101
    inner = np.arange(1, n - 1)
    states = np.concatenate([inner, inner, [n - 1, 0]])
    heads = np.concatenate([inner - 1, inner + 1, [n - 2, n]])
    costs = np.append(np.zeros(2 * inner.size + 1), 7.0)
    moves = wf.Transitions(states, np.zeros(states.size, int), heads, cost=costs, num_states=n + 1)
    field = wf.expected_cost(moves, goal=n)
    assert (field.lower[:n] <= 7.0).all()
    assert (field.upper[:n] >= 7.0).all()
    assert field.width < 1e-9
    verify(field.write_proof(tmp_path / "walk.proof"))
    stopped = wf.expected_cost(moves, goal=n, give_up=3.0)
    assert (stopped.values[:n] == 3.0).all()
    verify(stopped.write_proof(tmp_path / "walk.proof"))


# ---------------------------------------------------------------- what a file says


def test_a_given_plan_is_not_called_optimal(tmp_path: Path) -> None:
    few = wf.Transitions([0, 0, 0], [0, 1, 1], [1, 1, 0], count=[3, 50, 50])
    field = wf.expected_cost(few, goal=1)
    assert field.optimal
    assert any("least expected cost" in one for one in verify(field.write_proof(tmp_path / "a")))
    given = field.under(few.shrunk(10))
    assert not given.optimal
    said = verify(given.write_proof(tmp_path / "a"))
    assert any("The plan was given" in sentence for sentence in said)
    assert not any("least" in sentence for sentence in said)
    # the same numbers, called the least: another choice undercuts them
    worse = replace(field, plan=np.array([1, -1])).under(few)
    file = File(worse.write_proof(tmp_path / "a"))
    assert accepted(tmp_path / "a")
    content = file.sections["clai"]
    file.sections["clai"] = bytes([content[0] & ~1]) + content[1:]
    for tag in ("reac", "rlor", "rupr", "rlow"):
        del file.sections[tag]
    with pytest.raises(NotProved, match="choice 0 of state 0 undercuts"):
        verify(file.write(tmp_path / "a"))


def test_names_and_actions_are_written_and_named(tmp_path: Path) -> None:
    moves = wf.Transitions([0, 0, 1], [7, 7, 9], [0, 1, 2], count=[1, 3, 1])
    field = wf.expected_cost(moves, goal=2)
    path = field.write_proof(tmp_path / "a.proof", names=["Straße", "Tür\n", "home"])
    assert verify(path)
    file = File(path)
    assert file.sections["acti"] == bytes([7, 9])
    file.change("valu", 1, 0.5)
    with pytest.raises(NotProved, match=r"state 0 \('Stra\\xdfe'\)"):
        verify(file.write(path))
    with pytest.raises(wf.InputError, match="one name for each of 3 states, got 2"):
        field.write_proof(path, names=["a", "b"])
    with pytest.raises(wf.InputError, match="two states have the same name"):
        field.write_proof(path, names=["a", "b", "a"])


NUMBERS = "<Bd6h"


def sections(**others: object) -> dict[str, bytes | None]:
    """Return sections of a file with these contents; None for one that is missing."""
    return {
        tag: content if content is None or isinstance(content, bytes)
        else np.array(content).tobytes() if isinstance(content, list)
        else struct.pack(NUMBERS, *content)
        for tag, content in others.items()
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (sections(acti=bytes([9, 9])), None),
        (sections(naml=bytes([7, 5, 3])), "section 'name' must have 15 bytes"),
        (sections(name=b"a" * 4 + b"b" * 6 + b"\xff" * 4), "not UTF-8"),
        (sections(name=b"aaaa" + b"bbbbbb" + b"aaaa"), "the same name"),
        (sections(outc=bytes([3, 0])), "a choice has no outcome"),
        (sections(outc=bytes([2, 2])), "do not add up"),
        (sections(choi=bytes([1, 1, 1])), "do not add up"),
        (sections(head=bytes([0, 1, 3])), "leads to a state that does not exist"),
        (sections(coun=[1.0, 0.0, 1.0]), "count is not positive"),
        (sections(cost=[-1.0]), "cost is negative"),
        (sections(endv=bytes([3])), "at a state that does not exist"),
        (sections(plan=bytes([2, 1, 0])), "takes an unknown choice"),
        (sections(valu=[np.nan, 1.0, 0.0]), "a value is neither a number nor"),
        (sections(clai=(5, 1.0, *[1] * 6)), "claim is unknown"),
        (sections(clai=(0, -1.0, *[1] * 6)), "giving up is negative"),
        (sections(clai=(0, np.nan, *[1] * 6)), "giving up is negative"),
        (sections(clai=(0, 1.0, *[1] * 5, 513)), "exponent is out of range"),
        (sections(oddl=[0.1, 0.5, -0.1]), "bound on odds is negative"),
        (sections(oddl=[0.1, 0.5, 0.3]), "in the wrong order"),
        (sections(oddl=[0.2, 0.7, 0.2]), "exclude a sum of 1"),
        (sections(oddh=[0.3, 0.5, 0.1]), "exclude a sum of 1"),
        (sections(oddh=[0.3, np.inf, 0.2]), "infinite or NaN"),
        (sections(oddh=None, oddl=[0.1, 0.5, 0.0]), "section 'oddh' is missing"),
        (sections(cost=[0.0], oddl=[0.1, 0.5, 0.0]), "not positive, with odds in intervals"),
        (sections(clai=(8, 9.0, *[1] * 6)), "claim is unknown"),
        (sections(clai=(0, 9.0, *[1] * 6), oddl=[0.1, 0.5, 0.0]), "section 'coun' is missing"),
    ],
)
def test_what_is_no_process_is_unreadable(
    change: dict[str, bytes | None], message: str | None, tmp_path: Path
) -> None:
    """Of a process with names, or of one with odds in intervals."""
    if {"oddl", "oddh"} & set(change):
        field, names = slippery(odds="worst", give_up=9.0), None
    else:
        rows = wf.Transitions([0, 0, 1], [7, 7, 9], [0, 1, 2], count=[1, 3, 1])
        field, names = wf.expected_cost(rows, goal=2), ["aaaa", "bbbbbb", "cccc"]
    file = File(field.write_proof(tmp_path / "a.proof", names=names))
    file.sections = {k: v for k, v in (file.sections | change).items() if v is not None}
    if message is None:  # still a process
        verify(file.write(tmp_path / "a.proof"))
    else:
        with pytest.raises(Unreadable, match=message):
            verify(file.write(tmp_path / "a.proof"))


def test_what_cannot_be_proved_is_not_written(tmp_path: Path) -> None:
    moves = wf.Transitions([0, 0, 1], [0, 0, 0], [1, 0, 2], count=[3, 1, 5])
    field = wf.expected_cost(moves, goal=2)
    wrong = replace(field, values=np.array([np.inf, 1.0, 0.0]))
    with pytest.raises(wf.InputError, match=r"values\[0\] = inf is not the plan's cost"):
        wrong.write_proof(tmp_path / "a.proof")
    other = replace(field, plan=np.array([0, -1, -1]))
    with pytest.raises(wf.InputError, match="not the plan's cost"):
        other.write_proof(tmp_path / "a.proof")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("exponent", [-90, -45, -30, 30, 45, 90])
@pytest.mark.parametrize("seed", range(3))
def test_costs_in_other_units_are_proved(seed: int, exponent: int, tmp_path: Path) -> None:
    """Low parts may be beyond single precision, barriers of arrival far from costs."""
    field = random_field(seed, "free")
    moves = field.transitions
    row = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    unit = 10.0**exponent
    scaled = wf.Transitions(
        moves.states[row],
        moves.actions[row],
        moves.next_states,
        moves.counts,
        moves.costs * unit,
        moves.num_states,
    )
    price = None if field.give_up is None else field.give_up * unit
    again = wf.expected_cost(scaled, field.goal, price)
    file = File(again.write_proof(tmp_path / "a.proof"))
    verify(tmp_path / "a.proof")
    assert is_true(file)


# ---------------------------------------------------------------- odds in intervals


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


# ---------------------------------------------------------------- lies by hand


def given(
    plan: list[int], rows: list[tuple[int, int, int, float]], path: Path, **more: object
) -> File:
    moves = wf.Transitions(
        *([row[i] for row in rows] for i in range(3)),
        cost=[row[3] for row in rows],
        num_states=len(plan),
    )
    field = wf.expected_cost(moves, goal=len(plan) - 1, **more)  # type: ignore[arg-type]
    return File(replace(field, plan=np.array(plan)).under(moves).write_proof(path))


def test_arrival_from_where_the_plan_goes_round_for_ever(tmp_path: Path) -> None:
    """States 0 and 1 lead to each other: any probability is consistent, and only 0 is true."""
    path = tmp_path / "a.proof"
    file = given([0, 0, -1], [(0, 0, 1, 1.0), (1, 0, 0, 1.0), (1, 1, 2, 1.0)], path)
    assert accepted(path)
    assert is_true(file)
    for number in (1.0, 0.25, -0.5):
        for ranks in ((0, 0, 0), (2, 1, 0), (1, 2, 0), (255, 255, 0)):
            file.put("reac", np.array([number, number, 1.0]))
            file.sections["rank"] = bytes(ranks)
            assert not accepted(ordered(file).write(path))
            assert not is_true(file)


def test_a_loop_is_not_called_infinite_if_it_can_be_left(tmp_path: Path) -> None:
    path = tmp_path / "a.proof"
    moves = wf.Transitions([0, 1, 1], [0, 0, 1], [1, 0, 2])
    file = File(wf.expected_cost(moves, goal=2).write_proof(path))
    file.put("valu", np.array([np.inf, np.inf, 0.0]))
    file.sections["plan"] = bytes(3)
    file.sections |= {"lowr": bytes(3), "uppr": bytes(3)}
    file.put("vlow", np.zeros(3, "<f4"))
    for layers in ((0, 0), (0, 1), (1, 0), (7, 7)):
        file.sections["laye"] = bytes(layers)
        with pytest.raises(NotProved, match="lower layer"):
            verify(ordered(file).write(path))
    # with the exit at the end of a loop that leads back for certain it is no proof either
    assert not is_true(file)


def test_not_moving_is_no_way_out_of_paying(tmp_path: Path) -> None:
    """Without giving up a state needs a move, whatever its value is said to be."""
    path = tmp_path / "a.proof"
    file = File(wf.expected_cost(wf.Transitions([0, 1], [0, 0], [1, 2]), goal=2).write_proof(path))
    file.sections["plan"] = bytes([1, 0, 0])
    with pytest.raises(NotProved, match="no move from state 1"):
        verify(file.write(path))
    claim = struct.unpack("<Bd6h", file.sections["clai"])
    file.sections["clai"] = struct.pack("<Bd6h", 0, 0.0, *claim[2:])
    assert not accepted(file.write(path))


def test_labels_of_a_file_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.proof"
    moves = wf.Transitions([0, 1], [0, 0], [1, 2])
    field = wf.expected_cost(moves, goal=2, labels=wf.Labels([1], [4.0]))
    file = File(field.write_proof(path))
    assert counts_of(file, "endv", 2) == [1, 2]
    assert process_of(file)[1] == {1: 4.0, 2: 0.0}
    file.put("endy", np.array([3.0, 0.0]))
    with pytest.raises(NotProved, match="state 1 ends walks, but has a move or another value"):
        verify(file.write(path))


def one_move(path: Path, give_up: float | None = None, cost: float = 1.0) -> File:
    """State 0 moves to the goal, state 1."""
    moves = wf.Transitions([0], [0], [1], cost=cost)
    file = File(wf.expected_cost(moves, 1, give_up).write_proof(path))
    verify(path)
    return file


@pytest.mark.parametrize(("value", "tag", "shift"), [(5.0, "ball", -4.0), (0.5, "bpla", -0.5)])
def test_a_barrier_off_the_goals_value_lifts_or_lowers_all_others(
    value: float, tag: str, shift: float, tmp_path: Path
) -> None:
    file = one_move(tmp_path / "a.proof")
    claim = struct.unpack("<Bd6h", file.sections["clai"])
    file.sections["clai"] = struct.pack("<Bd6h", *claim[:2], 100, 100, 1, 0, 0, 0)
    file.put("valu", np.array([value, 0.0]))
    file.sections |= {"lowr": bytes([1, 0]), "uppr": bytes([1, 0])}
    file.put(tag, np.array([0.0, shift]))
    assert not is_true(file)
    with pytest.raises(NotProved, match="do not enclose the value of state 1"):
        verify(file.write(tmp_path / "a.proof"))


@pytest.mark.parametrize(
    ("plan", "value", "reach", "message"),
    [
        (1, 5.0, 1.0, "giving up undercuts the lower barrier of state 0"),
        (0, 1.0, 0.0, "exclude the cost of giving up"),
        (0, 3.0, 0.5, "arrival is impossible at state 0"),
        (0, 3.0, 1.0, "arrival is impossible at state 0"),
        (0, np.inf, 0.0, "gives up at state 0, which costs no more"),
        (1, np.inf, 0.0, "yet the plan moves"),
    ],
)
def test_lies_about_giving_up(
    plan: int, value: float, reach: float, message: str, tmp_path: Path
) -> None:
    """Moving costs 5, giving up 3."""
    file = one_move(tmp_path / "a.proof", give_up=3.0, cost=5.0)
    file.sections["plan"] = bytes([plan, 0])
    file.put("valu", np.array([value, 0.0]))
    file.put("reac", np.array([reach, 1.0]))
    if value == np.inf:
        file.sections |= {"lowr": bytes(2), "uppr": bytes(2), "laye": bytes(1)}
    assert not is_true(file)
    with pytest.raises(NotProved, match=message):
        verify(file.write(tmp_path / "a.proof"))


@pytest.mark.parametrize("tag", ["lowr", "uppr"])
def test_an_infinite_cost_has_no_other_bounds(tag: str, tmp_path: Path) -> None:
    path = tmp_path / "a.proof"
    file = File(wf.expected_cost(wf.Transitions([0, 1], [0, 0], [0, 2]), goal=2).write_proof(path))
    assert counts_of(file, "laye", 1) == [0]
    file.sections[tag] = bytes([1, 2, 0])
    with pytest.raises(NotProved, match="the cost of state 0 is infinite, yet it has bounds"):
        verify(file.write(path))


def test_an_end_is_arrived_at(tmp_path: Path) -> None:
    file = one_move(tmp_path / "a.proof", give_up=3.0)
    file.put("reac", np.array([0.0, 0.0]))
    with pytest.raises(NotProved, match="arrival is certain at state 1"):
        verify(file.write(tmp_path / "a.proof"))
