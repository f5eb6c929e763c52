"""The methods of the tests: one table, and the properties by which a test picks from it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import wayfield as wf
from wayfield.fields import Method
from wayfield_study.sweeps import MidrangeSweeps


@dataclass(frozen=True)
class Kind:
    """A method and what is true of it; stated here, never asked of the method."""

    method: Method
    directed: bool = False
    """Whether it has a meaning on directed graphs."""
    bracket: bool = False
    """Whether its field comes with a proof of how far off it can be."""
    within: bool = True
    """Whether its field stays between the least and the largest label of a component."""
    sloped: bool = False
    """Whether it has a slope of its own, which a correction to a prior must not have."""
    any_labels: bool = True
    """Whether labels may be as steep as they like."""
    shares: bool = False
    """Whether label sets on one graph share work, so that the last bits may differ."""


TABLE = [
    Kind(wf.AMLE(), directed=True, bracket=True, sloped=True),
    Kind(wf.AMLE(fill="cost"), directed=True, bracket=True, within=False, sloped=True),
    Kind(wf.AMLE(fill="flat"), directed=True, bracket=True, sloped=True),
    Kind(wf.AMLE(bracket=False), directed=True, sloped=True),
    Kind(wf.Harmonic(), bracket=True, shares=True),
    Kind(wf.PLaplacian(2), bracket=True, shares=True),
    Kind(wf.PLaplacian(2.5), bracket=True, shares=True),
    Kind(wf.PLaplacian(8), bracket=True, shares=True),
    Kind(wf.PLaplacian(128), bracket=True, shares=True),
    Kind(wf.NearestLabel()),
    Kind(MidrangeSweeps(5)),
    Kind(MidrangeSweeps(20, "upper")),
    Kind(MidrangeSweeps(20, "harmonic", 0.5)),
    Kind(wf.McShane(), within=False, sloped=True, any_labels=False),
    Kind(wf.McShane(2.0), within=False, sloped=True, any_labels=False),
    Kind(wf.McShane(None), within=False, sloped=True),
    Kind(wf.Whitney(), within=False, sloped=True, any_labels=False),
    Kind(wf.Whitney(None), within=False, sloped=True),
]

NAMED: dict[str, Method] = {
    "amle": wf.AMLE(),
    "harmonic": wf.Harmonic(),
    "p=8": wf.PLaplacian(8),
    "nearest": wf.NearestLabel(),
}
"""Words that stand for methods."""


def choose(**properties: bool) -> list[Method]:
    """Methods of the given properties; of none, all."""
    return [
        kind.method
        for kind in TABLE
        if all(getattr(kind, name) is value for name, value in properties.items())
    ]


def methods(**properties: bool) -> pytest.MarkDecorator:
    """Run a test with `method` set to each of those that have the given properties."""
    return pytest.mark.parametrize("method", choose(**properties), ids=str)


def has(method: Method, name: str) -> bool:
    """Whether a method of the table has a property."""
    return bool(next(getattr(kind, name) for kind in TABLE if kind.method == method))
