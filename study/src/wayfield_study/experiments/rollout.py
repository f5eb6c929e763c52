"""The main experiment: who reaches the goal on which field.

Harmonic, the AMLE at the paper's budget and exactly, with index and with exit ties, the nearest
label, and the true cost-to-go. One row per arm: see `Trial`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from wayfield._text import number_of
from wayfield.kernels._types import FloatArray
from wayfield.layouts import load_layout

from ..engine import Experiment, Measure, Records, Row, Tables, mean_of, sd_of
from ..engine.statistics import bootstrap_interval, wilson_interval
from ..paper.figures import value
from ..paper.grid import (
    CONFIGURATION,
    GRID,
    LABEL_FRACTIONS,
    MAZES,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    REFINEMENTS,
    covered,
    ids,
    on_papers_cells,
)
from ..report import Chart, Finding, Section, Table, against, power
from ._mazes import MazeCell, per_vertex, read_grid
from ._shown import COUNTED, failing, printed_series, shares, success
from ._trial import ARMS, EXACT, HARMONIC, ORACLE, SWEEPS, Trial
from .ordering import cells

MAIN = (HARMONIC, SWEEPS, EXACT)
TITLES = {look.name: look.title for look in (*ARMS, ORACLE)}
METHODS = {"harmonic": ("harmonic", None), "amle": ("sweeps", "amle")}
"""The paper's methods: the arm that stands for its budget, and the arm that is exact."""
_NEAR = {"harmonic": 0.06, "sweeps": 0.03}
"""Mean absolute difference to the paper's grid that counts as reproduced."""
_ARTEFACT = 0.05
"""Share of the failures that may survive an exact solve of what is called an artefact."""


def run(cell: MazeCell) -> list[Row]:
    """All arms of the paper, exact ones beside them, and the references."""
    trial = Trial(cell)
    return [*(trial.row(arm) for arm in ARMS), trial.oracle_row()]


# -------------------------------------------------------------------- the paper's figures


def measures(tables: Tables) -> dict[str, Measure]:
    """Take all measures that come from the rollouts, each over the cells it is printed for."""
    rows = tables.get("rollout")
    sizes = [f"setup/{name}/value" for name in ("cells", "rollouts", "pairs_per_cell")]
    whole = ids("main", "lift", "wilson", "baselines", "baseline-gaps", "failures")
    found = covered(rows, GRID, _aggregates, [*whole, *sizes])
    for r in REFINEMENTS:
        wanted = [each for each in GRID if each[1] == r]
        names = ids("by-r", "baselines-by-r", row=f"r{r}")
        names.append(f"baseline-gaps/oracle_over_amle/r{r}/value")
        found |= covered(rows, wanted, partial(_by_resolution, r), names)
    for lf in LABEL_FRACTIONS:
        wanted, row = [each for each in GRID if each[2] == lf], f"lf{lf:.2f}"
        found |= covered(rows, wanted, partial(_pair, f"by-lf/{row}"), ids("by-lf", row=row))
    for maze, r, lf in GRID:
        table, row = f"grid-{maze}", f"r{r}/lf{lf:.2f}"
        grid_row = partial(_grid_row, f"{table}/{row}")
        found |= covered(rows, [(maze, r, lf)], grid_row, ids(table, row=row))
    for maze, r in product(MAZES, REFINEMENTS):
        # the size of a public map, walls included, is no matter of the rows
        sides = zip(("rows", "columns"), load_layout(maze).shape, strict=True)
        size = {
            f"setup/{maze}/r{r}/{name}/value": Measure(float(r * cells)) for name, cells in sides
        }
        wanted = [each for each in GRID if each[:2] == (maze, r)]
        found |= covered(rows, wanted, lambda _, size=size: size, size)
    return found


def _both(rows: Records, method: str) -> tuple[FloatArray, FloatArray | None]:
    """Return success per cell at the paper's budget, and exactly."""
    budget, exact = METHODS[method]
    return shares(rows, budget), None if exact is None else shares(rows, exact)


def _lost(exact: FloatArray | None) -> FloatArray | None:
    return None if exact is None else 1 - exact


def _pair(place: str, rows: Records) -> dict[str, Measure]:
    """Measure success of both methods and the lift."""
    harmonic, amle, exact = (shares(rows, arm) for arm in ("harmonic", "sweeps", "amle"))
    strata = rows.where(arm="harmonic").strata(*CONFIGURATION)
    return {
        f"{place}/harmonic": mean_of(harmonic, strata=strata),
        f"{place}/amle": mean_of(amle, exact, strata=strata),
        f"{place}/lift": mean_of(amle - harmonic, exact - harmonic, 100, strata),
    }


def _grid_row(place: str, rows: Records) -> dict[str, Measure]:
    found = _pair(place, rows)
    strata = rows.where(arm="harmonic").strata(*CONFIGURATION)
    for method in METHODS:
        reached, exact = _both(rows, method)
        found[f"{place}/{method}_loop"] = mean_of(1 - reached, _lost(exact), strata=strata)
    return found


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


def _aggregates(rows: Records) -> dict[str, Measure]:
    """Measure what the paper prints over all cells together."""
    found: dict[str, Measure] = {}
    strata = rows.where(arm="harmonic").strata(*CONFIGURATION)
    for method in METHODS:
        reached, exact = _both(rows, method)
        found[f"main/{method}/success"] = mean_of(reached, exact, strata=strata)
        found[f"main/{method}/sd"] = sd_of(reached, exact)
        found[f"main/{method}/loop"] = mean_of(1 - reached, _lost(exact), 100, strata)
        found |= _interval("main/" + method + "/{}", reached, exact) | _failures(rows, method)

    # the lift of the AMLE over harmonic
    harmonic, amle, exact = (shares(rows, arm) for arm in ("harmonic", "sweeps", "amle"))
    found["lift/mean/value"] = mean_of(amle - harmonic, exact - harmonic, 100, strata)
    found["lift/sd/value"] = sd_of(amle - harmonic, exact - harmonic, scale=100)
    found |= _interval("lift/{}/value", amle - harmonic, exact - harmonic, scale=100)
    swept, solved = (
        wilson_interval(some.total("reached"), some.total("pairs"))
        for some in (rows.where(arm="sweeps"), rows.where(arm="amle"))
    )
    for side, name in enumerate(("low", "high")):
        found[f"wilson/amle/{name}"] = Measure(swept[side], solved[side])

    # the references, and the size of it all
    nearest, oracle = shares(rows, "nearest"), shares(rows, "oracle")
    over = mean_of(amle - nearest, exact - nearest, scale=100)
    pairs = rows.where(arm="harmonic").column("pairs")
    return found | {
        "baselines/nearest/success": mean_of(nearest),
        "baselines/nearest/sd": sd_of(nearest),
        "baselines/oracle/success": mean_of(oracle),
        "baseline-gaps/over_nearest/value": over,
        "baseline-gaps/over_nearest_appendix/value": over,
        "baseline-gaps/oracle_over_amle/value": mean_of(oracle - amle, oracle - exact, scale=100),
        "setup/cells/value": Measure(float(pairs.size)),
        "setup/rollouts/value": Measure(float(pairs.sum())),
        "setup/pairs_per_cell/value": Measure(float(np.median(pairs))),
    }


def _interval(
    place: str, values: FloatArray, exact: FloatArray | None, scale: float = 1.0
) -> dict[str, Measure]:
    """Measure the ends of the run bootstrap's interval; their ids have the end for ``{}``."""
    ends = bootstrap_interval(values)
    sure = (None, None) if exact is None else bootstrap_interval(exact)
    return {
        place.format(name): Measure(scale * end, None if other is None else scale * other)
        for name, end, other in zip(("low", "high"), ends, sure, strict=True)
    }


def _failures(rows: Records, method: str) -> dict[str, Measure]:
    """Split the failures by the kind of loop they end in, per cent of all pairs."""
    split: list[dict[str, float | None]] = []
    for arm in METHODS[method]:
        if arm is None:
            split.append(dict.fromkeys(split[0]))
            continue
        some = rows.where(arm=arm)
        pairs, boundary, interior = (some.total(n) for n in ("pairs", "boundary", "interior"))
        lost = boundary + interior
        split.append(
            {
                "total": 100 * lost / pairs,
                "interior": 100 * interior / pairs,
                "boundary": 100 * boundary / pairs,
                "boundary_share": 100 * boundary / lost if lost else None,
                "strict_minima": float((some.column("sinks") > 0).sum()),
            }
        )
    budget, exact = split
    return {
        f"failures/{method}/{name}": Measure(
            figure, exact[name], note="" if figure is not None else "no pair fails"
        )
        for name, figure in budget.items()
    }


# -------------------------------------------------------------------- what is shown


def charts(rows: Records) -> list[Chart]:
    """Success against resolution and against labels."""
    by_r, by_lf = (printed_series(rows, column) for column in ("refinement", "label_fraction"))
    return [
        against(rows, "refinement", MAIN, "Success against resolution", lambda r: f"r = {r}", by_r),
        against(
            rows, "label_fraction", MAIN, "Success against labels", lambda lf: f"lf = {lf:g}", by_lf
        ),
    ]


def tables(rows: Records) -> list[Table]:
    """Tabulate success, failing starts and cost of the walks that reach, by arm."""

    def cost(some: Records) -> str:
        least = max(some.column("least_cost_all").sum(), 1e-300)
        return f"{some.column('cost_all').sum() / least:.3f}"

    return [
        Table.of(
            "arms",
            "All methods, all cells at hand",
            "method",
            {TITLES[str(arm)]: some for arm, some in rows.by("arm").items()},
            COUNTED | {"cost of walks that reach": cost},
            "“All starts” takes every start of every field instead of the sampled ones. Success is "
            "the mean over cells, failing starts are counted. Cost is the sum over the walks that "
            "reach, divided by the least possible.",
        )
    ]


# -------------------------------------------------------------------- what is said


def artefact(rows: Records) -> Iterator[Finding]:
    """Report how many failures an exact solve removes."""
    pairs = rows.where(arm="amle").total("pairs")
    budget, exact = failing(rows, "sweeps"), failing(rows, "amle")
    gone = budget > 0 and exact <= _ARTEFACT * budget
    verdict = " The failures are unfinished sweeps, not the AMLE's." if gone else ""
    yield Finding(
        "artefact" if gone else "differs",
        f"The paper: AMLE leaves {value('main/amle/loop'):.1f} % of the starts in loops.",
        f"After {PAPER_SWEEPS} sweeps {budget:,} of {pairs:,} pairs fail here "
        f"({budget / pairs:.1%}); on the same labels solved exactly, with the same planner and "
        f"ties, {exact:,}.{verdict}",
    )


def reach(rows: Records) -> Iterator[Finding]:
    """Check the theorem that every start reaches."""
    starts = rows.where(arm="amle_exit").total("starts_all")
    exits, index = failing(rows, "amle_exit", "_all"), failing(rows, "amle", "_all")
    yield Finding(
        "new" if exits == 0 else "differs",
        "With exact labels, the exact AMLE and ties broken towards an exit, every start reaches.",
        f"A theorem, and checked: {exits:,} of {starts:,} starts fail, over all starts of all "
        f"fields. With lowest-index ties it is {index:,}.",
    )


def lifts(rows: Records) -> Iterator[Finding]:
    """Report where AMLE lifts success over harmonic, and by how much."""
    configurations = rows.by("maze", "refinement", "label_fraction").values()
    lifts = [success(each, "sweeps") - success(each, "harmonic") for each in configurations]
    by_r = {
        r: 100 * (success(each, "amle") - success(each, "harmonic"))
        for r, each in sorted(rows.by("refinement").items())
    }
    positive = sum(lift > 0 for lift in lifts)
    grows = bool((np.diff(list(by_r.values())) > 0).all())
    told = ", ".join(f"{lift:+.1f} points at r = {r}" for r, lift in by_r.items())
    yield Finding(
        "reproduced" if positive == len(lifts) and grows else "differs",
        "The paper: AMLE lifts success over harmonic everywhere, the more the finer the graph.",
        f"After {PAPER_SWEEPS} sweeps the lift is positive in {positive} of {len(lifts)} "
        f"configurations. Solved exactly it is {told}"
        + (", growing with r." if grows and len(by_r) > 1 else "."),
    )


def row_by_row(rows: Records) -> Iterator[Finding]:
    """Compare the paper's large tables with ours."""
    groups = rows.by("maze", "refinement", "label_fraction")
    apart = {
        arm: np.array(
            [
                success(some, arm) - value(f"grid-{maze}/r{r}/lf{lf:.2f}/{method}")
                for (maze, r, lf), some in groups.items()
            ]
        )
        for arm, method in (("harmonic", "harmonic"), ("sweeps", "amle"))
    }
    means = {arm: float(np.abs(some).mean()) for arm, some in apart.items()}
    near = means["harmonic"] <= _NEAR["harmonic"] and means["sweeps"] <= _NEAR["sweeps"]
    higher = [f"{int((some > 0).sum())} ({some.mean():+.3f})" for some in apart.values()]
    yield Finding(
        "reproduced" if near else "differs",
        "The paper's two large tables, row by row.",
        f"Over {number_of(len(groups), 'configurations')} the mean absolute difference to the "
        f"paper is {means['harmonic']:.3f} for harmonic and {means['sweeps']:.3f} for AMLE after "
        f"{PAPER_SWEEPS} sweeps. (Within {_NEAR['harmonic']:g} and {_NEAR['sweeps']:g} counts as "
        f"reproduced.) The differences have a sign: ours is higher in {higher[0]} of them for "
        f"harmonic and in {higher[1]} for AMLE.".replace("-", "−"),
    )


def brackets(rows: Records) -> Iterator[Finding]:
    """Report the widest proved bracket."""
    amle, harmonic = (
        float(rows.where(arm=arm).column("width").max()) for arm in ("amle", "harmonic")
    )
    yield Finding(
        "new",
        "How far can the fields themselves be trusted?",
        "Every exact field comes with a proved bracket. The widest, over all cells and goals, is "
        f"{power(amle)} of the label range for AMLE and {power(harmonic)} for harmonic.",
    )


EXPERIMENT = Experiment(
    "rollout",
    "Main rollouts",
    version=2,
    run=run,
    cells=cells,
    effort=per_vertex(1.0),
    read_grid=read_grid,
    measures=measures,
    sections=(
        Section(
            "rollouts",
            "Main rollouts",
            f"Harmonic values, the AMLE stopped after {PAPER_SWEEPS} midrange sweeps, relaxed by "
            f"{PAPER_RELAXATION:g} (our reading), and the exact AMLE, planned on by argmin Q with "
            "lowest-index ties. Figures marked “exact” are those of the exact AMLE.",
            compared={
                "main": ("success", "sd", "low", "high"),
                "lift": (),
                "wilson": (),
                "by-r": (),
                "by-lf": (),
                "grid-medium": ("harmonic", "amle", "lift"),
                "grid-large": ("harmonic", "amle", "lift"),
                "setup": (),
            },
            charts=charts,
            tables=tables,
            findings=on_papers_cells([artefact, reach, lifts, row_by_row, brackets], [row_by_row]),
            notes=(
                "The run bootstrap resamples whole cells; Wilson's interval takes all rollouts as "
                "independent, which pairs that share labels and goals are not.",
            ),
        ),
        Section(
            "failures",
            "How plans fail",
            "Every failing walk ends in a loop. The loop either passes through a label or does "
            "not; a field that solves its equation exactly has no strict minimum away from the "
            "labels, so the second kind needs a plateau. Strict minima are counted at any vertex "
            "but the goal, labels included, in the field of each cell's first goal.",
            compared={"failures": ("total", "interior", "boundary", "strict_minima")},
        ),
        Section(
            "baselines",
            "Reference baselines",
            "The value of the nearest label, and the true cost-to-go, planned on by the same rule.",
            compared={
                "baselines": (),
                "baselines-by-r": ("amle", "nearest", "oracle"),
                "baseline-gaps": (),
            },
        ),
    ),
)
