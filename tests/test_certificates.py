"""Certificates as files: what is true is proved, and what was spoiled is not.

WAYFIELD_CERTIFICATES sets how many random fields there are; 1,000 give some 10,000 spoiled files.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import wayfield as wf
import wayfield_verify
from certificates import FATAL, HEAD, SPOILERS, Case, File, is_true, random_case, spoil
from shell import wayfield
from wayfield.extension import Extension
from wayfield_verify import NotProved, Unreadable, verify
from wayfield_verify.__main__ import main
from wayfield_verify._powers import power, sign_of_balance

COUNT = int(os.environ.get("WAYFIELD_CERTIFICATES", "60"))
STEP = 20


def bracketed(case: Case) -> Extension | None:
    """The field of a case, if it has a bracket."""
    field = case.solve()
    return field if field.proof is not None and field.lower is not None else None


def accepted(path: Path) -> bool:
    try:
        return bool(verify(path))
    except (NotProved, Unreadable):
        return False


@pytest.mark.parametrize("first", range(0, COUNT, STEP))
@pytest.mark.filterwarnings("ignore::wayfield.errors.InputWarning")
def test_random_fields_are_proved_and_spoiled_ones_are_not(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + STEP):
        field = bracketed(random_case(seed))
        if field is None:
            continue
        path = field.certificate(tmp_path / "field.cert")
        assert verify(path), seed
        draw = np.random.default_rng(seed)
        for kind in SPOILERS:
            file = File(path)
            if not spoil(file, kind, draw):
                continue
            passed = accepted(file.write(tmp_path / "spoiled.cert"))
            if kind in FATAL:
                assert not passed, (seed, kind)
            elif passed:
                # what is accepted although it was changed has to be true
                assert is_true(file) is not False, (seed, kind)


@pytest.mark.filterwarnings("ignore::wayfield.errors.InputWarning")
def test_every_kind_of_spoiling_is_met(tmp_path: Path) -> None:
    """Most changes of graph and equation make the statement false, so the test above says much."""
    rejected = dict.fromkeys(SPOILERS, 0)
    for seed in range(30):
        field = bracketed(random_case(seed))
        if field is None or field.prior is not None:
            continue
        path = field.certificate(tmp_path / "field.cert")
        for kind in SPOILERS:
            file = File(path)
            if spoil(file, kind, np.random.default_rng(seed)):
                rejected[kind] += not accepted(file.write(tmp_path / "spoiled.cert"))
    assert all(count >= 5 for count in rejected.values()), rejected


def test_ties_are_proved_in_rationals(tmp_path: Path) -> None:
    tails, heads = [0, 1, 2, 4, 5, 6, 1, 8], [1, 2, 3, 5, 6, 7, 8, 5]
    graph = wf.Graph.from_edges(tails, heads, directed=True)
    field = wf.extend(graph, wf.Labels([0, 3, 4, 7], [1.0, 0.0, 1.0, 0.0]), wf.AMLE())
    file = File(field.certificate(tmp_path / "tie.cert"))
    assert "rati" in file.sections
    assert any("1 vertices lie on no descent" in said for said in verify(tmp_path / "tie.cert"))
    # 2/3 on one walk becomes 5/8: no solution any more
    file.sections["rati"] = file.sections["rati"].replace(
        b"\x02\x01\0\0\0\x03", b"\x05\x01\0\0\0\x08", 1
    )
    with pytest.raises(NotProved, match="solution at vertex"):
        verify(file.write(tmp_path / "tie.cert"))


def test_p_is_part_of_what_is_proved(tmp_path: Path) -> None:
    """On a star the solution depends on p, so that no other p can be proved."""
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    labels = wf.Labels([1, 2, 3], [0.0, 0.0, 1.0])
    for p in (2.0, 2.5, 3.0, 16.0, 1024.0):
        path = wf.extend(star, labels, wf.PLaplacian(p)).certificate(tmp_path / "star.cert")
        assert verify(path)
        for other in (2.0, np.nextafter(p, 9e9), p + 1e-6, 2 * p, np.inf):
            file = File(path)
            file.sections["kind"] = file.sections["kind"][:2] + np.float64(other).tobytes()
            # a last place of p moves the solution by less than the bracket is wide
            close = abs(other - p) < 1e-12 * p
            assert close or not accepted(file.write(tmp_path / "other.cert")), (p, other)


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


def test_signs_of_balances() -> None:
    three_four_five = [Fraction(3), Fraction(4), Fraction(-5)]
    assert [sign_of_balance(three_four_five, Fraction(q)) for q in (1, 2, 3)] == [1, 0, -1]
    assert sign_of_balance([Fraction(1, 3), Fraction(-1, 3), Fraction(0)], Fraction(3, 2)) == 0
    assert sign_of_balance([Fraction(4), Fraction(1), Fraction(-9)], Fraction(1.5)) == -1
    # 8 · 1 = 4^1.5: where sums agree and q is not whole, digits do not tell
    assert sign_of_balance([Fraction(1)] * 8 + [Fraction(-4)], Fraction(1.5)) is None


def plan_case(seed: int, lengths: bool, **settings: object) -> wf.Answer:
    draw = np.random.default_rng(seed)
    base = wf.grid_graph(
        wf.Layout.from_text("######\n#....#\n#.##.#\n#....#\n######"), refinement=2
    )
    edge = base.tails < base.indices
    weights = draw.uniform(0.5, 2.0, int(edge.sum())) if lengths else None
    graph = wf.Graph.from_edges(base.tails[edge], base.indices[edge], weights)
    labels = wf.sample_labels(graph, goal=0, fraction=0.2, seed=seed)
    return wf.solve(graph, labels, goal=0, error=0.01)


@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_plans_are_proved_and_spoiled_ones_are_not(
    seed: int, lengths: bool, tmp_path: Path
) -> None:
    answer = plan_case(seed, lengths)
    path = answer.certificate(tmp_path / "plan.cert")
    assert any("starts that can reach the goal" in said for said in verify(path))
    draw, n = np.random.default_rng(seed), answer.graph.num_vertices
    for _ in range(20):
        x, y = draw.choice(np.arange(1, n), 2, replace=False)
        file = File(path)
        moves = file.indices("succ")
        # an equally good move at the same cost would leave the statement true
        if y in answer.graph.neighbours(x) and answer.values[y] == answer.values[moves[x]]:
            continue
        if moves[x] == y:
            y = 2**32 - 1
        moves[x] = y
        file.put("succ", moves)
        assert not accepted(file.write(tmp_path / "spoiled.cert")), (x, y)
    costs = File(path)
    costs.put("cost", answer.plan.cost + 1e-9)
    assert not accepted(costs.write(tmp_path / "spoiled.cert"))
    claims = File(path)
    claims.sections["opti"] = np.packbits(np.ones(n, bool), bitorder="little").tobytes()
    assert answer.certificate.certified.all() or not accepted(claims.write(tmp_path / "all.cert"))


def test_a_loop_is_proved_to_be_one(tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    answer = wf.solve(path, wf.Labels([0, 1, 2, 3], [0.0, 4.0, 1.0, 2.0]), goal=0)
    said = verify(answer.certificate(tmp_path / "loop.cert"))
    assert any("2 starts go round for ever" in sentence for sentence in said)


# ---------------------------------------------------------------- files


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    return wf.extend(path, wf.Labels([0, 3], [0.0, 1.0]), wf.AMLE()).certificate(
        tmp_path / "a.cert"
    )


def test_every_truncation_and_every_flipped_bit_is_refused(good: Path) -> None:
    whole = good.read_bytes()
    for size in range(len(whole)):
        good.write_bytes(whole[:size])
        assert main([str(good)]) == 2
    for i in range(0, 8 * len(whole), 7):
        spoiled = bytearray(whole)
        spoiled[i // 8] ^= 1 << i % 8
        good.write_bytes(spoiled)
        assert main([str(good)]) == 2


@pytest.mark.parametrize("plan", [False, True])
def test_whatever_the_bytes_say_there_is_a_verdict(plan: bool, tmp_path: Path) -> None:
    """Any bit flipped, and the digest made to fit: 0, 1 or 2, and never a traceback."""
    graph = wf.Graph.from_edges([0, 1, 2, 1], [1, 2, 3, 3], [1.0, 2.0, 1.5, 4.0], directed=True)
    labels = wf.Labels([0, 3], [6.0, 0.0])
    if plan:
        file = wf.solve(graph, labels, goal=3).certificate(tmp_path / "a.cert")
    else:
        file = wf.extend(graph, labels, wf.AMLE()).certificate(tmp_path / "a.cert")
    body = file.read_bytes()[HEAD:]
    codes = set()
    for i in range(0, 8 * len(body), 3):
        spoiled = bytearray(body)
        spoiled[i // 8] ^= 1 << i % 8
        file.write_bytes(b"wayfield proof 1" + hashlib.sha256(spoiled).digest() + spoiled)
        codes.add(main([str(file)]))
    assert codes == {0, 1, 2}


def test_hostile_counts_are_refused_before_anything_is_allocated(good: Path) -> None:
    for place in range(3):
        file = File(good)
        counts = np.frombuffer(file.sections["size"], "<u8").copy()
        counts[place] = 2**62
        file.put("size", counts)
        assert main([str(file.write(good.with_name("huge.cert")))]) == 2


@pytest.mark.parametrize("tag", ["size", "tail", "valu", "supl"])
def test_a_missing_section_is_refused(good: Path, tag: str) -> None:
    file = File(good)
    del file.sections[tag]
    with pytest.raises(Unreadable, match=tag):
        verify(file.write(good))


@pytest.mark.parametrize("name", ["absent.cert", ".", "a\0b"])
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
    assert spoil(file, "value", np.random.default_rng(0))
    assert main([str(file.write(good))]) == 1
    assert "NOT PROVED: the value of vertex" in capsys.readouterr().out


@pytest.mark.parametrize("method", [wf.NearestLabel(), wf.Harmonic(certificate=False)], ids=str)
def test_without_a_bracket_there_is_no_certificate(method: wf.Method, tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    field = wf.extend(path, wf.Labels([0, 3], [0.0, 1.0]), method)
    with pytest.raises(wf.InputError, match="no bracket that could be proved"):
        field.certificate(tmp_path / "none.cert")


def test_the_command_line_writes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roads.csv").write_text("a,b,2\nb,c,3\nc,d,1\n")
    Path("known.csv").write_text("name,value\na,6\nd,0\n")
    words = ("plan", "roads.csv", "known.csv", "--goal", "d", "--no-files", "--certificate")
    answer = wayfield(*words, "road.cert")
    assert answer.code == 0, answer.err
    assert main(["road.cert"]) == 0
    assert wayfield(*words, "road.cert").code == 0
    taken = wayfield(*words, "known.csv")
    assert taken.code == 2
    assert "known.csv is no certificate" in taken.err
    assert wayfield(*words, "road.cert", "--method", "nearest").code == 2


def test_a_repaired_plan_has_no_certificate(tmp_path: Path) -> None:
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    labels = wf.Labels([0, 1, 2, 3], [0.0, 4.0, 1.0, 2.0])
    answer = wf.solve(path, labels, goal=0, repair=True)
    with pytest.raises(wf.InputError, match="no bracket that could be proved"):
        answer.certificate(tmp_path / "lifted.cert")


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
