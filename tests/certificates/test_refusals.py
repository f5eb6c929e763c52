"""Bad input is named: the value, and its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.certificates import HeldOutAudit, audit_held_out, certify
from worlds import PATH

ENDS = wf.Labels([0, 3], [0.0, 3.0])
STAR = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
TRUTH = [0.0, 1.0, 2.0, 3.0]


def certified(**change: Any) -> object:
    call = {"graph": PATH, "labels": ENDS, "field": TRUTH, "error": 0.0} | change
    return certify(**({"plan": wf.plan(PATH, TRUTH, 0)} | call))


def answer(*known: int) -> object:
    return wf.solve(PATH, wf.Labels(known, np.array(known, float)), goal=0)


def audited(**change: Any) -> wf.certificates.Audit:
    return wf.audit_decisions(**({"answer": answer(0), "use_proved": False} | change))


def held_out(labels: Any = wf.Labels([2], [2.0]), known: int = 0) -> HeldOutAudit:  # noqa: B008
    return audit_held_out(answer(known), labels, use_proved=False)


def following(**change: Any) -> object:
    return wf.next_labels(**({"graph": PATH, "labels": wf.Labels([0], [0.0]), "goal": 0} | change))


ROWS: list[tuple[Callable[[], object], str]] = [
    # certificates
    (lambda: certified(graph=None), "graph must be a wayfield.Graph, got NoneType"),
    (lambda: certified(labels=[0]), "labels must be wayfield.Labels, got list"),
    (lambda: certified(labels=wf.Labels([9], [0.0])), r"label vertices\[0\] = 9 is out of range"),
    (lambda: certified(field="abcd"), "values must be real numbers"),
    (lambda: certified(field=[0.0, nan, 2.0, 3.0]), r"values\[1\] = nan is neither a number nor"),
    (lambda: certified(field=[0.0] * 4), r"plan.values\[1\] = 1.0 is not the field's value there"),
    (lambda: certified(field=[0.0, 1.0]), "the field has 2 values but the graph has 4 vertices"),
    (
        lambda: certified(field=wf.extend(STAR, ENDS, wf.AMLE())),
        "the field belongs to another graph",
    ),
    (lambda: certified(plan=np.zeros(4)), "plan must be a Plan, the result of wf.plan, got ndarr"),
    *[
        (lambda other=other: certified(graph=other), "plan must be on the given graph")
        for other in (
            wf.Graph.from_edges([0, 1], [1, 2]),
            replace(PATH, lengths=2 * PATH.lengths),
            replace(PATH, directed=True),
        )
    ],
    *[
        (lambda x=x: certified(error=x), f"error must be a finite number of at least 0, got {x}")
        for x in (-0.1, nan, -inf, True)
    ],
    (lambda: certified(error=None), "error must be real numbers, got object"),
    (lambda: certified(error="1"), "error must be real numbers, got"),
    (lambda: certified(error=[0.0, 0.0, -1.0, 0.0]), r"error\[2\] = -1.0 is not a bound of at le"),
    (lambda: certified(error=[0.0, nan, 0.0, 0.0]), r"error\[1\] = nan is not a bound of at least"),
    (lambda: certified(error=[0.0, 0.0]), "error has 2 entries, expected 4"),
    (lambda: certified(error=np.zeros((4, 1))), "error must be one-dimensional"),
    # audits
    (lambda: audited(answer=None), "answer must come from wayfield.solve or .*, got NoneType"),
    (lambda: audited(risk=0.0), "risk must be between 0 and 1, got 0.0"),
    (lambda: audited(confidence=1.0), "confidence must be between 0 and 1, got 1.0"),
    (lambda: audited(seed=-1), "seed must be"),
    (lambda: audited(use_proved=3), "use_proved must be True or False, got 3"),
    *[
        (lambda x=x: audited().record(x), "right must be True or False")
        for x in ([True], 1, "yes", None)
    ],
    (
        lambda: held_out(wf.Labels([1, 3], [1.0, 3.0]), 3),
        r"held_out\[1\] = 3 is a label of the plan",
    ),
    (lambda: held_out(wf.Labels([0], [0.0]), 3), r"held_out\[0\] = 0 is a label of the plan"),
    (lambda: held_out(wf.Labels([7], [0.0])), "7"),
    (lambda: held_out([1]), "labels must be wayfield.Labels"),
    (lambda: held_out().judge([-1.0]), r"paid\[0\] = -1.0 is neither a cost nor inf"),
    (lambda: held_out().judge([1.0, 2.0]), "paid has 2 entries, expected 1"),
    *[
        (lambda x=x: held_out().certify(x), "right must be 1 booleans")
        for x in ([True, False], [1], "yes")
    ],
    # labels
    (lambda: following(goal=9), "goal 9 is not a vertex"),
    (lambda: following(k=0), "k must be"),
    (lambda: following(labels=[0]), "labels must be wayfield.Labels"),
    (lambda: following(labels=wf.Labels([0, 3], [0.0, 9.0])), "labels contradict the graph"),
    (lambda: wf.contradictions(PATH, wf.Labels([7], [0.0])), "label vertices"),
    (lambda: wf.contradictions(PATH, [1.0]), r"labels must be .*Labels, got list"),  # type: ignore[arg-type]
    (lambda: wf.contradictions("maze", ENDS), r"graph must be a .*Graph"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "message"), ROWS, ids=[message for _, message in ROWS])
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        call()


def test_a_refused_finding_changes_nothing() -> None:
    audit = audited()
    before = audit.state
    with pytest.raises(wf.InputError):
        audit.record("yes")  # type: ignore[arg-type]
    assert (audit.state, audit.result.audits) == (before, 0)
