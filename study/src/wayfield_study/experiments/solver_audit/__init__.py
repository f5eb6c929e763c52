"""The finite-p solvers of the paper beside the certified one: what they claim, and the truth.

One row for every p and solver, over the goals of the cell: how many solves call themselves
converged, the largest residuals, the largest error against the certified field, relative to the
range of the labels, and the duality gap of the first goal's field. A cell counts as converged if
all of its solves do.

L-BFGS-B also stops when a step lowers the energy by less than a share of 1e-12. The paper does not
say where its own gave up; with this share it stops about as often, and with about the gradients and
residuals that the paper prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

from wayfield.extension import Extension, PLaplacian, Status
from wayfield.graph import Graph
from wayfield.labels import Labels

from ...engine import Experiment, Measure, Profile, Records, Row, Tables, mean_of, sd_of
from ...paper.grid import AUDIT_SEEDS, AUDITED, CONFIGURATION, SEEDS, covered, ids
from ...report import Section, Table, power
from .._mazes import MazeCell, grid, per_vertex, read_grid
from .._trial import Trial
from .solvers import Audit, Energy, lbfgs, newton_cg, relaxed_picard

__all__ = ["EXPERIMENT", "POWERS", "TITLES", "Solver", "audited", "converged_cells"]

POWERS = (4.0, 8.0, 16.0)
Solver: TypeAlias = Callable[[Graph, Labels, float], Audit]
AUDITED_SOLVERS: dict[str, Solver] = {
    "lbfgs": partial(lbfgs, stall=1e-12, memory=10),
    "picard": relaxed_picard,
    "newton": newton_cg,
}
TITLES = {
    "lbfgs": "L-BFGS-B",
    "picard": "fixed point",
    "newton": "Newton-CG",
    "certified": "certified",
}


def run(cell: MazeCell) -> list[Row]:
    """Audit the three solvers with the caps of the paper's audit, and the certified one."""
    return [
        row | {"gap": found[0].gap}  # of one goal: it takes as long as many a solve
        for row, found in audited(Trial(cell), AUDITED_SOLVERS)
    ]


def audited(trial: Trial, solvers: Mapping[str, Solver]) -> Iterator[tuple[Row, list[Audit]]]:
    """Audit some solvers and the certified one: a row for every p and solver, and its audits."""
    graph, labels = trial.drawn.graph, trial.drawn.labels
    for p in POWERS:
        exact = trial.fields(PLaplacian(p))
        audits = {
            name: [solver(graph, known, p) for known in labels] for name, solver in solvers.items()
        }
        audits["certified"] = [
            _certified(graph, known, p, field) for known, field in zip(labels, exact, strict=True)
        ]
        for name, found in audits.items():
            about: Row = {"p": p, "arm": name}
            yield about | _row(trial, found, exact), found


def _certified(graph: Graph, labels: Labels, p: float, field: Extension) -> Audit:
    """Measure the certified field as the others are."""
    converged = field.status is Status.CONVERGED
    return Energy(graph, labels, p).audit(np.array(field.values), converged, field.iterations)


def _row(trial: Trial, found: list[Audit], exact: list[Extension]) -> Row:
    errors = [
        np.abs(audit.values - field.values).max() / span
        for audit, field, span in zip(found, exact, trial.spans, strict=True)
    ]
    return trial.outcomes([audit.values for audit in found]) | {
        "solves": len(found),
        "converged": sum(audit.converged for audit in found),
        "iterations": max(audit.iterations for audit in found),
        "gradient": max(audit.gradient for audit in found),
        "fixed_point": max(audit.fixed_point for audit in found),
        "update": max(audit.update for audit in found),
        "error": float(max(errors)),
        "width": max(field.details["width"] for field in exact),
    }


def cells(profile: Profile) -> list[MazeCell]:
    """One tiny cell, or the paper's 24, with few goals: the solvers are slow."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.08], SEEDS[:1], profile.at_most(quick=1))
    return [
        *_audited_cells(8, profile.at_most(paper=4, full=8)),
        *_audited_cells(12, profile.at_most(paper=2, full=8)),
    ]


def _audited_cells(refinement: int, goals: int) -> list[MazeCell]:
    return grid(
        refinements=[refinement], label_fractions=[0.02, 0.08], seeds=AUDIT_SEEDS, goals=goals
    )


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's solver audit."""
    names = ids("solvers", "solver-gradient")
    return covered(tables.get("solver_audit"), AUDITED, _measures, names, AUDIT_SEEDS)


def _measures(rows: Records) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for p, solver in product(POWERS, AUDITED_SOLVERS):
        place, chosen = f"solvers/p{p:g}/{solver}", rows.where(p=p, arm=solver)
        if not len(chosen):
            continue
        exact = rows.where(p=p, arm="certified").share("reached", "pairs")
        reached, strata = chosen.share("reached", "pairs"), chosen.strata(*CONFIGURATION)
        found |= {
            f"{place}/success": mean_of(reached, exact, strata=strata),
            f"{place}/sd": sd_of(reached, exact),
            f"{place}/converged": Measure(converged_cells(chosen)),
            f"{place}/residual": mean_of(chosen.column("fixed_point")),
        }
    if len(stopped := rows.where(p=16.0, arm="lbfgs")):
        found["solver-gradient/p16/lbfgs"] = mean_of(stopped.column("gradient"))
    return found


def converged_cells(rows: Records) -> float:
    """Count the cells whose solves all call themselves converged."""
    return float((rows.column("converged") == rows.column("solves")).sum())


def tables(rows: Records) -> list[Table]:
    """Tell what each solver claims, and how far it is from the certified field."""
    lines = []
    for (p, arm), chosen in rows.by("p", "arm").items():
        lines.append(
            [
                f"p = {p:g}, {TITLES[str(arm)]}",
                f"{chosen.ratio('reached', 'pairs'):.3f}",
                f"{chosen.total('converged')} of {chosen.total('solves')}",
                power(float(chosen.column("fixed_point").mean())),
                power(float(chosen.column("gap").max())),
                power(float(chosen.column("error").max())),
            ]
        )
    heads = ["solver", "success", "converged, it says", "residual", "largest gap", "largest error"]
    note = (
        "Gap: relative duality gap of the energy. Error: largest distance from the certified "
        "field, relative to the range of the labels."
    )
    return [
        Table(
            "solver-errors", "What the solvers claim, and how far off they are", heads, lines, note
        )
    ]


EXPERIMENT = Experiment(
    "solver_audit",
    "Finite-p solvers",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(320.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "solvers",
            "Finite-p solvers",
            "L-BFGS-B, under-relaxed fixed-point sweeps and Newton-CG with the paper's caps, "
            "beside the certified solver on the same goals.",
            compared={"solvers": (), "solver-gradient": ()},
            tables=tables,
        ),
    ),
)
