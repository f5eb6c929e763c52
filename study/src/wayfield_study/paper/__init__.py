"""The paper: its figures as data, and how ours compare with them.

S. Zhang, *Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning*.
"""

from .budget import PAPER_RELAXATION, PAPER_SWEEPS, audited_success, papers_budget
from .claims import Claim, make_claims
from .evidence import Evidence, Expected, expect
from .figures import AUTHOR, FIGURES, TABLES, TITLE, value
from .findings import on_cells, on_papers_cells
from .grid import AUDIT_SEEDS, AUDITED, CELL, GRID, PAIRS, SEEDS, on_papers_mazes, papers_rows
from .measures import covered, ids, measures
from .rules import judge
from .verdicts import Verdicts

__all__ = [
    "AUDITED",
    "AUDIT_SEEDS",
    "AUTHOR",
    "CELL",
    "FIGURES",
    "GRID",
    "PAIRS",
    "PAPER_RELAXATION",
    "PAPER_SWEEPS",
    "SEEDS",
    "TABLES",
    "TITLE",
    "Claim",
    "Evidence",
    "Expected",
    "Verdicts",
    "audited_success",
    "covered",
    "expect",
    "ids",
    "judge",
    "make_claims",
    "measures",
    "on_cells",
    "on_papers_cells",
    "on_papers_mazes",
    "papers_budget",
    "papers_rows",
    "value",
]
