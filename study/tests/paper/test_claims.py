"""The paper's figures as data: whole, and consistent with each other as far as the paper is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from wayfield import InputError
from wayfield_study.engine import Measure, Row, as_records
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import STUDIES, rollout, small_graphs
from wayfield_study.experiments.small_graphs import FITS, FittingGraph
from wayfield_study.experiments.witnesses import SEVEN_NODES, GraphCell, run
from wayfield_study.paper import rules
from wayfield_study.paper.figures import FIGURES, TABLES, Figure, read_tables, same_as, value
from wayfield_study.paper.grid import papers_budget
from wayfield_study.paper.measures import measures as measures_of

R, LF = (4, 8, 12), ("0.02", "0.05", "0.08", "0.12")
MAZES = ("medium", "large")
CONFIGURATIONS = [f"grid-{maze}/r{r}/lf{lf}" for maze in MAZES for r in R for lf in LF]
FAMILY = ("2", "4", "8", "16", "inf")


def test_tables_are_whole() -> None:
    assert sum(len(table.figures) for table in TABLES.values()) == len(FIGURES)  # ids are unique
    counts = {name: len(table.figures) for name, table in TABLES.items()}
    assert sum(counts.values()) == len(FIGURES) == 509
    assert counts.items() >= {
        "grid-medium": 60, "grid-large": 60, "ordering": 30, "subdivision": 25, "iterations": 35,
        "finite-p-by-r": 24, "solvers": 36, "mechanism": 21, "mechanism-by-r": 12, "p-family": 30,
        "witnesses": 30, "main": 10, "witness-failures": 5, "sentences": 11,
    }.items()  # fmt: skip
    for name, printed in {
        "iterations/sweeps5000/residual": 9.2e-5,
        "solvers/p16/newton/residual": 1.646,
        "mechanism/both_compatible/count": 1_079_361,
        "seven-nodes/harmonic(3)/value": 39 / 29,
        "ordering/all/tau_lt_05_rate/delta": -0.0239,
        "witness-failures/witness3/failing": 2**1 + 2**5,
    }.items():
        assert value(name) == printed
    with pytest.raises(InputError, match=r"'4 0.02 \| 0.85' does not have 1 keys and 1 columns"):
        read_tables("[t] title @ place\nr | success:share\n4 0.02 | 0.85\n")


# ------------------------------------------------------- the paper agrees with itself …


def mean(names: Iterable[str]) -> float:
    return float(np.mean([value(name) for name in names]))


def restated() -> Iterator[tuple[str, float, float]]:
    """Figures that follow from others: id, value, and roundings of their parts."""
    for place in CONFIGURATIONS:
        yield f"{place}/lift", 100 * (value(f"{place}/amle") - value(f"{place}/harmonic")), 1.01
        for method in METHODS:
            yield f"{place}/{method}_loop", 1 - value(f"{place}/{method}"), 1.0
    for r, column in product(R, ("harmonic", "amle", "lift")):
        rows = [f"grid-{maze}/r{r}/lf{lf}/{column}" for maze in MAZES for lf in LF]
        yield f"by-r/r{r}/{column}", mean(rows), 1.0
    for lf in LF:
        rows = [f"grid-{maze}/r{r}/lf{lf}" for maze in MAZES for r in R]
        yield f"by-lf/lf{lf}/lift", mean(f"{row}/lift" for row in rows), 1.0
        for method in METHODS:
            yield f"by-lf-means/lf{lf}/{method}", mean(f"{row}/{method}" for row in rows), 0.5
    for method in METHODS:
        yield f"main/{method}/success", mean(f"{place}/{method}" for place in CONFIGURATIONS), 1.0
        yield f"main/{method}/loop", 100 * (1 - value(f"main/{method}/success")), 1.0
        for scope in ("all", "eval_rollouts"):
            wrong = 1 - value(f"ordering/{scope}/best_agree_rate/{method}")
            yield f"ordering/{scope}/positive_gap_rate/{method}", wrong, 1.0
        parts = (value(f"failures/{method}/{kind}") for kind in ("interior", "boundary"))
        yield f"failures/{method}/total", sum(parts), 1.0
    lift = value("main/amle/success") - value("main/harmonic/success")
    yield "lift/mean/value", 100 * lift, 1.0
    for row in {figure.row for figure in TABLES["ordering"].figures}:
        delta = value(f"ordering/{row}/amle") - value(f"ordering/{row}/harmonic")
        yield f"ordering/{row}/delta", delta, 1.0
    for p in FAMILY:
        yield f"p-family/p{p}/success", value(f"finite-p/p{p}/success"), 0.0
        yield f"p-family/p{p}/loop", 1 - value(f"p-family/p{p}/success"), 1.0
        yield f"finite-p/p{p}/success", mean(f"finite-p-by-r/r{r}/p{p}" for r in R), 1.0
    for (column, metric), (p, method) in product(
        SCOPED.items(), (("2", "harmonic"), ("inf", "amle"))
    ):
        scopes = [f"ordering/{scope}/{metric}/{method}" for scope in ("all", "eval_rollouts")]
        yield f"p-family/p{p}/{column}", mean(scopes), 1.0  # the mean of the two scopes
    for (row,) in TABLES["mechanism"].rows:
        rate = 100 * value(f"mechanism/{row}/count") / value(f"mechanism/{row}/of")
        yield f"mechanism/{row}/rate", rate, 0.5
    for (row,) in TABLES["mechanism-main"].rows:
        yield f"mechanism-main/{row}/rate", value(f"mechanism/{row}/rate"), 0.0
    classes = ("both_compatible", "primary_geometry", "both_incompatible")
    counted = sum(value(f"mechanism/{row}/count") for row in classes)
    yield "mechanism/both_compatible/of", counted, 0.0
    for (row,) in TABLES["iterations"].rows:
        loops = 1 - value(f"iterations/sweeps{row}/success")
        yield f"iterations/sweeps{row}/loop", loops, 1.0
    seven = {name: value(f"seven-nodes/{name}/value") for name in SEVEN}
    margin = seven["harmonic(3)"] - seven["harmonic(1)"]
    yield "subdivision/k1/harmonic_margin", margin, 0.5
    yield "subdivision/k1/amle_margin", seven["amle(1)"] - seven["amle(3)"], 0.5
    for row in range(1, 6):  # the caption says "non-boundary"; only all vertices but the goal fit
        failing, starts = (
            value(f"witnesses/witness{row}/{each}") for each in ("failing", "vertices")
        )
        yield f"witnesses/witness{row}/amle", 1 - failing / (starts - 1), 0.5


SCOPED = {
    "low_tau": "tau_lt_05_rate",
    "best_agree": "best_agree_rate",
    "mean_gap": "mean_beta_true_gap",
    "mean_tau": "tau_mean",
}
SEVEN = ("harmonic(1)", "harmonic(3)", "amle(1)", "amle(3)")
METHODS = ("harmonic", "amle")


def test_the_paper_agrees_with_itself() -> None:
    found = list(restated())
    assert len(found) == 164
    for name, figure, roundings in found:
        assert abs(figure - value(name)) <= roundings * FIGURES[name].unit + 1e-12, name
    rows = [row for (row,) in TABLES["iterations"].rows]  # more sweeps never hurt
    success = [value(f"iterations/sweeps{row}/success") for row in rows]
    residual = [value(f"iterations/sweeps{row}/residual") for row in rows]
    assert all(a <= b for a, b in pairwise(success))
    assert all(a > b for a, b in pairwise(residual))


# ------------------------------------------------------- … and where it does not


def test_where_the_paper_disagrees_with_itself() -> None:
    leads = [value(f"baseline-gaps/over_nearest{each}/value") for each in ("", "_appendix")]
    assert leads == [93.8, 93.9]
    perfect = [value(f"witnesses/witness{row}/harmonic") == 1.0 for row in range(1, 6)]
    assert perfect == [True, False, True, True, False]  # announced for all five
    share = 100 * value("failures/harmonic/boundary") / value("failures/harmonic/total")
    assert share == pytest.approx(96.15, abs=0.01)
    assert value("failures/harmonic/boundary_share") == 96.1
    starts = value("witnesses/witness1/vertices") - value("witnesses/witness1/labels")
    assert round(1 - value("witnesses/witness1/failing") / starts, 3) == 0.75
    assert value("witnesses/witness1/amle") == 0.833
    # the main grid does not fit the budget that the paper names
    rows = product(MAZES, (8, 12), ("0.02", "0.08"))
    audited = mean(f"grid-{maze}/r{r}/lf{lf}/amle" for maze, r, lf in rows)
    after = [value(f"iterations/sweeps{budget}/success") for budget in (200, 500)]
    assert after[0] < audited < after[1]
    assert 250 < papers_budget() < 350


# ------------------------------------------------------- from rows back to the figures


def cells(configurations: Iterable[tuple[str, int, str]], seeds: int) -> list[Row]:
    return [
        {
            "maze": maze,
            "refinement": r,
            "label_fraction": float(lf),
            "seed": 54 + seed,
            "goals": 16,
        }
        for maze, r, lf in configurations
        for seed in range(seeds)
    ]


GRID = list(product(MAZES, R, LF))
AUDITED = list(product(MAZES, (8, 12), ("0.02", "0.08")))


def outcome(arm: str, success: float) -> Row:
    """Rows of the study count; a thousand pairs hold the paper's three decimals."""
    reached = round(1000 * success)
    counts: Row = {"arm": arm, "pairs": 1000, "reached": reached, "boundary": 1000 - reached}
    counts |= {"starts_all": 1000, "reached_all": reached, "cost_all": 1.0, "least_cost_all": 1.0}
    return counts | {"interior": 0, "sinks": 0, "width": 1e-16, "residual": 0.0}


def rollout_rows() -> list[Row]:
    rows = []
    for cell in cells(GRID, seeds=5):
        maze, r, lf = cell["maze"], cell["refinement"], cell["label_fraction"]
        place = f"grid-{maze}/r{r}/lf{lf:.2f}"
        shares = {
            "harmonic": value(f"{place}/harmonic"),
            "sweeps": value(f"{place}/amle"),
            "amle": 1.0,
            "amle_exit": 1.0,
            "nearest": value(f"baselines-by-r/r{r}/nearest"),
            "oracle": 1.0,
        }
        rows += [cell | outcome(arm, share) for arm, share in shares.items()]
    return rows


def scope(place: dict[str, float], prefix: str = "") -> Row:
    counts = {
        "decisions": 10_000,
        "ranked": 10_000,
        "low_tau": round(10_000 * place["low_tau"]),
        "agreed": round(10_000 * place["agree"]),
        "tau_sum": 10_000 * place["tau"],
        "regret_sum": 10_000 * place["gap"],
    }
    return {prefix + name: number for name, number in counts.items()}


def ordering_rows() -> list[Row]:
    rows = []
    for cell in cells(GRID, seeds=5):
        for name in ("all", "eval_rollouts"):
            for arm, method in (("harmonic", "harmonic"), ("sweeps", "amle"), ("amle", "amle")):
                place = {
                    short: value(f"ordering/{name}/{metric}/{method}")
                    for short, metric in (
                        ("low_tau", "tau_lt_05_rate"),
                        ("agree", "best_agree_rate"),
                        ("tau", "tau_mean"),
                        ("gap", "mean_beta_true_gap"),
                    )
                }
                rows.append(cell | {"arm": arm, "scope": name} | scope(place))
    return rows


def mechanism_rows() -> list[Row]:
    """Every cell has the paper's aggregate counts, so that rates are the paper's."""
    lines = {
        "decisions": "both_compatible/of",
        "scope_both": "both_compatible/count",
        "scope_primary": "primary_geometry/count",
        "scope_neither": "both_incompatible/count",
        "untied": "inversions/of",
        "inversions": "inversions/count",
        "inversions_scope_primary": "inversions_in_primary/count",
        "corrected": "corrected/count",
        "certified": "certified/count",
    }
    counts: Row = {name: int(value(f"mechanism/{line}")) for name, line in lines.items()}
    return [cell | {"arm": arm} | counts for cell in cells(GRID, 5) for arm in ("sweeps", "amle")]


def finite_p_rows(seeds: int = 5) -> list[Row]:
    rows = []
    for cell in cells(GRID, seeds):
        r = cell["refinement"]
        members = [(float(p), f"p{p}") for p in (4, 8, 16)]
        members = [(2.0, "harmonic"), *members, (np.inf, "sweeps"), (np.inf, "amle")]
        for p, arm in members:
            share = value(f"finite-p-by-r/r{r}/p{p:g}")
            rows.append(cell | {"p": p} | outcome(arm, share) | family_scopes(p))
    return rows


def family_scopes(p: float) -> Row:
    place = {
        short: value(f"p-family/p{p:g}/{column}")
        for short, column in (
            ("low_tau", "low_tau"),
            ("agree", "best_agree"),
            ("tau", "mean_tau"),
            ("gap", "mean_gap"),
        )
    }
    return scope(place, "all_") | scope(place, "eval_")


def solver_row(arm: str, p: int, success: float, converged: bool, **sizes: float) -> Row:
    about: Row = {"p": float(p), "solves": 1, "converged": int(converged), "gap": 0.1, "error": 0.1}
    return about | outcome(arm, success) | sizes


def lbfgs_rows() -> list[Row]:
    rows = []
    for number, cell in enumerate(cells(GRID, seeds=5)):
        for p in (4, 8, 16):
            place = f"lbfgs/p{p}"
            success = value(f"finite-p-by-r/r{cell['refinement']}/p{p}")
            mean, most = value(f"{place}/residual"), value(f"{place}/residual_max")
            size = {0: most, 1: 2 * mean - most}.get(number, mean)
            sizes = {"gradient": value(f"{place}/gradient"), "fixed_point": size}
            done = number < value(f"{place}/converged")
            stopped = solver_row("lbfgs700", p, success, done, **sizes)
            exact = solver_row("certified", p, 0.99, True, gradient=0.0, fixed_point=0.0)
            rows += [cell | each | family_scopes(p) for each in (stopped, exact)]
    return rows


def solver_audit_rows() -> list[Row]:
    rows = []
    for number, cell in enumerate(cells(AUDITED, seeds=3)):
        for p in (4, 8, 16):
            for solver in ("lbfgs", "picard", "newton"):
                place = f"solvers/p{p}/{solver}"
                sizes = {"fixed_point": value(f"{place}/residual"), "gradient": 5e-4}
                done = number < value(f"{place}/converged")
                row = solver_row(solver, p, value(f"{place}/success"), done, **sizes)
                rows.append(cell | row)
            exact = solver_row("certified", p, 1.0, True, fixed_point=0.0, gradient=0.0)
            rows.append(cell | exact)
    return rows


def iteration_rows() -> list[Row]:
    rows = []
    for number, cell in enumerate(cells(AUDITED, seeds=3)):
        rows.append(cell | {"sweeps": 0} | outcome("harmonic", 0.399))
        for (budget,) in TABLES["iterations"].rows:
            place = f"iterations/sweeps{budget}"
            mean, most = value(f"{place}/residual"), value(f"{place}/residual_max")
            size = {0: most, 1: 2 * mean - most}.get(number, mean)
            row = outcome("sweeps", value(f"{place}/success")) | {"residual": size}
            rows.append(cell | {"sweeps": int(budget)} | row)
        rows.append(cell | {"sweeps": 0} | outcome("amle", 1.0))
    return rows


def small_graph_rows() -> list[Row]:
    return as_table(SEVEN_NODES, run(SEVEN_NODES))


def drawn_rows() -> list[Row]:
    cells = [GraphCell(f"witness-{number}") for number in FITS]
    return [row for cell in cells for row in as_table(cell, small_graphs.run(cell))]


ROWS: dict[str, Callable[[], list[Row]]] = {
    "rollout": rollout_rows,
    "ordering": ordering_rows,
    "mechanism": mechanism_rows,
    "finite_p": finite_p_rows,
    "lbfgs_budget": lbfgs_rows,
    "solver_audit": solver_audit_rows,
    "iteration_audit": iteration_rows,
    "witnesses": small_graph_rows,
    "small_graphs": drawn_rows,
}
NOT_FROM_THE_ROWS = (  # what rows made from means cannot hold
    "setup/*",
    "*sd*",
    "main/*/low",
    "main/*/high",
    "lift/[lh]*",
    "wilson/*",
    "failures/*interior",
    "failures/*boundary*",
    "failures/*minima",
    "mechanism-by-r/*",
    "mechanism/*/count",
    "mechanism/*/of",
    "monotone/*",
    "stable/*",
    "search/*",
    "sentences/amle_*",
    "witness*",  # chosen to fit, so not measured but where an exact solve changes them
    "baseline-gaps/over_nearest_appendix/value",  # the paper has two
)


def measures(tables: Mapping[str, Iterable[Row]]) -> dict[str, Measure]:
    """What the experiments of the paper's study measure on some rows."""
    return measures_of(STUDIES["all"].experiments, as_records(tables))


@pytest.fixture(scope="module")
def printed() -> dict[str, Measure]:
    return measures({name: make() for name, make in ROWS.items()})


def test_every_figure_has_a_measure(printed: dict[str, Measure]) -> None:
    assert printed.keys() == FIGURES.keys()


def test_rows_made_from_the_papers_figures_give_them_back(printed: dict[str, Measure]) -> None:
    wrong = {}
    for name, figure in FIGURES.items():
        if any(fnmatchcase(name, pattern) for pattern in NOT_FROM_THE_ROWS):
            continue
        ours = printed[name].value
        if ours is None or abs(ours - figure.value) > 1.01 * figure.unit + 1e-9:
            wrong[name] = (figure.printed, printed[name])
    assert wrong == {}


def test_what_a_graph_was_chosen_for_is_not_measured(printed: dict[str, Measure]) -> None:
    lines = {name: each for name, each in printed.items() if name.startswith("witnesses/")}
    measured = {name for name, each in lines.items() if each.value is not None}
    assert 0 < len(measured) < len(lines)
    assert all(lines[name].exact != lines[name].value for name in measured)
    assert all("chosen to fit" in lines[name].note for name in lines.keys() - measured)


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("main/amle/success", 1.0),
        ("main/amle/loop", 0.0),
        ("by-r/r8/lift", 46.625),
        ("finite-p/pinf/success", 1.0),
        ("finite-p/p16/success", 0.99),  # of the same goals, not of finite_p
        ("solvers/p16/newton/success", 1.0),
        ("ordering/all/tau_mean/amle", 0.8029),
        ("main/harmonic/success", None),
        ("iterations/sweeps200/success", None),
    ],
)
def test_exact_figures_stand_beside(
    printed: dict[str, Measure], name: str, exact: float | None
) -> None:
    assert printed[name].exact == (None if exact is None else pytest.approx(exact, abs=1e-3))


def test_monotone_counts() -> None:
    """Success .5 .6 .7 .8, then .9 in the first 30 cells and .75 in the other 90."""
    rows = []
    for number, row in enumerate(finite_p_rows()):
        cell, member = divmod(number, 6)
        share = (0.5, 0.6, 0.7, 0.8, 0.9 if cell < 30 else 0.75, 1.0)[member]
        rows.append(row | {"reached": round(1000 * share)})
    found = measures({"finite_p": rows})
    assert found["monotone/success_monotone/count"] == Measure(30.0, 120.0)
    assert found["monotone/p16_between/count"] == Measure(30.0, 120.0)


def monotone(stopped: list[Row]) -> Measure:
    rows = [row | {"reached": round(100 * min(row["p"], 9.0))} for row in finite_p_rows()]
    found = measures({"finite_p": rows, "lbfgs_budget": stopped})
    return found["monotone/success_monotone/count"]


def test_monotone_counts_are_those_of_the_stopped_fields() -> None:
    """L-BFGS-B falls from p = 4 to 8 in the first 40 cells; certified fields rise everywhere."""
    falling = [
        row | {"reached": 100 if row["p"] == 8 and number < 240 else round(50 * row["p"])}
        for number, row in enumerate(lbfgs_rows())
    ]
    assert monotone(falling) == Measure(80.0, 120.0)
    elsewhere = [row | {"goals": 4} for row in falling]
    assert monotone(elsewhere) == Measure(120.0, 120.0)  # other goals are not compared


def test_without_the_stopped_solver_the_certified_fields_stand_alone() -> None:
    found = measures({"finite_p": finite_p_rows()})
    assert found["finite-p/p16/success"].value == found["finite-p/p16/success"].exact
    assert found["finite-p/p16/success"].value == pytest.approx(0.982, abs=1e-3)


def test_sentences_can_fail() -> None:
    """A failure that is no loop, and loops without a label under one method alone."""
    rows = rollout_rows()
    first = next(row for row in rows if row["arm"] == "sweeps" and row["boundary"])
    first["boundary"] -= 1
    for row in rows:
        if row["arm"] == "harmonic":
            row |= {"boundary": row["boundary"] - 10, "interior": 10, "sinks": 1}
    found = measures({"rollout": rows})
    said = {name: found[f"sentences/{name}/value"].value for name in rollout.SENTENCES}
    assert said == dict.fromkeys(rollout.SENTENCES, 1.0) | {"equal_loop_counts": 119.0}
    for row in rows:  # now under AMLE alone
        interior = 10 if row["arm"] == "sweeps" else 0
        row |= {"interior": interior, "boundary": row["pairs"] - row["reached"] - interior}
        row |= {"sinks": interior}
    found = measures({"rollout": rows})
    assert found["sentences/amle_interior_rarer/value"].value == 0.0
    assert found["sentences/amle_fewer_minima/value"].value == 0.0
    assert found["sentences/equal_loop_counts/value"].value == 120.0


def test_rates_of_nothing_are_no_measure() -> None:
    none = {"inversions": 0, "inversions_scope_primary": 0, "corrected": 0, "certified": 0}
    found = measures({"mechanism": [row | none for row in mechanism_rows()]})
    assert found["mechanism-by-r/r8/corrected"].value is None
    assert "nothing to take a rate of" in found["mechanism-main/certified/rate"].note
    assert found["mechanism-main/inversions/rate"].value == 0.0


def test_cells_that_are_not_all_of_the_papers_are_no_measure() -> None:
    """Too few of its own; other seeds, or a maze of one's own whatever its name, do not count."""
    found = measures({"rollout": [row for row in rollout_rows() if row["refinement"] != 12]})
    note = "80 of the paper's 120 cells were run"
    assert found["main/amle/success"] == Measure(None, note=note)
    assert found["by-r/r12/amle"].note == "0 of the paper's 40 cells were run"
    assert found["by-r/r8/amle"].note == ""
    assert found["by-r/r8/amle"].value == pytest.approx(0.971, abs=1e-3)
    assert found["setup/large/r8/rows/value"].value == 72.0
    assert found["setup/large/r12/rows/value"].value is None
    found = measures({"rollout": [row for row in rollout_rows() if row["seed"] != 58]})
    assert found["main/amle/success"].note == "96 of the paper's 120 cells were run"
    assert found["grid-large/r8/lf0.02/amle"].note == "4 of the paper's 5 cells were run"
    own = [row | {"maze": f"{row['maze']}@1f0c2a", "reached": 0} for row in rollout_rows()]
    assert {each.value for each in measures({"rollout": own}).values()} == {None}
    odd = [row | {"seed": 7, "reached": 0} for row in rollout_rows()]
    found = measures({"rollout": rollout_rows() + own + odd})
    assert found["main/amle/success"].value == pytest.approx(0.970, abs=1e-3)


@pytest.mark.parametrize("table", ["seven_node", "subdivision"])
def test_parts_of_the_small_graphs_may_be_missing(table: str) -> None:
    rows = [row for row in small_graph_rows() if row["table"] == table]
    found = measures({"witnesses": rows})
    told = {name for name, each in found.items() if each.value is not None}
    assert ("seven-nodes/gap(4)/value" in told) == (table == "seven_node")
    assert ("subdivision/k16/amle" in told) == (table == "subdivision")
    assert found["search/witnesses/value"].note == "the experiment was not run"


# ------------------------------------------------------- graphs that fit the witnesses

FAILING = {1: [12, 13], 2: [8, 9, 12, 13], 3: [1, 5], 4: [8, 12, 13], 5: [7, 11, 14, 15]}


def missed(fit: FittingGraph, way: str) -> list[int]:
    """Numbers of the vertices from which the AMLE's plan does not reach."""
    witness = fit.witnesses[way]
    return [int(name) for name in witness.names[~witness.amle_plan.reached]]


@pytest.mark.parametrize("number", FITS)
def test_fits_fail_where_the_paper_says(number: int) -> None:
    fit = FITS[number]
    assert missed(fit, "swept") == FAILING[number]
    assert missed(fit, "exit") == []
    assert fit.success(fit.witnesses["exact"].harmonic_plan) == 1.0


def test_fits_by_exact_amle() -> None:
    """On one graph the exact field has a tie that index order breaks the wrong way."""
    exact = {k: fit.success(fit.witnesses["exact"].amle_plan) for k, fit in FITS.items()}
    assert exact == {1: 1.0, 2: 1.0, 3: pytest.approx(10 / 12), 4: 1.0, 5: 1.0}


def test_all_fits_of_the_fourth_line_agree() -> None:
    """The fourth witness is the whole lattice: four label sets fit, none survives a solve."""
    sets = combinations([v for v in range(16) if v != 3], 4)
    tried = [FittingGraph(3, (), others) for others in sets]
    fitting = [
        fit
        for fit in tried
        if missed(fit, "swept") == FAILING[4] and fit.success(fit.swept_harmonic) == 1.0
    ]
    assert (len(tried), len(fitting)) == (1365, 4)
    assert fitting[0] == FITS[4]
    assert all(fit.success(fit.witnesses["exact"].amle_plan) == 1.0 for fit in fitting)


# ------------------------------------------------------- rules


def test_close_ends_at_the_tolerance() -> None:
    figure = FIGURES["main/harmonic/success"]
    assert rules.is_close(figure, figure.value + 0.05)
    assert not rules.is_close(figure, figure.value + 0.051)
    printed = Figure("residuals", "row", "column", "1000", "residual")  # 25 % of the larger
    ours = (745, 760, 1000, 1330, 1340)
    assert [rules.is_close(printed, each) for each in ours] == [False, True, True, True, False]
    assert not rules.is_close(Figure("", "", "", "4/3", "exact"), 4 / 3 + 1e-6)


def test_restated_figures_follow_from_others() -> None:
    """Every source is there and is not restated by the figure itself: none goes in a circle."""
    for name in FIGURES:
        seen, sources = set(), same_as(name).split()
        while sources:
            source = sources.pop()
            assert source in FIGURES or source in TABLES, (name, source)
            assert source != name
            if source not in seen and source in FIGURES:
                seen.add(source)
                sources += same_as(source).split()
    assert sum(not same_as(name) for name in FIGURES) == 293
