"""Our figure for each of the paper's, from the rows of the experiments.

`measures` maps the ids of `study.paper` to a `Measure`: the figure at the paper's own budget and,
where a solver has a say in it, the figure with the solver doubt removed. A figure is taken only if
every cell it covers in the paper is there: its mazes, by name, at its resolutions, label fractions
and seeds. Other cells never count.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from ..paper import FIGURES
from ._audits import audit_measures
from ._base import AUDIT_SEEDS, AUDITED, GRID, Measure, Tables, papers_rows
from ._rollouts import rollout_measures
from ._small import small_graph_measures
from ._solvers import solver_measures

__all__ = ["AUDITED", "AUDIT_SEEDS", "GRID", "Measure", "measures", "papers_rows"]


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure every figure of the paper that the rows allow.

    Parameters
    ----------
    tables : mapping of str to Rows
        Rows by the name of their experiment; any may be missing.

    Examples
    --------
    >>> found = measures({})
    >>> found["main/amle/success"].value is None, found["main/amle/success"].note
    (True, 'the experiment was not run')
    >>> found["setup/large/r4/rows/value"].value is None
    True
    """
    found: dict[str, Measure] = {}
    for take in (rollout_measures, audit_measures, solver_measures, small_graph_measures):
        found |= take(tables)
    return {name: _whole(found[name]) for name in FIGURES}


def _whole(measure: Measure) -> Measure:
    """Leave out rates that have nothing to be a rate of."""
    if measure.value is not None and not isfinite(measure.value):
        return Measure(None, note="there is nothing to take a rate of")
    if measure.exact is not None and not isfinite(measure.exact):
        return replace(measure, exact=None)
    return measure
