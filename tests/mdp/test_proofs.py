"""Proofs of expected cost: true files are accepted, corrupted ones are rejected."""

from __future__ import annotations

import struct
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from chance_proofs import accepted, counts_of, is_true, ordered, process_of, random_field, tally
from exact_chance import Choice, least_expected_cost, of_plan, surely_arriving
from proofs import File
from wayfield.mdp.kernels import approach, infinite_layers, mean_falls, worst_ratio
from wayfield.numerics.doubledouble import Pair
from wayfield_verify import NotProved, Unreadable, verify
from wayfield_verify.__main__ import main

# ---------------------------------------------------------------- random processes


@pytest.mark.parametrize("kind", ["costs", "free", "given"])
def test_random_proofs_are_accepted_and_false_ones_are_not(kind: str, tmp_path: Path) -> None:
    found = tally(range(1000, 1020), kind, tmp_path / "a.proof")
    assert found["true, accepted"] == 20
    assert not [what for what in found if "ACCEPTED" in what or "REJECTED" in what]
    false = {what.split(":")[0] for what in found if "FALSE" in what}
    assert false >= {"value", "bound", "plan", "count", "cost", "next state", "end", "giving up"}
    assert sum(found[what] for what in found if "FALSE" in what) > 100
    if kind != "costs":
        assert found["free loop: FALSE, rejected"] > 5


def test_random_processes_have_every_kind_of_trouble() -> None:
    """Otherwise the test above would mean little."""
    seen = set()
    for seed in range(1000, 1020):
        for kind in ("free", "given"):
            field = random_field(seed, kind)
            lost, inner = np.isinf(field.values), (field.reach > 0) & (field.reach < 1)
            moves = field.transitions
            seen |= {"infinite"} if lost.any() else set()
            seen |= {"lost, yet may arrive"} if (lost & inner).any() else set()
            seen |= {"gives up"} if field.gives_up.any() else set()
            seen |= {"several goals"} if field.goal.size > 1 else set()
            seen |= {"labels"} if field.labels is not None else set()
            used = moves._choices(field.plan)
            for k in used[used >= 0]:
                rows = slice(moves.outcome_indptr[k], moves.outcome_indptr[k + 1])
                if not moves.costs[rows].any() and rows.stop - rows.start > 1:
                    seen.add("free move with several outcomes")
    assert len(seen) == 6, seen


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


def test_where_all_moves_are_free_nothing_costs(tmp_path: Path) -> None:
    moves = wf.Transitions([0, 0, 1, 1], [0, 0, 0, 1], [1, 2, 0, 1], cost=0)
    field = wf.expected_cost(moves, goal=2)
    assert field.values.tolist() == [0.0, 0.0, 0.0]
    assert field.plan.tolist() == [0, 0, -1]
    verify(field.write_proof(tmp_path / "free.proof"))


def test_free_moves_are_pooled() -> None:
    moves = wf.Transitions([0, 0, 0], [0, 1, 1], [1, 1, 0], count=[3, 50, 50], cost=[0, 0, 2])
    assert moves.shrunk(10).costs.tolist() == [2.0, 0.0, 2.0, 0.0]


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


@pytest.mark.parametrize(
    ("tag", "content", "message"),
    [
        ("acti", bytes([9, 9]), None),
        ("naml", bytes([7, 5, 3]), "section 'name' must have 15 bytes"),
        ("name", b"a" * 4 + b"b" * 6 + b"\xff" * 4, "not UTF-8"),
        ("name", b"aaaa" + b"bbbbbb" + b"aaaa", "the same name"),
        ("outc", bytes([3, 0]), "a choice has no outcome"),
        ("outc", bytes([2, 2]), "do not add up"),
        ("choi", bytes([1, 1, 1]), "do not add up"),
        ("head", bytes([0, 1, 3]), "leads to a state that does not exist"),
        ("coun", np.array([1.0, 0.0, 1.0]).tobytes(), "count is not positive"),
        ("cost", np.array([-1.0]).tobytes(), "cost is negative"),
        ("endv", bytes([3]), "at a state that does not exist"),
        ("plan", bytes([2, 1, 0]), "takes an unknown choice"),
        ("valu", np.array([np.nan, 1.0, 0.0]).tobytes(), "a value is neither a number nor"),
        ("clai", struct.pack("<Bd6h", 5, 1.0, *[1] * 6), "claim is unknown"),
        ("clai", struct.pack("<Bd6h", 0, -1.0, *[1] * 6), "giving up is negative"),
        ("clai", struct.pack("<Bd6h", 0, np.nan, *[1] * 6), "giving up is negative"),
        ("clai", struct.pack("<Bd6h", 0, 1.0, *[1] * 5, 513), "exponent is out of range"),
    ],
)
def test_what_is_no_process_is_unreadable(
    tag: str, content: bytes, message: str | None, tmp_path: Path
) -> None:
    moves = wf.Transitions([0, 0, 1], [7, 7, 9], [0, 1, 2], count=[1, 3, 1])
    field = wf.expected_cost(moves, goal=2)
    file = File(field.write_proof(tmp_path / "a.proof", names=["aaaa", "bbbbbb", "cccc"]))
    file.sections[tag] = content
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


def test_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    field = random_field(3, "free")
    first = field.write_proof(tmp_path / "a.proof").read_bytes()
    assert field.write_proof(tmp_path / "b.proof").read_bytes() == first


@pytest.mark.parametrize("kind", ["free", "given"])
def test_whatever_the_bytes_say_there_is_a_verdict(kind: str, tmp_path: Path) -> None:
    """Any bit flipped, and the digest made to fit: 0, 1 or 2, never a traceback."""
    path = tmp_path / "a.proof"
    file = File(random_field(12, kind).write_proof(path))
    codes = set()
    rng = np.random.default_rng(0)
    for tag, content in list(file.sections.items()):
        for i in rng.integers(8 * len(content), size=40).tolist() if content else ():
            changed = bytearray(content)
            changed[i // 8] ^= 1 << i % 8
            other = file.copy()
            other.sections[tag] = bytes(changed)
            codes.add(main([str(other.write(path))]))
        other = file.copy()
        del other.sections[tag]
        codes.add(main([str(other.write(path))]))
    assert codes == {0, 1, 2}


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


# ---------------------------------------------------------------- kernels beside naive twins


@pytest.mark.parametrize("seed", range(5))
def test_figures_of_choices_bound_the_exact_ones(seed: int) -> None:
    moves = random_field(seed, "free").transitions
    process, n = moves._process, moves.num_states
    rng = np.random.default_rng(seed)
    values = Pair(rng.uniform(0, 9, n), rng.uniform(-1, 1, n) * 2.0**-55)
    chosen = np.flatnonzero(rng.random(moves.num_choices) < 0.7)
    relief = rng.uniform(0.1, 1.0, moves.num_choices)
    exact = [
        Fraction(a) + Fraction(b) for a, b in zip(*map(np.ndarray.tolist, values), strict=True)
    ]
    falls = mean_falls(process, chosen, values)
    worst = {-1.0: Fraction(0), 1.0: Fraction(0)}
    for k in chosen:
        s, rows = process.owner[k], range(process.ptr[k], process.ptr[k + 1])
        counts = [Fraction(float(process.counts[e])) for e in rows]
        change = sum(
            (w * (exact[process.heads[e]] - exact[s]) for w, e in zip(counts, rows, strict=True)),
            Fraction(0),
        )
        paid = sum(
            (w * Fraction(float(process.costs[e])) for w, e in zip(counts, rows, strict=True)),
            Fraction(0),
        )
        assert 0 <= -change - Fraction(falls[k]) <= Fraction(1, 2**40)
        for side in worst:
            ratio = int(side) * (paid + change) / (paid + Fraction(relief[k]))
            worst[side] = max(worst[side], ratio)
    for side, ratio in worst.items():
        found = worst_ratio(process, chosen, values, 1.0, side, relief)
        assert ratio <= found <= float(ratio) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_layers_and_ranks_are_what_they_say(seed: int) -> None:
    moves = random_field(seed, "free").transitions
    process, n = moves._process, moves.num_states
    rng = np.random.default_rng(seed)
    ends, allowed = rng.random(n) < 0.3, process.fee < np.inf
    layer = infinite_layers(process, ends, allowed.copy())
    choices: list[dict[int, Choice]] = [{} for _ in range(n)]
    for k in np.flatnonzero(allowed):
        heads = process.heads[process.ptr[k] : process.ptr[k + 1]].tolist()
        choices[process.owner[k]][int(k)] = Fraction(1), [(y, Fraction(1)) for y in heads]
    sure = surely_arriving(choices, set(np.flatnonzero(ends).tolist()))
    assert set(np.flatnonzero(layer < 0).tolist()) == sure
    reached = [{int(y) for y in np.flatnonzero(ends)}]
    for k, x in enumerate(process.owner):
        heads = process.heads[process.ptr[k] : process.ptr[k + 1]]
        if layer[x] >= 0:
            lower = (layer[heads] >= 0) & (layer[heads] < layer[x])
            assert lower.any() or (layer[heads] == layer[x]).all()
    # ranks, breadth first
    usable = rng.random(moves.num_choices) < 0.8
    rank, choice = approach(process, usable, ends)
    while reached[-1]:
        near = set().union(*reached)
        reached.append(
            {
                int(x)
                for k, x in enumerate(process.owner)
                if usable[k]
                and int(x) not in near
                and near & set(process.heads[process.ptr[k] : process.ptr[k + 1]].tolist())
            }
        )
    for distance, states in enumerate(reached):
        for x in states:
            assert rank[x] == distance
            if distance:
                heads = process.heads[process.ptr[choice[x]] : process.ptr[choice[x] + 1]]
                assert process.owner[choice[x]] == x
                assert min(rank[y] for y in heads if y in set().union(*reached)) == distance - 1
    assert (choice >= 0).sum() == sum(map(len, reached[1:]))
