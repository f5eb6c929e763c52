"""Certificates as files: what is true is proved, and what was spoiled is not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import warnings
from fractions import Fraction
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import mpmath as mp
import numpy as np
import pytest

import wayfield as wf
import wayfield_verify
from proofs import (
    FIELD_SPOILERS,
    FILE_SPOILERS,
    HARMLESS,
    HEAD,
    PLAN_SPOILERS,
    File,
    Original,
    dense,
    proved_fields,
    random_plan,
    sealed,
    spoiled,
    unharmed,
)
from shell import wayfield
from wayfield.advice import Answer
from wayfield.fields.base import Method
from wayfield_verify import NotProved, Unreadable, _powers, verify
from wayfield_verify.__main__ import main
from wayfield_verify._field import _two_least
from wayfield_verify._powers import PowerTable, power, sign_of_balance, sign_of_sum


def accepted(path: Path) -> bool:
    try:
        return bool(verify(path))
    except (NotProved, Unreadable):
        return False


# ---------------------------------------------------------------- random fields


@pytest.fixture(scope="module")
def tried() -> dict[str, list[tuple[int, bool]]]:
    """Twenty random fields and plans, corrupted and harmlessly changed: seed and verdict by kind.

    ``benchmarks/certificates.py`` does the same to 1,000.
    """
    found: dict[str, list[tuple[int, bool]]] = {}
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.InputWarning)
        file = Path(folder) / "file.proof"
        for seed, field in islice(proved_fields(), 20):
            held = random_plan(seed, field) if seed % 2 else field
            held.write_proof(file)
            found.setdefault("original", []).append((seed, accepted(file)))
            given = Original.of(file)
            assert given is not None
            assert not given.truth.refutes(given.file), seed
            draw = np.random.default_rng(seed)
            for kind, content in (*spoiled(given, draw), *unharmed(given, draw)):
                file.write_bytes(content)
                found.setdefault(kind, []).append((seed, accepted(file)))
    return found


@pytest.mark.parametrize("kind", ["original", *HARMLESS])
def test_what_is_true_is_proved(kind: str, tried: dict[str, list[tuple[int, bool]]]) -> None:
    assert len(tried[kind]) >= 5
    assert not [seed for seed, proved in tried[kind] if not proved]


@pytest.mark.parametrize("kind", [*FIELD_SPOILERS, *PLAN_SPOILERS, *FILE_SPOILERS])
def test_what_was_spoiled_is_rejected(kind: str, tried: dict[str, list[tuple[int, bool]]]) -> None:
    if kind == "exact value":  # ties are rare: see below
        return
    assert len(tried[kind]) >= 3
    assert not [seed for seed, proved in tried[kind] if proved]


def test_ties_are_proved_in_rationals(tmp_path: Path) -> None:
    tails, heads = [0, 1, 2, 4, 5, 6, 1, 8], [1, 2, 3, 5, 6, 7, 8, 5]
    graph = wf.Graph.from_edges(tails, heads, directed=True)
    field = wf.extend(graph, wf.Labels([0, 3, 4, 7], [1.0, 0.0, 1.0, 0.0]), wf.AMLE())
    file = File(field.write_proof(tmp_path / "tie.proof"))
    assert "rati" in file.sections
    assert any("exactly 1 vertex." in said for said in verify(tmp_path / "tie.proof"))
    # 2/3 on one walk becomes 5/8: no solution any more
    file.sections["rati"] = file.sections["rati"].replace(
        b"\x02\x01\0\0\0\x03", b"\x05\x01\0\0\0\x08", 1
    )
    with pytest.raises(NotProved, match="solution at vertex"):
        verify(file.write(tmp_path / "tie.proof"))


def test_p_is_part_of_what_is_proved(tmp_path: Path) -> None:
    """On a star the solution depends on p, so that no other p can be proved."""
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    labels = wf.Labels([1, 2, 3], [0.0, 0.0, 1.0])
    for p in (2.0, 2.5, 3.0, 16.0, 1024.0):
        path = wf.extend(star, labels, wf.PLaplacian(p)).write_proof(tmp_path / "star.proof")
        assert verify(path)
        for other in (2.0, np.nextafter(p, 9e9), p + 1e-6, 2 * p, np.inf):
            file = File(path)
            file.sections["kind"] = file.sections["kind"][:2] + np.float64(other).tobytes()
            # a last place of p moves the solution by less than the bracket is wide
            close = abs(other - p) < 1e-12 * p
            assert close or not accepted(file.write(tmp_path / "other.proof")), (p, other)


@pytest.mark.parametrize("q", [1, 2, 3, 1.5, 7.25, 2.0**-20 + 1, 511, 65_535, 1e9, 1e300])
def test_powers_are_enclosed(q: float) -> None:
    """By logarithms of many digits; and no number grows long, however large q is."""
    exponent = Fraction(q)
    for ratio in (Fraction(1), Fraction(1, 2), Fraction(2, 3), 1 - Fraction(1, 10**12)):
        lo, hi, e = power(ratio, exponent, 128)
        assert 0 <= lo <= hi < 2**131
        with mp.workdps(400):
            exact = mp.mpf(ratio.numerator) / ratio.denominator
            true = mp.exp(mp.mpf(q) * mp.log(exact))
            least, most = (mp.ldexp(mp.mpf(bound), e) for bound in (lo, hi))
            assert least <= true * (1 + mp.mpf(10) ** -40)
            assert true * (1 - mp.mpf(10) ** -40) <= most


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("q", [1.1, 2 - 2.0**-51, 1 + 2.0**-51, 99.7, 2**16 - 2.0**-36])
def test_powers_by_a_table_are_enclosed(q: float, bits: int) -> None:
    """By logarithms of many digits, and about as narrow as by roots alone."""
    draw = np.random.default_rng(int(q))
    table, exponent = PowerTable(Fraction(q), bits), Fraction(q)
    tops = [int(a) * int(b) for a, b in draw.integers(1, 2**62, (60, 2))]
    edges = [Fraction(1), Fraction(1, 2), 1 - Fraction(1, 2**130), Fraction(1, 2**2000)]
    for ratio in [Fraction(a, max(tops)) for a in tops] + edges:
        lo, hi, e = table.power(ratio)
        one_lo, one_hi, one_e = power(ratio, exponent, bits)
        with mp.workdps(400):
            exact = mp.mpf(ratio.numerator) / ratio.denominator
            true = mp.exp(mp.mpf(q) * mp.log(exact))
            least, most = (mp.ldexp(mp.mpf(bound), e) for bound in (lo, hi))
            width = mp.ldexp(mp.mpf(one_hi - one_lo), one_e) + true * mp.mpf(2) ** (8 - bits)
            assert least <= true * (1 + mp.mpf(10) ** -300)
            assert true * (1 - mp.mpf(10) ** -300) <= most
            assert most - least <= 64 * width


@pytest.mark.parametrize("p", [2.1, 3 - 2.0**-51, 2 + 2.0**-51, 100.7])
def test_any_p_takes_few_roots(p: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By roots alone it would be half a million: 51 for every end of an arc and barrier."""
    field, roots = dense(p, vertices=75, share=1.0, unit=False), 0

    take = _powers._root

    def count(a: _powers.Enclosure, bits: int) -> _powers.Enclosure:
        nonlocal roots
        roots += 1
        return take(a, bits)

    _powers._table.cache_clear()
    monkeypatch.setattr(_powers, "_root", count)
    assert verify(field.write_proof(tmp_path / "dense.proof"))
    assert roots <= 51 * (9 * 256 + 40)


def test_signs_of_balances() -> None:
    three_four_five = [Fraction(3), Fraction(4), Fraction(-5)]
    assert [sign_of_balance(three_four_five, Fraction(q)) for q in (1, 2, 3)] == [1, 0, -1]
    assert sign_of_balance([Fraction(1, 3), Fraction(-1, 3), Fraction(0)], Fraction(3, 2)) == 0
    assert sign_of_balance([Fraction(4), Fraction(1), Fraction(-9)], Fraction(1.5)) == -1
    # 8 · 1 = 4^1.5: where sums agree and q is not whole, digits do not tell
    assert sign_of_balance([Fraction(1)] * 8 + [Fraction(-4)], Fraction(1.5)) is None


def test_sums_over_a_hub() -> None:
    draw = np.random.default_rng(0)
    for count in (1, 2, 5, 40):
        for _ in range(50):
            terms = [
                (int(a), int(b))
                for a, b in zip(
                    draw.integers(-3, 4, count), draw.integers(1, 9, count), strict=True
                )
            ]
            exact = sum(Fraction(a, b) for a, b in terms)
            assert sign_of_sum(terms) == (exact > 0) - (exact < 0)
    lengths = [int(b) for b in draw.integers(2**50, 2**53, 15_000) | 1]
    tie = [term for b in lengths[:5_000] for term in ((7, b), (-21, 3 * b))]
    assert sign_of_sum(tie) == 0
    assert sign_of_sum([*tie, (1, 2**900)]) == 1
    # too many digits to add up exactly; but that is needed for ties alone
    long_tie = [term for b in lengths for term in ((7, b), (-21, 3 * b))]
    assert sign_of_sum(long_tie) is None
    assert sign_of_sum([*long_tie, (1, 5)]) == 1


def test_a_plan_whose_slopes_underflow_is_proved(tmp_path: Path) -> None:
    """Slopes of 1e-324 are all alike in doubles, and so they are to the checker."""
    for seed in range(8):
        draw = np.random.default_rng(seed)
        pairs = np.unique(np.sort(draw.integers(0, 9, (2, 30)), axis=0), axis=1)
        tails, heads = pairs[:, pairs[0] < pairs[1]]
        graph = wf.Graph.from_edges(tails, heads, 1e100 * draw.uniform(0.2, 1.0, tails.size))
        labels = wf.Labels([0, 3, 6], 1e-224 * draw.random(3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wf.InputWarning)
            answer = wf.solve(graph, labels, 0)
        assert verify(answer.write_proof(tmp_path / "plan.proof"))


def test_what_is_called_optimal_names_the_proviso_of_its_theorem(tmp_path: Path) -> None:
    """On a triangle of lengths 1, two arcs that cost .1 in the world would beat the direct one."""
    triangle = wf.Graph.from_edges([0, 0, 1], [1, 2, 2])
    answer = wf.solve(triangle, wf.Labels([0, 1, 2], [0.0, 1.0, 1.0]), goal=0, error=0.0)
    said = verify(answer.write_proof(tmp_path / "plan.proof"))
    optimal = [sentence for sentence in said if "2 moves" in sentence and "optimal" in sentence]
    assert len(optimal) == 2
    for sentence in optimal:
        assert re.match(r"If .*each (arc )?costs what the graph says", sentence)


def plan_case(
    seed: int, lengths: bool, method: Method | None = None, refinement: int = 2
) -> Answer:
    draw = np.random.default_rng(seed)
    base = wf.grid_graph(
        wf.Layout.from_text("######\n#....#\n#.##.#\n#....#\n######"), refinement=refinement
    )
    edge = base.tails < base.indices
    weights = draw.uniform(0.5, 2.0, int(edge.sum())) if lengths else None
    graph = wf.Graph.from_edges(base.tails[edge], base.indices[edge], weights)
    labels = wf.sample_labels(graph, goal=0, fraction=0.2, seed=seed)
    return wf.solve(graph, labels, 0, method or wf.AMLE(), error=0.01)


def test_the_pair_of_value_and_hops_is_told(tmp_path: Path) -> None:
    said = verify(plan_case(0, lengths=True).write_proof(tmp_path / "plan.proof"))
    assert "The pair (value, hops) falls at every move of the starts that arrive." in said
    # by argmin Q a short step may climb
    graph = wf.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.5, 1.0, 9.0])
    field = wf.extend(graph, wf.Labels([0, 1, 2], [0.0, 0.5, 0.4]), wf.AMLE())
    plan = wf.plan(graph, field, 0, rule="q")
    said = verify(
        wf.certify(graph, field.labels, field, plan).write_proof(tmp_path / "climbs.proof")
    )
    assert any("The value rises at 1 move" in sentence for sentence in said)


def test_a_file_has_at_most_60_bytes_a_vertex_beyond_the_graph(tmp_path: Path) -> None:
    for lengths in (False, True):
        for method in (wf.AMLE(), wf.AMLE(fill="cost"), wf.Harmonic(), wf.PLaplacian(8)):
            answer = plan_case(0, lengths, method=method, refinement=8)
            file = File(answer.write_proof(tmp_path / "plan.proof"))
            graph = ("size", "kind", "tail", "head", "leng", "labv", "laby")
            rest = sum(len(each) for tag, each in file.sections.items() if tag not in graph)
            assert rest <= 60 * answer.graph.num_vertices


def test_a_loop_is_proved_to_be_one(tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    answer = wf.solve(path, wf.Labels([0, 1, 2, 3], [0.0, 4.0, 1.0, 2.0]), goal=0)
    said = verify(answer.write_proof(tmp_path / "loop.proof"))
    assert "2 starts go round for ever, in 1 loop: 2 -> 3 -> 2." in said
    assert all(sentence.isascii() for sentence in said)  # whatever the terminal's encoding


# ---------------------------------------------------------------- files


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    return wf.extend(path, wf.Labels([0, 3], [0.0, 1.0]), wf.AMLE()).write_proof(
        tmp_path / "a.proof"
    )


def test_every_truncation_and_every_flipped_bit_is_refused(good: Path) -> None:
    whole = good.read_bytes()
    for size in range(len(whole)):
        good.write_bytes(whole[:size])
        assert main([str(good)]) == 2
    for i in range(0, 8 * len(whole), 7):
        changed = bytearray(whole)
        changed[i // 8] ^= 1 << i % 8
        good.write_bytes(changed)
        assert main([str(good)]) == 2


@pytest.mark.parametrize("plan", [False, True])
def test_whatever_the_bytes_say_there_is_a_verdict(plan: bool, tmp_path: Path) -> None:
    """Any bit flipped, and the digest made to fit: 0, 1 or 2, and never a traceback."""
    graph = wf.Graph.from_edges([0, 1, 2, 1], [1, 2, 3, 3], [1.0, 2.0, 1.5, 4.0], directed=True)
    labels = wf.Labels([0, 3], [6.0, 0.0])
    if plan:
        file = wf.solve(graph, labels, goal=3).write_proof(tmp_path / "a.proof")
    else:
        file = wf.extend(graph, labels, wf.AMLE()).write_proof(tmp_path / "a.proof")
    body = file.read_bytes()[HEAD:]
    codes = set()
    for i in range(0, 8 * len(body), 7):
        changed = bytearray(body)
        changed[i // 8] ^= 1 << i % 8
        file.write_bytes(sealed(bytes(changed)))
        codes.add(main([str(file)]))
    assert codes == {0, 1, 2}


def test_hostile_counts_are_refused_before_anything_is_allocated(good: Path) -> None:
    for place in range(3):
        file = File(good)
        counts = np.frombuffer(file.sections["size"], "<u8").copy()
        counts[place] = 2**62
        file.put("size", counts)
        assert main([str(file.write(good.with_name("huge.proof")))]) == 2


@pytest.mark.parametrize(("seed", "is_written"), [(2, True), (3, False), (14, True), (24, True)])
def test_what_cannot_be_proved_is_not_written(seed: int, is_written: bool, tmp_path: Path) -> None:
    """Wheels whose values fall off by orders of magnitude, to a label that is nearly 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 120))
    rim = np.arange(1, n)
    tails, heads = np.append(np.zeros(n - 1, int), rim), np.append(rim, np.roll(rim, -1))
    graph = wf.Graph.from_edges(tails, heads, rng.lognormal(sigma=2, size=tails.size))
    field = wf.extend(graph, wf.Labels([0, n - 1], [1.2e-15, 94.3]), wf.AMLE(), check=False)
    if is_written:
        assert verify(field.write_proof(tmp_path / "field.proof"))
    else:
        with pytest.raises(wf.InputError, match=r"cannot be written as a proof|no bracket"):
            field.write_proof(tmp_path / "field.proof")


@pytest.mark.parametrize("tag", ["size", "tail", "valu", "supl"])
def test_a_missing_section_is_refused(good: Path, tag: str) -> None:
    file = File(good)
    del file.sections[tag]
    with pytest.raises(Unreadable, match=tag):
        verify(file.write(good))


@pytest.mark.parametrize("name", ["absent.proof", ".", "a\0b"])
def test_what_is_no_file_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_exit_codes_and_words(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main([str(good)]) == 0
    assert capsys.readouterr().out.startswith("PROVED\nThe AMLE of 2 labels")
    file = File(good)
    file.change("valu", 1, 0.5)
    assert main([str(file.write(good))]) == 1
    assert "NOT PROVED: the lower bound of vertex 1" in capsys.readouterr().out


@pytest.mark.parametrize("method", [wf.NearestLabel(), wf.Harmonic(bracket=False)], ids=str)
def test_without_a_bracket_there_is_no_certificate(method: wf.Method, tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    field = wf.extend(path, wf.Labels([0, 3], [0.0, 1.0]), method)
    with pytest.raises(wf.InputError, match="has no verified bracket here"):
        field.write_proof(tmp_path / "none.proof")


def test_the_command_line_writes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text("a,b,2\nb,c,3\nc,d,1\n")
    Path("known.csv").write_text("name,value\na,6\nd,0\n")
    words = ("plan", "roads.csv", "known.csv", "--goal", "d", "--no-files", "--proof")
    answer = wayfield(*words, "road.proof")
    assert answer.code == 0, answer.err
    assert main(["road.proof"]) == 0
    assert "('d')" in " ".join(verify("road.proof"))
    taken = wayfield(*words, "known.csv")
    assert taken.code == 2
    assert "known.csv is not a proof" in taken.err
    assert wayfield(*words, "road.proof", "--method", "nearest").code == 2


def test_a_lifted_plan_is_proved_on_its_lifted_values(tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    labels = wf.Labels([0, 1, 2, 3], [0.0, 4.0, 1.0, 2.0])
    answer = wf.solve(path, labels, goal=0, lift=True)
    said = verify(answer.write_proof(tmp_path / "lifted.proof"))
    assert any("Every start that can reach the goal" in sentence for sentence in said)
    assert any("descends lifted values" in sentence for sentence in said)
    file = File(tmp_path / "lifted.proof")
    file.change("lift", 2, 0.5)
    with pytest.raises(NotProved, match="lifted value of vertex 2 is below"):
        verify(file.write(tmp_path / "lower.proof"))


def test_a_value_that_is_lifted_from_infinity_is_refused(tmp_path: Path) -> None:
    ends = [0, 1, 2, 1, 2, 3, 0], [1, 2, 3, 0, 1, 2, 4]  # 4 reaches no label
    graph = wf.Graph.from_edges(*ends, directed=True)
    labels = wf.Labels([0, 1, 2, 3], [0.0, 4.0, 1.0, 2.0])
    answer = wf.solve(graph, labels, 0, wf.AMLE(fill="cost"), lift=True)
    assert answer.field.values[4] == np.inf
    file = File(answer.write_proof(tmp_path / "plan.proof"))
    verify(tmp_path / "plan.proof")
    file.change("lift", 4, -5.0)
    with pytest.raises(NotProved, match="lifted value of vertex 4 is below"):
        verify(file.write(tmp_path / "lower.proof"))


def test_names_are_stored_on_request_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3]).with_names(["Genève", "b", "c", "d"])
    labels = wf.Labels([0, 3], [0.0, 3.0])
    answer = wf.solve(path, labels, goal=0)
    plain, named = tmp_path / "plain.proof", tmp_path / "named.proof"
    said = " ".join(verify(answer.write_proof(plain)))
    assert "the goal, vertex 0, does so" in said
    said = " ".join(verify(answer.write_proof(named, names=True)))
    assert r"the goal, vertex 0 ('Gen\xe8ve'), does so" in said
    assert "the goal, vertex 0 ('x'), does so" in " ".join(
        verify(answer.write_proof(named, names=["x", "b", "c", "d"]))
    )
    file = File(named)
    file.change("laby", 1, 4.0)
    assert main([str(file.write(tmp_path / "false.proof"))]) == 1
    assert "the label of vertex 3 ('d')" in capsys.readouterr().out


def test_names_that_cannot_be_stored_are_refused(tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    field = wf.extend(path, wf.Labels([0, 2], [0.0, 2.0]), wf.AMLE())
    with pytest.raises(wf.InputError, match="the graph has no names"):
        field.write_proof(tmp_path / "a.proof", names=True)
    with pytest.raises(wf.InputError, match="one name for each of 3 vertices, got 2"):
        field.write_proof(tmp_path / "a.proof", names=["a", "b"])
    with pytest.raises(wf.InputError, match="two vertices have the same name"):
        field.write_proof(tmp_path / "a.proof", names=["a", "b", "a"])
    for unordered in ({"a", "b", "c"}, "abc", iter("abc"), None):
        with pytest.raises(wf.InputError, match="names must be a list, got"):
            field.write_proof(tmp_path / "a.proof", names=unordered)  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match=r"names must be Unicode text, got '\\ud800'"):
        field.write_proof(tmp_path / "a.proof", names=["a", "b", "\ud800"])


def test_what_reaches_no_label_is_not_called_filled(tmp_path: Path) -> None:
    graph = wf.Graph.from_edges([0, 0], [1, 2], directed=True)
    field = wf.extend(graph, wf.Labels([0], [0.0]), wf.AMLE(fill="cost"))
    said = verify(field.write_proof(tmp_path / "field.proof"))
    assert any("exactly 0 vertices" in sentence for sentence in said)


@pytest.mark.parametrize(
    "lengths",
    [
        [174552739093.1025, 148699731728.96112, 159939586353.09186, 1.7695314201962062,
         1.8940681767675964],
        [12141682242.77981, 15911968881.053604, 1.2721793798766066, 1.1833283177589038e-10],
    ],
    ids=len,
)  # fmt: skip
def test_barriers_count_rounding_on_the_shortest_arcs_out_as_well_as_in(
    lengths: list[float], tmp_path: Path
) -> None:
    """One-way chains: at some vertices the arc that leads in is far longer than the one out."""
    n = len(lengths) + 1
    chain = wf.Graph.from_edges(range(1, n), range(n - 1), lengths, directed=True)
    field = wf.extend(chain, wf.Labels([0, n - 1], [0.0, 1.0]), wf.AMLE())
    assert "exists and is unique" in verify(field.write_proof(tmp_path / "chain.proof"))[0]


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(3)], ids=str)
def test_labels_too_far_apart_to_be_written_down(method: wf.Method, tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    field = wf.extend(path, wf.Labels([0, 2], [1e6, 1e-305]), method)
    with pytest.raises(wf.InputError, match="cannot be written as a proof"):
        field.write_proof(tmp_path / "field.proof")
    verify(
        wf.extend(path, wf.Labels([0, 2], [1e6, 1e-290]), method).write_proof(tmp_path / "a.proof")
    )


# ---------------------------------------------------------------- independence


def test_the_checker_imports_nothing_but_the_standard_library() -> None:
    for source in Path(wayfield_verify.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), source


def test_the_checker_runs_where_wayfield_is_not(good: Path) -> None:
    folder = Path(wayfield_verify.__file__).parents[1]
    code = (
        "import sys, wayfield_verify as v; v.verify(sys.argv[1]);"
        "assert not {'wayfield', 'numpy'} & set(sys.modules)"
    )
    # -S leaves out the site packages; the folder alone holds the checker
    command = [
        sys.executable,
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(folder)!r}); {code}",
    ]
    subprocess.run([*command, str(good)], check=True)


def test_the_two_least_ends_of_walks_are_those_of_a_search() -> None:
    """With one end alone, a walk that leads back to where it began would hide all others."""
    rng = np.random.default_rng(4)
    seconds = 0
    for _ in range(100):
        n = 9
        fixed = rng.random(n) < 0.5
        follows = (rng.random((n, n)) < 0.2) & ~np.eye(n, dtype=bool)
        values = rng.integers(0, 4, n).tolist()
        back = [[(int(x), 1) for x in np.flatnonzero(column)] for column in follows.T]
        found = _two_least(fixed.tolist(), back, values)
        for x in range(n):
            # everything that walks from x lead to, through vertices that are not fixed
            met, todo = {x}, [] if fixed[x] else [x]
            while todo:
                more = set(np.flatnonzero(follows[todo.pop()]).tolist()) - met
                met |= more
                todo += [y for y in more if not fixed[y]]
            ends = sorted((values[t], t) for t in met if fixed[t] and not fixed[x])
            assert found[x] == ends[:2]
            seconds += len(ends) > 1
    assert seconds > 100
