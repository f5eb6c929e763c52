"""The contents of the report: which tables, charts and pictures each section has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..study.cells import Cell
from ..study.rollout import PAPER_SWEEPS
from ..study.tables import Rows
from . import beyond
from .charts import Chart, against, family_charts, iteration_charts, mechanism_chart
from .pictures import failure_maps, field_pictures, scale_bar
from .sections import Group, Spec
from .witnesses import fit_drawings, seven_node_drawings, witness_drawings

_MAIN = ("harmonic", "sweeps", "amle")
_PICTURED = 8
"""Resolution that shows well."""
_MOST_GOALS = 16
"""Goals per cell that a picture takes, however many the study has."""


def _slices(rows: Rows) -> list[Chart]:
    return [
        against(rows, "refinement", _MAIN, "Success against resolution", lambda r: f"r = {r}"),
        against(rows, "label_fraction", _MAIN, "Success against labels", lambda lf: f"lf = {lf:g}"),
    ]


def _fields(rows: Rows) -> list[Group]:
    """Show the cell on which stopping early does worst, at a size that can be seen."""
    r = min(rows.values("refinement"), key=lambda size: abs(size - _PICTURED))
    chosen = list(rows.where(arm="sweeps", refinement=r))
    cell = _cell(min(chosen, key=lambda row: row["reached"]))
    about = (
        f"The cell at r = {r} on which stopping early does worst, and the goal (star) of it: "
        f"{cell.maze} maze, lf = {cell.label_fraction:g}, seed {cell.seed}. Rings are labels, "
        "lines are contours, arrows are the greedy plan; starts that never reach are tinted by "
        "the loop (dark dots) they end in."
    )
    return [Group(about, field_pictures(cell), "fields")]


def _maps(rows: Rows) -> list[Group]:
    """Show where starts fail, on every maze at one resolution with the fewest labels."""
    r = min(rows.values("refinement"), key=lambda size: abs(size - _PICTURED))
    lf = min(rows.where(refinement=r).values("label_fraction"))
    groups = []
    for maze, chosen in (
        rows.where(arm="harmonic", refinement=r, label_fraction=lf).by("maze").items()
    ):
        cells = [_cell(row) for row in chosen]
        about = (
            f"Failure map, {maze}, r = {r}, lf = {lf:g}: the share of {len(cells)} × "
            f"{cells[0].goals} goals that each start fails to reach."
        )
        groups.append(Group(about, failure_maps(cells), "maps", scale_bar()))
    return groups


def _cell(row: Mapping[str, Any]) -> Cell:
    names = ("maze", "refinement", "label_fraction", "seed", "goals", "layout")
    cell = Cell(**{name: row[name] for name in names if name in row})
    return replace(cell, goals=min(cell.goals, _MOST_GOALS))


def _small_graphs(rows: Rows) -> list[Chart]:
    return [*seven_node_drawings(), *fit_drawings(), *witness_drawings(rows)]


SPECS = (
    Spec(
        "rollouts",
        "Main rollouts",
        f"Harmonic values, the AMLE stopped after {PAPER_SWEEPS} midrange sweeps (our reading of "
        "the paper's budget) and the exact AMLE, planned on by argmin Q with lowest-index ties. "
        "Figures marked “exact” are those of the exact AMLE.",
        ("rollout",),
        {
            "main": ("success", "sd", "low", "high"),
            "lift": (),
            "wilson": (),
            "by-r": (),
            "by-lf": (),
            "grid-medium": ("harmonic", "amle", "lift"),
            "grid-large": ("harmonic", "amle", "lift"),
            "setup": (),
        },
        charts=_slices,
        plain=beyond.arm_tables,
        pictures=_fields,
        notes=(
            "The run bootstrap resamples whole cells; Wilson's interval takes all rollouts as "
            "independent, which pairs that share labels and goals are not.",
        ),
    ),
    Spec(
        "failures",
        "How plans fail",
        "Every failing walk ends in a loop. The loop either passes through a label or does not; "
        "a field that solves its equation exactly has no strict minimum away from the labels, so "
        "the second kind needs a plateau.",
        ("rollout",),
        {"failures": ("total", "interior", "boundary", "strict_minima")},
        pictures=_maps,
    ),
    Spec(
        "baselines",
        "Reference baselines",
        "The value of the nearest label, and the true cost-to-go, planned on by the same rule.",
        ("rollout",),
        {"baselines": (), "baselines-by-r": ("amle", "nearest", "oracle"), "baseline-gaps": ()},
    ),
    Spec(
        "ordering",
        "Ordering audit",
        "How well a field ranks the neighbours of a state: Kendall's τ-b against the truth, over "
        "all states once (“all”) and over the states that the method's own walks meet "
        "(“rollouts”).",
        ("ordering",),
        {"ordering": ("harmonic", "amle")},
    ),
    Spec(
        "mechanism",
        "Mechanism audit",
        "The decisions of the harmonic walks: which equation the true cost satisfies there, "
        "where harmonic ranks a worse neighbour first, and whether the AMLE puts it right.",
        ("mechanism",),
        {"mechanism": ("rate", "count"), "mechanism-main": (), "mechanism-by-r": ()},
        charts=lambda rows: [mechanism_chart(rows)],
    ),
    Spec(
        "finite-p",
        "From p = 2 to ∞",
        "Success along the p-family. “Ours” is L-BFGS-B stopped after 700 iterations as in the "
        "paper, where that was run; “exact” is the certified p-Laplacian on the same goals. The "
        "chart shows certified fields on all goals.",
        ("finite_p", "lbfgs_budget"),
        {
            "finite-p": (),
            "finite-p-by-r": ("p4", "p8", "p16"),
            "lbfgs": (),
            "p-family": ("low_tau", "best_agree", "mean_gap", "mean_tau"),
            "monotone": (),
        },
        charts=family_charts,
        plain=beyond.family_tables,
        notes=(
            "The paper's ordering along the family is the mean of the two scopes of the ordering "
            "audit; so is ours. In that table, success and loops at p = 4, 8 and 16 are those of "
            "L-BFGS-B, run on fewer goals of each cell where time asks for it; the ordering at "
            "these p is that of certified fields on all goals; at ∞ both are the stopped sweeps, "
            "with the exact AMLE beside them.",
        ),
    ),
    Spec(
        "solvers",
        "Finite-p solvers",
        "L-BFGS-B, under-relaxed fixed-point sweeps and Newton-CG with the paper's caps, beside "
        "the certified solver on the same goals.",
        ("solver_audit",),
        {"solvers": (), "solver-gradient": ()},
        plain=beyond.solver_tables,
    ),
    Spec(
        "iterations",
        "AMLE against the number of sweeps",
        "Midrange sweeps from the harmonic field, looked at whenever a budget is spent; the same "
        "labels and pairs at every budget.",
        ("iteration_audit",),
        {
            "iterations": ("success", "sd", "residual", "residual_max"),
            "iteration-gap": (),
            "stable": (),
        },
        charts=iteration_charts,
    ),
    Spec(
        "witnesses",
        "Small graphs",
        "The seven-node graph on which harmonic turns the wrong way, in exact rationals, its "
        "subdivisions, and a search for graphs on which the AMLE does worse. Values stand in the "
        "vertices; labels have a double ring, the goal is filled, and starts that never reach it "
        "are tinted.",
        ("witnesses",),
        {
            "seven-nodes": (),
            "subdivision": (),
            "search": (),
            "witnesses": ("harmonic", "amle", "failing"),
        },
        plain=beyond.search_tables,
        notes=(
            "The paper prints neither edges nor labels of its witnesses; ours are the first 4 × 4 "
            "graphs that fit all numbers of a line. What becomes of a line when the fields are "
            "solved exactly is said of these graphs, not of the paper's own.",
        ),
        drawings=_small_graphs,
    ),
    Spec(
        "sparse",
        "Beyond the paper: very few labels",
        "Down to two labels, and the goal's. Shown are the numbers of labels that every cell was "
        "tried with.",
        ("sparse",),
        rows=beyond.shared_counts,
        charts=beyond.sparse_charts,
        plain=lambda rows: beyond.sweep_tables(rows, "count", "Success by number of labels"),
    ),
    Spec(
        "noise",
        "Beyond the paper: noisy labels",
        "Normal errors of standard deviation σ, in steps, on every label but the goal's. “False "
        "sinks dropped” leaves out the labels that would trap a walk, and walks by steepest "
        "descent with exit ties.",
        ("noise",),
        charts=beyond.noise_charts,
        plain=lambda rows: beyond.sweep_tables(rows, "sigma", "Success by noise"),
    ),
    Spec(
        "resolution",
        "Beyond the paper: finer graphs",
        "Harmonic and exact AMLE on graphs up to thirty-six times as large as the paper's "
        "coarsest.",
        ("resolution",),
        rows=beyond.all_resolutions,
        charts=beyond.resolution_charts,
        plain=lambda rows: beyond.sweep_tables(rows, "refinement", "Success by resolution"),
    ),
    Spec(
        "held-out",
        "Beyond the paper: mazes it has not seen",
        "The same arms on other public maps.",
        ("held_out",),
        plain=lambda rows: beyond.sweep_tables(rows, "maze", "Success by maze"),
    ),
    Spec(
        "ties",
        "Beyond the paper: ties and rules",
        "Exact AMLE fields under both greedy rules and both tie rules, on the maze (unit "
        "lengths) and on the same maze with random lengths.",
        ("ties",),
        plain=beyond.tie_tables,
    ),
)
