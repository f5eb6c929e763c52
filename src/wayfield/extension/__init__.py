"""Extensions of labels to the whole graph: one verb, one result type, one file per method."""

from ._base import Extension, Method, Problem, Solution, Status, extend

__all__ = [
    "Extension",
    "Method",
    "Problem",
    "Solution",
    "Status",
    "extend",
]
