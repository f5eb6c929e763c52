"""The experiments of the study, and the three profiles that say on which cells they run.

An experiment is a module with a ``run``: from a cell to the rows of a table, in long form, counts
rather than rates. *quick* touches every experiment in well under a minute; *paper* is everything
the paper measures, and what lies beyond it, at 16 goals × 32 starts; *full* takes up to 512 goals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias, get_args

from ..._arrays import as_choice, as_whole
from ..cells import PAIRS, SEEDS, Cell, grid
from ..tasks import Experiment, Task
from . import (
    finite_p,
    iteration_audit,
    mechanism,
    noise,
    ordering,
    rollout,
    solver_audit,
    sparse,
    ties,
    witnesses,
)

__all__ = ["EXPERIMENTS", "Profile", "profile"]

Profile = Literal["quick", "paper", "full"]

_ALL = (
    Experiment("rollout", "Main rollouts", 1, rollout.run, weight=1.0),
    Experiment("ordering", "Ordering audit", 1, ordering.run, weight=1.0),
    Experiment("mechanism", "Mechanism audit", 1, mechanism.run, weight=1.0),
    Experiment("finite_p", "The family from p = 2 to ∞", 1, finite_p.run, weight=18.0),
    Experiment("iteration_audit", "Midrange sweeps", 1, iteration_audit.run, weight=5.0),
    Experiment("solver_audit", "Finite-p solvers", 1, solver_audit.run, weight=320.0),
    Experiment("lbfgs_budget", "L-BFGS-B, 700 steps", 1, solver_audit.run_budget, weight=50.0),
    Experiment("witnesses", "Small graphs", 1, witnesses.run, weight=3500.0, on_mazes=False),
    Experiment("sparse", "Down to two labels", 1, sparse.run, weight=28.0),
    Experiment("held_out", "Held-out mazes", 1, rollout.run, weight=1.5),
    Experiment("noise", "Noisy labels", 1, noise.run, weight=34.0),
    Experiment("ties", "Ties and rules", 1, ties.run, weight=1.3),
    Experiment("resolution", "Finer graphs", 1, rollout.run_ends, weight=0.3),
)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}

HELD_OUT = ("umaze", "umaze-eval", "medium-eval", "large-eval", "giant")
AUDIT_SEEDS = SEEDS[:3]
"""Of the paper's two audits on 24 cells, and of everything beyond the paper."""

Cells: TypeAlias = dict[str, list[Cell]]


def profile(name: Profile, goals: int | None = None) -> list[Task]:
    """List the tasks of a profile, experiment by experiment.

    Parameters
    ----------
    name : {"quick", "paper", "full"}
        Which.
    goals : int, optional
        Goals per cell; 4, 16 and 512 by default. Audits of slow solvers take fewer.

    Examples
    --------
    >>> tasks = profile("paper")
    >>> sum(task.experiment == "rollout" for task in tasks)
    120
    """
    as_choice(name, "profile", get_args(Profile))
    cells, usual = _PROFILES[name]
    goals = usual if goals is None else as_whole(goals, "goals", least=1, most=PAIRS)
    return [Task(experiment, cell) for experiment, some in cells(goals).items() for cell in some]


def _quick(goals: int) -> Cells:
    small = grid(refinements=(4,), label_fractions=(0.02, 0.12), seeds=SEEDS[:2], goals=goals)
    few = grid(("medium",), (4,), (0.02, 0.08), SEEDS[:1], goals)
    one = few[1:]
    return {
        "rollout": small,
        "ordering": small,
        "mechanism": small,
        "finite_p": few,
        "iteration_audit": few,
        "solver_audit": grid(("medium",), (3,), (0.08,), SEEDS[:1], goals=1),
        "lbfgs_budget": grid(("medium",), (3,), (0.02, 0.08), SEEDS[:1], goals=1),
        "witnesses": [witnesses.special_cell(name) for name in ("seven-node", "lattice-4x4")],
        "sparse": one,
        "held_out": grid(HELD_OUT, (3,), (0.05,), SEEDS[:1], goals),
        "noise": one,
        "ties": one,
        "resolution": grid(("medium",), (16,), (0.05,), SEEDS[:1], goals),
    }


def _paper(goals: int) -> Cells:
    return _study(goals, audited=1, swept=min(goals, 4), beyond=goals)


def _full(goals: int) -> Cells:
    return _study(goals, audited=min(goals, 16), swept=min(goals, 16), beyond=min(goals, 64))


def _study(goals: int, *, audited: int, swept: int, beyond: int) -> Cells:
    """Everything; slow solvers, and what is not the paper's, have numbers of goals of their own."""
    main = grid(goals=goals)
    few = partial(grid, refinements=(8, 12), label_fractions=(0.02, 0.08), seeds=AUDIT_SEEDS)
    ours = partial(grid, seeds=AUDIT_SEEDS, goals=beyond)
    small_graphs = (witnesses.SEVEN_NODE, *witnesses.LATTICES)
    return {
        "rollout": main,
        "ordering": main,
        "mechanism": main,
        "finite_p": main,
        "iteration_audit": few(goals=goals),
        "solver_audit": few(goals=audited),
        "lbfgs_budget": grid(goals=swept),
        "witnesses": [witnesses.special_cell(name) for name in small_graphs],
        "sparse": ours(label_fractions=(0.05,)),
        "held_out": ours(HELD_OUT, label_fractions=(0.02, 0.05, 0.12)),
        "noise": ours(refinements=(8,), label_fractions=(0.02, 0.05, 0.12)),
        "ties": grid(goals=beyond),
        "resolution": ours(refinements=(16, 20, 24), label_fractions=(0.02, 0.08)),
    }


_PROFILES: dict[Profile, tuple[Callable[[int], Cells], int]] = {
    "quick": (_quick, 4),
    "paper": (_paper, 16),
    "full": (_full, PAIRS),
}
