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
        "×": r"$\times$",
        "–": "--",
        "§": r"\S ",
        "∞": r"$\infty$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
    }
)

_POWER = re.compile("(?:([0-9.]+)\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE})?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


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
    head = [*table.key_names, "figure", "paper", "ours", "ours_exact", "difference", "verdict"]
    writer.writerow(head)
    for row in table.rows:
        for column in table.columns:
            claim = claims.get(table.id(row, column))
            if claim is not None:
                numbers = (claim.measure.value, claim.exact, claim.difference)
                told = ["" if value is None else repr(value) for value in numbers]
                record = [*row, column, claim.figure.printed, *told, _as_plain(claim.verdict.text)]
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
    names = [_escape(key) for key in table.key_names]
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
    r"""Write any table as CSV, numbers as programs read them.

    Examples
    --------
    >>> plain_csv(["r", "width"], [[4, "4.4\u00a0×\u00a010⁻¹⁶"]])
    'r,width\n4,4.4e-16\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([heads, *([_as_plain(str(entry)) for entry in row] for row in rows)])
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
    return _POWER.sub(_latex_power, text).translate(_LATEX)


def _latex_power(found: re.Match[str]) -> str:
    digits = "" if found[1] is None else rf"{found[1]}\times"
    return rf"${digits}10^{{{found[2].translate(_RAISED)}}}$"


def _as_plain(text: str) -> str:
    """Write numbers in a text without powers, thousands or typographic signs."""
    text = _POWER.sub(lambda found: f"{found[1] or 1}e{found[2].translate(_RAISED)}", text)
    return _THOUSANDS.sub("", text).replace("−", "-")


def _line(entries: Sequence[str]) -> str:
    return " & ".join(entries) + r" \\"
