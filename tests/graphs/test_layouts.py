"""Mazes as text and arrays."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import ndimage

from wayfield.errors import InputError
from wayfield.graphs.layouts import Layout, layout_names, load_layout
from worlds import layouts

MAPS = {  # shape, free cells, 4-connected components
    "umaze": ((5, 5), 7, 1),
    "umaze-eval": ((5, 5), 7, 1),
    "small": ((5, 6), 10, 1),
    "open": ((5, 7), 15, 1),
    "arena": ((8, 8), 36, 1),
    "medium": ((8, 8), 26, 1),
    "medium-eval": ((8, 8), 26, 1),
    "large": ((9, 12), 46, 1),
    "large-eval": ((9, 12), 47, 1),
    "teleport": ((9, 12), 45, 2),
    "giant": ((12, 16), 86, 1),
}


def test_every_map_is_in_the_table_and_differs() -> None:
    assert set(layout_names()) == set(MAPS)
    assert len({load_layout(name) for name in MAPS}) == len(MAPS)


@pytest.mark.parametrize("name", MAPS)
def test_maps(name: str) -> None:
    layout = load_layout(name)
    _, components = ndimage.label(layout.free)
    assert (layout.shape, layout.num_free, components) == MAPS[name]
    assert layout.name == name
    inner = np.zeros(layout.shape, dtype=bool)
    inner[1:-1, 1:-1] = True
    assert not layout.free[~inner].any()  # walled in
    assert layout.is_unit
    assert layout.directed == bool(layout.teleports) == (name == "teleport")
    assert Layout.from_text(layout.to_text()) == layout


def test_teleports_of_ogbench() -> None:
    layout = load_layout("teleport")
    exits = [(1, 7), (6, 1), (6, 10)]
    assert layout.teleports == tuple((entry, out) for entry in [(4, 6), (5, 1)] for out in exits)
    walls = layout.without_teleports()
    assert (walls.teleports, walls.directed) == ((), False)
    assert walls == Layout("walls", layout.free)
    assert layout != walls
    regions, _ = ndimage.label(layout.free)
    assert np.count_nonzero(regions == regions[1, 7]) == 1  # a lone exit


@given(layouts(), layouts())
def test_text_keeps_everything(layout: Layout, other: Layout) -> None:
    again = Layout.from_text(layout.to_text())
    assert again == layout
    assert hash(again) == hash(layout)
    arrays = ("free", "costs", "arrows", "teleports")
    for name in arrays:
        np.testing.assert_array_equal(getattr(again, name), getattr(layout, name))
    pairs = [(getattr(layout, name), getattr(other, name)) for name in arrays]
    assert (layout == other) == all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("#.O SRGC#", "#.......#"),
        ("#1.", "#.."),
        ("\n   \n    ####\r\n    #. #\n    ####\n  \n", "####\n#..#\n####"),
        ("\t##\n\t#.", "##\n#."),
        ("  ###\n     \n  ###", "###\n...\n###"),
        (
            "  ..#\n  ...\n\n 0,0->1,1   1,2\n\n1,2 -> 0,0\n\n",
            "..#\n...\n0,0 -> 1,1 1,2\n1,2 -> 0,0",
        ),
    ],
)
def test_texts_of_one_layout(text: str, plain: str) -> None:
    assert Layout.from_text(text) == Layout.from_text(plain)
    assert Layout.from_text(plain).to_text() == plain


def test_what_cells_mean() -> None:
    layout = Layout.from_text("#19.\n^v<>")
    assert layout.free.tolist() == [[False, True, True, True], [True] * 4]
    assert layout.costs.tolist() == [[1, 1, 9, 1], [1] * 4]
    assert layout.arrows.tolist() == [[""] * 4, ["^", "v", "<", ">"]]
    assert (layout.is_unit, layout.directed, Layout.from_text("#19.").directed) == (
        False,
        True,
        False,
    )
    assert repr(layout) == "Layout('custom', 2x4, 7 free, costs 1 to 9, 4 one-way)"
    pairs = [((0, 1), (0, 0)), ((0, 0), (0, 1)), ((0, 1), (0, 0))]
    jumps = Layout("own", np.ones((1, 2), dtype=bool), teleports=pairs)
    assert jumps.to_text() == "..\n0,0 -> 0,1\n0,1 -> 0,0"  # sorted, and each once
    assert Layout("own", np.array([[True, False]]), costs=[[3, 99]]).costs.tolist() == [[3, 1]]


def test_layouts_and_their_copies_do_not_change() -> None:
    source = np.array([[False, True, True, True]])
    layout = Layout("mine", source, [[1, 1, 5, 1]], [["", "", "", ">"]], [((0, 1), (0, 2))])
    source[0, 1] = False
    assert layout == Layout.from_text("#.5>\n0,1 -> 0,2", name="another")
    assert layout != "mine"
    for twin in (layout, pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout)):
        assert (twin, twin.name) == (layout, "mine")
        for array in (twin.free, twin.costs, twin.arrows):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = array[0, 1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("antmaze-large", "large"),
        ("pointmaze-medium", "medium"),
        ("maze2d-umaze", "umaze"),
        ("humanoidmaze-giant", "giant"),
        ("antsoccer-arena", "arena"),
        ("visual-antmaze-teleport-v0", "teleport"),
        ("antmaze-umaze-eval", "umaze-eval"),
        ("antmaze-eval-umaze-v0", "umaze-eval"),
        ("maze2d-eval-large-v1", "large-eval"),
        ("maze2d-open-v0", "open"),
        ("PointMaze_UMaze-v3", "umaze"),
        ("AntMaze_Large", "large"),
        ("LARGE", "large"),
        ("medium_eval", "medium-eval"),
    ],
)
def test_alias(alias: str, name: str) -> None:
    layout = load_layout(alias)
    assert (layout, layout.name) == (load_layout(name), name)


ROW = np.array([[True, True, False]])
KNOWN = ", ".join(MAPS)


def bad(**options: Any) -> Callable[[], Layout]:
    return lambda: Layout("bad", ROW, **options)


def read(text: Any) -> Callable[[], Layout]:
    return lambda: Layout.from_text(text)


def load(name: Any) -> Callable[[], Layout]:
    return lambda: load_layout(name)


REFUSED = [
    (load("antmaze-lrage"), r"unknown layout 'antmaze-lrage'; known .*; did you mean 'large'"),
    (load("xyzzy"), rf"unknown layout 'xyzzy'; known are {KNOWN}$"),
    (load("antmaze-"), "unknown layout 'antmaze-'"),
    (load(3), "name must be a string, got 3"),
    (read(["##", "#."]), "text must be a string"),
    (read(""), "at least one row"),
    (read("\n   \n"), "at least one row"),
    (read("0,0 -> 0,2"), "at least one row"),
    (read("##\n##"), r"'custom' of shape \(2, 2\) has no free cell"),
    (read("\n  ####\n  #..#\n  ###\n"), r"row 2 has 3 cells, but row 0 has 4 \(counted from 0\)"),
    (read("#.\n\n#."), "row 1 has 0 cells, but row 0 has 2"),
    *((read(f"####\n#.{cell}#\n####"), rf"unknown character {cell!r} at row 1, column 2 \(counted")
      for cell in ("0", "²", "V", "→", "-", "x")),
    *((read(f"...\n{line}\n"), f"cannot read the line '{line}' below the cells")
      for line in ("0,0 ->", "-> 0,1", "0,0 -> 0", "0,0 -> 0,1 x", "0,0 -> 0,1 -> 0,2",
                   "a,b -> 0,1", "#->")),
    (read("...\n0,0 -> 0,2\n...\n"), r"cannot read the line '\.\.\.' below the cells"),
    (read(".#.\n0,0 -> 0,1"), r"\(0, 1\) is not a free cell"),
    (lambda: Layout("ints", np.array([[0, 1]])), r"boolean array .* got int64"),
    (lambda: Layout("flat", np.array([True, False])), r"two dimensions, got shape \(2,\)"),
    (lambda: Layout("none", np.zeros((0, 3), dtype=bool)), r"shape \(0, 3\) has no free cell"),
    (bad(costs=[[1, 10, 1]]), r"costs\[0, 1\] = 10 is not from 1 to 9"),
    (bad(costs=[[0, 1, 1]]), r"costs\[0, 0\] = 0 is not from 1 to 9"),
    (bad(costs=[[1.0, 2.0, 1.0]]), "costs must be whole numbers, got float64"),
    (bad(costs=[[True, True, True]]), "costs must be whole numbers, got bool"),
    (bad(costs=[1, 2, 3]), r"shape of free, \(1, 3\), got \(3,\)"),
    (bad(costs=[[1], [2, 3]]), "costs cannot be read as an array"),
    (bad(arrows=[["", "x", ""]]), r"arrows\[0, 1\] = x is not one of \^, v, <, >"),
    (bad(arrows=[["", ">>", ""]]), r"arrows\[0, 1\] = >> is not one of"),
    (bad(arrows=[["", "", "^"]]), r"arrows\[0, 2\] = \^ is at a wall"),
    (bad(arrows=[[0, 1, 2]]), "arrows must be strings, got int64"),
    (bad(arrows=[[">", "", ""]], costs=[[2, 1, 1]]), r"costs\[0, 0\] = 2 is in an arrow"),
    (bad(teleports=[((0, 0), (0, 2))]), r"teleports\[0\]: \(0, 2\) is not a free cell"),
    (bad(teleports=[((0, 0), (1, 0))]), r"\(1, 0\) is not a free cell of 1x3 cells"),
    (bad(teleports=[((0, 0), (0, 0))]), r"teleports\[0\] leads from \(0, 0\) to itself"),
    (bad(teleports=[((0, 0), (0, -1))]), "must be a whole number of at least 0, got -1"),
    (bad(teleports=[((0, 0), (0, 0.5))]), "must be a whole number of at least 0, got 0.5"),
    (bad(teleports=[(0, 1)]), r"must be \(\(row, column\), \(row, column\)\), got \(0, 1\)"),
    (bad(teleports=[((0, 0), (0, 1), (0, 1))]), r"must be \(\(row, column\)"),
    (bad(teleports=3), "teleports must be pairs of cells, got 3"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_what_is_refused(make: Callable[[], Layout], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()
