"""The tables as CSV and as LaTeX: each of the paper's with its figures, ours and the difference."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from ..study.paper import PaperTable
from .claims import Claim
from .layout import name

_LATEX = str.maketrans(
    {
        "_": r"\_",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "−": "$-$",
        "–": "--",
        "§": r"\S ",
        "∞": r"$\infty$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
    }
)

_POWER = re.compile("\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


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
    >>> from wayfield.report import make_claims
    >>> from wayfield.study.paper import TABLES
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_csv(TABLES["by-r"], claims).splitlines()[1])
    4,harmonic,0.850,,,,not measured: not among the experiments that were run
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    keys = [key if key != "." else f"row{place}" for place, key in enumerate(table.keys, 1)]
    head = [*keys, "figure", "paper", "ours", "ours_exact", "difference", "verdict"]
    writer.writerow(head)
    for row in table.rows:
        for column in table.columns:
            claim = claims.get(table.id(row, column))
            if claim is not None:
                numbers = (claim.measure.value, claim.exact, claim.difference)
                told = ["" if value is None else repr(value) for value in numbers]
                record = [*row, column, claim.figure.printed, *told, claim.verdict.text]
                writer.writerow(record)
    return text.getvalue()


def as_latex(table: PaperTable, claims: Mapping[str, Claim]) -> str:
    r"""Write a table for LaTeX with booktabs: under each column the paper's, ours, and exact.

    Examples
    --------
    >>> from wayfield.report import make_claims
    >>> from wayfield.study.paper import TABLES
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_latex(TABLES["by-r"], claims).splitlines()[-4])
    12 & 0.368 & -- & 0.946 & -- & +57.8 & -- \\
    """
    parts = {column: _parts(table, column, claims) for column in table.columns}
    keys = len(table.keys)
    spans, rules, column = [], [], keys + 1
    for column_name, heads in parts.items():
        spans.append(rf"\multicolumn{{{len(heads)}}}{{c}}{{{_escape(name(column_name))}}}")
        rules.append(rf"\cmidrule(lr){{{column}-{column + len(heads) - 1}}}")
        column += len(heads)
    names = ["" if key == "." else _escape(key) for key in table.keys]
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{_escape(table.title)} ({_escape(table.place)}).}}",
        rf"\label{{tab:wayfield-{table.name}}}",
        rf"\begin{{tabular}}{{{'l' * keys}{'r' * (column - keys - 1)}}}",
        r"\toprule",
        _line([*[""] * keys, *spans]),
        "".join(rules),
        _line([*names, *(head for heads in parts.values() for head in heads)]),
        r"\midrule",
    ]
    for row in table.rows:
        entries = [
            _entry(claims.get(table.id(row, each)), head)
            for each, heads in parts.items()
            for head in heads
        ]
        lines.append(_line([*(_escape(name(entry)) for entry in row), *entries]))
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def plain_csv(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Write any table as CSV.

    Examples
    --------
    >>> plain_csv(["r", "success"], [[4, 0.85]])
    'r,success\n4,0.85\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([heads, *rows])
    return text.getvalue()


def plain_latex(
    title: str, name: str, heads: Sequence[str], rows: Sequence[Sequence[object]]
) -> str:
    r"""Write any table for LaTeX with booktabs; the first column is text, the rest numbers.

    Examples
    --------
    >>> print(plain_latex("Success", "s", ["r", "share"], [[4, "85 %"]]).splitlines()[8])
    4 & 85 \% \\
    """
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{_escape(title)}.}}",
        rf"\label{{tab:wayfield-{name}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule",
        _line([_escape(str(head)) for head in heads]),
        r"\midrule",
        *(_line([_escape(str(entry)) for entry in row]) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
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
    return _escape(told[head])


def _escape(text: str) -> str:
    return _POWER.sub(_latex_power, text.translate(_LATEX))


def _latex_power(found: re.Match[str]) -> str:
    exponent = found[1].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return rf"$\times10^{{{exponent}}}$"


def _line(entries: Sequence[str]) -> str:
    return " & ".join(entries) + r" \\"
