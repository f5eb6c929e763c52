"""What ``plan`` and ``maze`` have in common: the options of a solve, and the solve itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..extension import Method
    from ..graph import Graph
    from ..kernels._types import FloatArray
    from ..labels import Labels
    from ..mending import MendMethod
    from ..pipeline import Answer

DISTANCE = "distance"
"""The prior that needs no file."""

Drop = Annotated[
    bool,
    typer.Option("--drop-false-sinks", help="Drop labels from which there is no way down."),
]
Prior = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|distance",
        help="A field that the labels correct: vertex, value; or the graph's own distances.",
    ),
]


def _folds(count: int) -> int:
    if count == 1:
        raise InputError("--folds must be 0, or at least 2")
    return count


NumFolds = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        callback=_folds,
        help="Leave out one Nth of the labels in turn, and predict them; 0 for none.",
    ),
]


def _positive(unit: float) -> float:
    if not 0.0 < unit < float("inf"):
        raise InputError(f"--length-unit must be positive and finite, not {unit:g}")
    return unit


LengthUnit = Annotated[
    float,
    typer.Option(
        metavar="X", help="One unit of length is X units of the labels.", callback=_positive
    ),
]


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be solved, and how."""

    graph: Graph
    labels: Labels
    goal: int
    method: Method | None
    prior: FloatArray | None = None
    drop: bool = False
    lift: bool = False
    error: float = 0.0
    folds: int = 0
    mend: MendMethod | None = None

    def solve(self) -> tuple[Answer, dict[str, Any]]:
        """Return the answer, and what labels left out say, if there are enough and it is quick."""
        from ..extension import AMLE
        from ..pipeline import solve
        from ..sinks import drop_false_sinks

        labels = self.labels
        if self.drop:
            method = self.method or AMLE()
            labels = drop_false_sinks(self.graph, labels, self.goal, method, prior=self.prior)
        answer = solve(
            self.graph,
            labels,
            self.goal,
            self.method,
            mend=self.mend,
            prior=self.prior,
            lift=self.lift,
            error=self.error,
            check=False,
        )
        return answer, {"held_out": self._held_out(answer)}

    def _held_out(self, answer: Answer) -> dict[str, Any] | None:
        from .._arrays import plain
        from ..cross_validation import FEWEST, PATIENCE, Folds, usable
        from ..extension import AMLE
        from ..shortest_paths import cost_to_go

        distance = cost_to_go(self.graph, self.goal)
        few = usable(self.labels, distance).size < FEWEST
        seconds = answer.field.seconds + (answer.mended.seconds if answer.mended else 0.0)
        if not self.folds or few or self.folds * seconds > PATIENCE:
            return None
        parts = Folds(self.graph, self.labels, self.goal, distance, self.folds)
        if self.mend is not None:
            found = parts.compared(parts.predict_mended(self.mend, self.method))
            told = found.facts() | {"verdict": found.errors}  # the mend has judged by its own rule
        else:
            found = parts.validate(self.method or AMLE(), prior=self.prior, trimmed=self.drop)
            told = found.facts()
        facts: dict[str, Any] = plain(told)
        return facts


def check_direction(directed: bool, method: Method) -> None:
    """Refuse a method that is not defined on a directed graph, before anything is computed."""
    if directed and not method.directed:
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs: use --method amle, "
            "or an undirected graph"
        )


def in_units(graph: Graph, unit: float) -> Graph:
    """Return the graph with its lengths in units of the labels."""
    return graph if unit == 1.0 else replace(graph, lengths=unit * graph.lengths)
