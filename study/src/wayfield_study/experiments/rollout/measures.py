"""The paper's figures of the main rollouts: success, lift, slices, grid, baselines, failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

from wayfield.kernels._types import FloatArray, IntArray
from wayfield.layouts import load_layout

from ...engine import Measure, Records, Tables, mean_of, sd_of
from ...engine.statistics import bootstrap_interval, wilson_interval
from ...paper.grid import (
    CONFIGURATION,
    GRID,
    LABEL_FRACTIONS,
    MAZES,
    REFINEMENTS,
    Configuration,
    covered,
    ids,
)
from .._shown import shares

_WHOLE = ("main", "lift", "wilson", "baselines", "baseline-gaps", "failures")
_SIZES = ("setup/cells/value", "setup/rollouts/value", "setup/pairs_per_cell/value")
METHODS = {"harmonic": ("harmonic", None), "amle": ("sweeps", "amle")}
"""The paper's methods: the arm that stands for its budget, and the arm that is exact."""


def measures(tables: Tables) -> dict[str, Measure]:
    """Take all measures that come from the rollouts."""
    rows = tables.get("rollout")
    found: dict[str, Measure] = {}
    for wanted, figures, names in _requests():
        found |= covered(rows, wanted, figures, names)
    return found


Figures: TypeAlias = Callable[[Records], Mapping[str, Measure]]


def _requests() -> Iterator[tuple[list[Configuration], Figures, list[str]]]:
    """List configurations, what to measure on them, and the ids."""
    yield list(GRID), _aggregates, ids(*_WHOLE) + list(_SIZES)
    for r in REFINEMENTS:
        names = [*ids("by-r", "baselines-by-r", row=f"r{r}")]
        names += [f"baseline-gaps/oracle_over_amle/r{r}/value"]
        wanted = [each for each in GRID if each[1] == r]
        yield wanted, partial(_by_resolution, r), names
    for lf in LABEL_FRACTIONS:
        wanted = [each for each in GRID if each[2] == lf]
        row = f"lf{lf:.2f}"
        yield wanted, partial(_pair, f"by-lf/{row}"), ids("by-lf", row=row)
    for maze, r, lf in GRID:
        place = f"grid-{maze}/r{r}/lf{lf:.2f}"
        names = ids(f"grid-{maze}", row=f"r{r}/lf{lf:.2f}")
        yield [(maze, r, lf)], partial(_grid_row, place), names
    for maze, r in product(MAZES, REFINEMENTS):
        wanted = [each for each in GRID if each[:2] == (maze, r)]
        yield wanted, partial(_map_size, maze, r), list(_map_size(maze, r))


def _strata(rows: Records) -> IntArray:
    """Return the configuration of every cell, in the order of the arms' rows."""
    return rows.where(arm="harmonic").strata(*CONFIGURATION)


def _both(rows: Records, method: str) -> tuple[FloatArray, FloatArray | None]:
    budget, exact = METHODS[method]
    return shares(rows, budget), None if exact is None else shares(rows, exact)


def _pair(place: str, rows: Records) -> dict[str, Measure]:
    """Measure success of both methods and the lift."""
    (harmonic, _), (amle, exact) = _both(rows, "harmonic"), _both(rows, "amle")
    sure = None if exact is None else exact - harmonic
    strata = _strata(rows)
    return {
        f"{place}/harmonic": mean_of(harmonic, strata=strata),
        f"{place}/amle": mean_of(amle, exact, strata=strata),
        f"{place}/lift": mean_of(amle - harmonic, sure, 100, strata),
    }


def _grid_row(place: str, rows: Records) -> dict[str, Measure]:
    found = _pair(place, rows)
    for method in METHODS:
        reached, exact = _both(rows, method)
        sure = None if exact is None else 1 - exact
        found[f"{place}/{method}_loop"] = mean_of(1 - reached, sure, strata=_strata(rows))
    return found


def _aggregates(rows: Records) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    strata = _strata(rows)
    for method in METHODS:
        reached, exact = _both(rows, method)
        sure = None if exact is None else 1 - exact
        found[f"main/{method}/success"] = mean_of(reached, exact, strata=strata)
        found[f"main/{method}/sd"] = sd_of(reached, exact)
        found[f"main/{method}/loop"] = mean_of(1 - reached, sure, 100, strata)
        found |= _interval(f"main/{method}", reached, exact, "")
        found |= _failures(rows, method)
    (harmonic, _), (amle, exact) = _both(rows, "harmonic"), _both(rows, "amle")
    sure = None if exact is None else exact - harmonic
    found["lift/mean/value"] = mean_of(amle - harmonic, sure, 100, strata)
    found["lift/sd/value"] = sd_of(amle - harmonic, sure, scale=100)
    found |= _interval("lift", amle - harmonic, sure, "/value", scale=100)
    return found | _wilson(rows) | _baselines(rows) | _sizes(rows)


def _interval(
    place: str, values: FloatArray, exact: FloatArray | None, ending: str, scale: float = 1.0
) -> dict[str, Measure]:
    ends = bootstrap_interval(values)
    sure = (None, None) if exact is None else bootstrap_interval(exact)
    return {
        f"{place}/{name}{ending}": Measure(scale * end, None if other is None else scale * other)
        for name, end, other in zip(("low", "high"), ends, sure, strict=True)
    }


def _wilson(rows: Records) -> dict[str, Measure]:
    ends = [
        wilson_interval(rows.where(arm=arm).total("reached"), rows.where(arm=arm).total("pairs"))
        for arm in ("sweeps", "amle")
    ]
    return {
        f"wilson/amle/{name}": Measure(ends[0][side], ends[1][side])
        for side, name in enumerate(("low", "high"))
    }


def _baselines(rows: Records) -> dict[str, Measure]:
    nearest, oracle = shares(rows, "nearest"), shares(rows, "oracle")
    amle, exact = shares(rows, "sweeps"), shares(rows, "amle")
    over = mean_of(amle - nearest, exact - nearest, scale=100)
    return {
        "baselines/nearest/success": mean_of(nearest),
        "baselines/nearest/sd": sd_of(nearest),
        "baselines/oracle/success": mean_of(oracle),
        "baseline-gaps/over_nearest/value": over,
        "baseline-gaps/over_nearest_appendix/value": over,
        "baseline-gaps/oracle_over_amle/value": mean_of(oracle - amle, oracle - exact, scale=100),
    }


def _by_resolution(r: int, rows: Records) -> dict[str, Measure]:
    nearest, oracle = shares(rows, "nearest"), shares(rows, "oracle")
    amle, exact = shares(rows, "sweeps"), shares(rows, "amle")
    gap = mean_of(oracle - amle, oracle - exact, scale=100)
    return _pair(f"by-r/r{r}", rows) | {
        f"baselines-by-r/r{r}/amle": mean_of(amle, exact),
        f"baselines-by-r/r{r}/nearest": mean_of(nearest),
        f"baselines-by-r/r{r}/nearest_sd": sd_of(nearest),
        f"baselines-by-r/r{r}/oracle": mean_of(oracle),
        f"baselines-by-r/r{r}/oracle_sd": sd_of(oracle),
        f"baseline-gaps/oracle_over_amle/r{r}/value": gap,
    }


def _failures(rows: Records, method: str) -> dict[str, Measure]:
    """Split the failures by the kind of loop they end in, per cent of all pairs."""
    arms = [rows.where(arm=arm) for arm in METHODS[method] if arm is not None]
    split = []
    for each in arms:
        pairs = each.total("pairs")
        boundary, interior = each.total("boundary"), each.total("interior")
        failing = boundary + interior
        split.append(
            {
                "total": 100 * failing / pairs,
                "interior": 100 * interior / pairs,
                "boundary": 100 * boundary / pairs,
                "boundary_share": 100 * boundary / failing if failing else None,
                "strict_minima": float((each.column("sinks") > 0).sum()),
            }
        )
    exact = split[1] if len(split) > 1 else dict.fromkeys(split[0])
    return {
        f"failures/{method}/{name}": Measure(
            value, exact[name], note="" if value is not None else "no pair fails"
        )
        for name, value in split[0].items()
    }


def _sizes(rows: Records) -> dict[str, Measure]:
    pairs = rows.where(arm="harmonic").column("pairs")
    numbers = (pairs.size, pairs.sum(), np.median(pairs))
    return {name: Measure(float(each)) for name, each in zip(_SIZES, numbers, strict=True)}


def _map_size(maze: str, r: int, _: Records | None = None) -> dict[str, Measure]:
    """Measure a public map at a resolution, walls included."""
    return {
        f"setup/{maze}/r{r}/{name}/value": Measure(float(r * cells))
        for name, cells in zip(("rows", "columns"), load_layout(maze).shape, strict=True)
    }
