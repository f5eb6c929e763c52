"""The paper's tables as CSV and as LaTeX: its figures, ours and the difference."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from ..report.tables import latex, latex_line, plain
from .claims import Claim
from .figures import PaperTable
from .tables import name


def as_csv(table: PaperTable, claims: Mapping[str, Claim]) -> str:
    """Write a table as CSV: a line per figure, the keys of its row in columns of their own.

    Parameters
    ----------
    table : PaperTable
        Which table.
    claims : mapping of str to Claim
        By the figure's id.

    Examples
    --------
    >>> from wayfield_study.paper import TABLES, make_claims
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_csv(TABLES["by-r"], claims).splitlines()[1])
    4,harmonic,0.850,,,,not measured: not among the experiments that were run
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = [*table.key_names, "figure", "paper", "ours", "ours_exact", "difference", "verdict"]
    writer.writerow(head)
    for row in table.rows:
        for column in table.columns:
            claim = claims.get(table.id(row, column))
            if claim is not None:
                numbers = (claim.measure.value, claim.exact, claim.difference)
                told = ["" if value is None else repr(value) for value in numbers]
                record = [*row, column, claim.figure.printed, *told, plain(claim.verdict.text)]
                writer.writerow(record)
    return text.getvalue()


def as_latex(table: PaperTable, claims: Mapping[str, Claim]) -> str:
    r"""Write a table for LaTeX with booktabs: under each column the paper's, ours, and exact.

    Examples
    --------
    >>> from wayfield_study.paper import TABLES, make_claims
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_latex(TABLES["by-r"], claims).splitlines()[-4])
    12 & 0.368 & -- & 0.946 & -- & +57.8 & -- \\
    """
    parts = {column: _parts(table, column, claims) for column in table.columns}
    keys = len(table.keys)
    spans, rules, column = [], [], keys + 1
    for column_name, heads in parts.items():
        spans.append(rf"\multicolumn{{{len(heads)}}}{{c}}{{{latex(name(column_name))}}}")
        rules.append(rf"\cmidrule(lr){{{column}-{column + len(heads) - 1}}}")
        column += len(heads)
    names = [latex(key) for key in table.key_names]
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{latex(table.title)} ({latex(table.place)}).}}",
        rf"\label{{tab:wayfield-{table.name}}}",
        rf"\begin{{tabular}}{{{'l' * keys}{'r' * (column - keys - 1)}}}",
        r"\toprule",
        latex_line([*[""] * keys, *spans]),
        "".join(rules),
        latex_line([*names, *(head for heads in parts.values() for head in heads)]),
        r"\midrule",
    ]
    for row in table.rows:
        entries = [
            _entry(claims.get(table.id(row, each)), head)
            for each, heads in parts.items()
            for head in heads
        ]
        lines.append(latex_line([*(latex(name(entry)) for entry in row), *entries]))
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _parts(table: PaperTable, column: str, claims: Mapping[str, Claim]) -> list[str]:
    """Tell what stands under a column: exact figures only where there are any."""
    found = [claims.get(table.id(row, column)) for row in table.rows]
    exact = any(claim is not None and claim.exact is not None for claim in found)
    return ["paper", "ours", "exact"] if exact else ["paper", "ours"]


def _entry(claim: Claim | None, head: str) -> str:
    if claim is None:
        return ""
    told = {
        "paper": claim.paper_text,
        "ours": claim.ours_text,
        "exact": claim.exact_text,
    }
    return latex(told[head])
