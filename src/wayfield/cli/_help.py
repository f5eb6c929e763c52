"""Help texts: paragraphs that wrap, and switches shown without a value."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command, its switches bare."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _bare(super().get_params(ctx))


class Group(TyperGroup):
    """Commands under one name; its own switches bare too."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _bare(super().get_params(ctx))


def _bare(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def paragraphs(text: str | None) -> str:
    """Return a docstring with one line per paragraph, so that a terminal of any width wraps it."""
    return "\n\n".join(" ".join(each.split()) for each in cleandoc(text or "").split("\n\n"))
