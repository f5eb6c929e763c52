from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from scipy import ndimage

from wayfield.errors import InputError
from wayfield.graphs.layouts import Layout, layout_names, load_layout
from worlds import grids, layouts

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


def test_every_map_is_in_the_table() -> None:
    assert set(layout_names()) == set(MAPS)


@pytest.mark.parametrize("name", MAPS)
def test_map_has_its_shape_and_free_cells(name: str) -> None:
    layout = load_layout(name)
    shape, num_free, _ = MAPS[name]
    assert (layout.name, layout.shape, layout.num_free) == (name, shape, num_free)


@pytest.mark.parametrize("name", MAPS)
def test_map_is_walled_in(name: str) -> None:
    free = load_layout(name).free
    border = np.ones(free.shape, dtype=bool)
    border[1:-1, 1:-1] = False
    assert not free[border].any()


@pytest.mark.parametrize("name", MAPS)
def test_map_components(name: str) -> None:
    _, count = ndimage.label(load_layout(name).free)
    assert count == MAPS[name][2]


def test_teleport_has_one_lone_exit_and_its_teleporters_are_free() -> None:
    free = load_layout("teleport").free
    regions, _ = ndimage.label(free)
    assert np.count_nonzero(regions == regions[1, 7]) == 1
    assert all(free[cell] for cell in [(4, 6), (5, 1), (1, 7), (6, 1), (6, 10)])


def test_maps_are_distinct() -> None:
    assert len({load_layout(name) for name in MAPS}) == len(MAPS)


@pytest.mark.parametrize("name", MAPS)
def test_map_text_round_trip(name: str) -> None:
    layout = load_layout(name)
    assert Layout.from_text(layout.to_text()) == layout


@given(grids())
def test_text_round_trip(free: NDArray[np.bool_]) -> None:
    layout = Layout("any", free)
    again = Layout.from_text(layout.to_text())
    assert again == layout
    assert hash(again) == hash(layout)
    np.testing.assert_array_equal(again.free, free)


@given(layouts())
def test_text_round_trip_keeps_everything(layout: Layout) -> None:
    again = Layout.from_text(layout.to_text())
    assert again == layout
    assert hash(again) == hash(layout)
    np.testing.assert_array_equal(again.free, layout.free)
    np.testing.assert_array_equal(again.costs, layout.costs)
    np.testing.assert_array_equal(again.arrows, layout.arrows)
    assert again.teleports == layout.teleports


@given(layouts(), layouts())
def test_equal_means_the_same_arrays(one: Layout, other: Layout) -> None:
    same = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("free", "costs", "arrows", "teleports")
    )
    assert (one == other) == same


def test_rows_are_numbered_from_the_top() -> None:
    free = Layout.from_text("..#\n###").free
    assert free.tolist() == [[True, True, False], [False, False, False]]


def test_markers_and_other_free_characters_are_free() -> None:
    assert Layout.from_text("#.O SRGC#") == Layout.from_text("#.......#")


def test_digits_are_costs_and_one_is_plain() -> None:
    layout = Layout.from_text("#19.")
    assert layout.costs.tolist() == [[1, 1, 9, 1]]
    assert not layout.is_unit
    assert not layout.directed
    assert Layout.from_text("#1.") == Layout.from_text("#..")
    assert repr(layout) == "Layout('custom', 1x4, 3 free, costs 1 to 9)"


def test_arrows_are_free_cells_of_cost_one() -> None:
    layout = Layout.from_text("^v\n<>")
    assert layout.arrows.tolist() == [["^", "v"], ["<", ">"]]
    assert layout.free.all()
    assert layout.is_unit
    assert layout.directed


def test_plain_layouts_are_undirected_and_unit() -> None:
    for name in set(MAPS) - {"teleport"}:
        layout = load_layout(name)
        assert layout.is_unit
        assert not layout.directed
        assert layout.teleports == ()


def test_teleports_of_ogbench() -> None:
    layout = load_layout("teleport")
    exits = [(1, 7), (6, 1), (6, 10)]
    assert layout.teleports == tuple((entry, out) for entry in [(4, 6), (5, 1)] for out in exits)
    walls = layout.without_teleports()
    assert walls.teleports == ()
    assert not walls.directed
    assert walls == Layout("walls", layout.free)
    assert layout.directed
    assert layout != walls


def test_teleports_are_sorted_and_count_once() -> None:
    pairs = [((0, 1), (0, 0)), ((0, 0), (0, 1)), ((0, 1), (0, 0))]
    layout = Layout("own", np.ones((1, 2), dtype=bool), teleports=pairs)
    assert layout.teleports == (((0, 0), (0, 1)), ((0, 1), (0, 0)))
    assert layout.to_text() == "..\n0,0 -> 0,1\n0,1 -> 0,0"


def test_lines_of_teleports_may_be_indented_and_set_apart() -> None:
    text = "  ..#\n  ...\n\n 0,0->1,1   1,2\n\n1,2 -> 0,0\n\n"
    expected = (((0, 0), (1, 1)), ((0, 0), (1, 2)), ((1, 2), (0, 0)))
    assert Layout.from_text(text).teleports == expected


def test_costs_at_walls_do_not_count() -> None:
    free = np.array([[True, False]])
    assert Layout("own", free, costs=[[3, 99]]).costs.tolist() == [[3, 1]]


def test_indentation_blank_edges_and_line_endings_are_tolerated() -> None:
    text = "\n   \n    ####\r\n    #. #\n    ####\n  \n"
    assert Layout.from_text(text) == Layout.from_text("####\n#..#\n####")


def test_tab_indentation_is_tolerated() -> None:
    assert Layout.from_text("\t##\n\t#.") == Layout.from_text("##\n#.")


def test_a_row_of_spaces_inside_is_a_row_of_free_cells() -> None:
    assert Layout.from_text("  ###\n     \n  ###") == Layout.from_text("###\n...\n###")


def test_name_is_kept_and_does_not_count_in_equality() -> None:
    mine = Layout.from_text(load_layout("umaze").to_text(), name="mine")
    assert mine.name == "mine"
    assert mine == load_layout("umaze")
    assert mine != load_layout("umaze-eval")
    assert mine != "mine"


def test_layout_does_not_change() -> None:
    source = np.array([[True, False]])
    layout = Layout("own", source)
    source[0, 0] = False
    assert layout.free[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        layout.free[0, 1] = True
    with pytest.raises(ValueError, match="read-only"):
        layout.costs[0, 0] = 3
    with pytest.raises(ValueError, match="read-only"):
        layout.arrows[0, 0] = ">"
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.name = "other"  # type: ignore[misc]


def test_copies_are_equal_and_read_only() -> None:
    layout = Layout.from_text("#.5>\n0,1 -> 0,2", name="mine")
    for twin in (pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout)):
        assert twin == layout
        assert twin.name == "mine"
        for array in (twin.free, twin.costs, twin.arrows):
            assert not array.flags.writeable


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
    assert layout == load_layout(name)
    assert layout.name == name


def test_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown layout 'antmaze-lrage'") as caught:
        load_layout("antmaze-lrage")
    assert all(name in str(caught.value) for name in layout_names())
    assert "did you mean 'large'?" in str(caught.value)


def test_unknown_name_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(InputError, match="unknown layout 'xyzzy'") as caught:
        load_layout("xyzzy")
    assert "did you mean" not in str(caught.value)


def test_prefix_alone_is_refused() -> None:
    with pytest.raises(InputError, match="unknown layout 'antmaze-'"):
        load_layout("antmaze-")


def test_name_that_is_no_string_is_refused() -> None:
    with pytest.raises(InputError, match="name must be a string, got 3"):
        load_layout(3)  # type: ignore[arg-type]


def test_text_that_is_no_string_is_refused() -> None:
    with pytest.raises(InputError, match="text must be a string"):
        Layout.from_text(["##", "#."])  # type: ignore[arg-type]


def test_empty_text_is_refused() -> None:
    with pytest.raises(InputError, match="at least one row"):
        Layout.from_text("")


def test_blank_text_is_refused() -> None:
    with pytest.raises(InputError, match="at least one row"):
        Layout.from_text("\n   \n")


def test_walls_alone_are_refused() -> None:
    with pytest.raises(InputError, match=r"'custom' of shape \(2, 2\) has no free cell"):
        Layout.from_text("##\n##")


def test_ragged_rows_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 2 has 3 cells, but row 0 has 4 \(counted from 0\)"):
        Layout.from_text("\n  ####\n  #..#\n  ###\n")


def test_blank_row_inside_is_refused() -> None:
    with pytest.raises(InputError, match="row 1 has 0 cells, but row 0 has 2"):
        Layout.from_text("#.\n\n#.")


@pytest.mark.parametrize("cell", ["0", "²", "V", "→", "-", "x", "\t"])
def test_unknown_character_is_refused(cell: str) -> None:
    with pytest.raises(InputError) as caught:
        Layout.from_text(f"####\n#.{cell}#\n####")
    assert f"unknown character {cell!r} at row 1, column 2 (counted from 0)" in str(caught.value)


def test_array_that_is_not_boolean_is_refused() -> None:
    with pytest.raises(InputError, match=r"boolean array .* got int64"):
        Layout("ints", np.array([[0, 1]], dtype=np.int64))


def test_array_of_one_dimension_is_refused() -> None:
    with pytest.raises(InputError, match=r"two dimensions, got shape \(2,\)"):
        Layout("flat", np.array([True, False]))


def test_array_without_cells_is_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(0, 3\) has no free cell"):
        Layout("none", np.zeros((0, 3), dtype=bool))


ROW = np.array([[True, True, False]])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"costs": [[1, 10, 1]]}, r"costs\[0, 1\] = 10 is not from 1 to 9"),
        ({"costs": [[0, 1, 1]]}, r"costs\[0, 0\] = 0 is not from 1 to 9"),
        ({"costs": [[1.0, 2.0, 1.0]]}, "costs must be whole numbers, got float64"),
        ({"costs": [[True, True, True]]}, "costs must be whole numbers, got bool"),
        ({"costs": [1, 2, 3]}, r"shape of free, \(1, 3\), got \(3,\)"),
        ({"costs": [[1], [2, 3]]}, "costs cannot be read as an array"),
        ({"arrows": [["", "x", ""]]}, r"arrows\[0, 1\] = x is not one of \^, v, <, >"),
        ({"arrows": [["", ">>", ""]]}, r"arrows\[0, 1\] = >> is not one of"),
        ({"arrows": [["", "", "^"]]}, r"arrows\[0, 2\] = \^ is at a wall"),
        ({"arrows": [[0, 1, 2]]}, "arrows must be strings, got int64"),
        ({"arrows": [[">", "", ""]], "costs": [[2, 1, 1]]}, r"costs\[0, 0\] = 2 is in an arrow"),
        ({"teleports": [((0, 0), (0, 2))]}, r"teleports\[0\]: \(0, 2\) is not a free cell"),
        ({"teleports": [((0, 0), (1, 0))]}, r"\(1, 0\) is not a free cell of 1x3 cells"),
        ({"teleports": [((0, 0), (0, 0))]}, r"teleports\[0\] leads from \(0, 0\) to itself"),
        ({"teleports": [((0, 0), (0, -1))]}, "must be a whole number of at least 0, got -1"),
        ({"teleports": [((0, 0), (0, 0.5))]}, "must be a whole number of at least 0, got 0.5"),
        ({"teleports": [(0, 1)]}, r"must be \(\(row, column\), \(row, column\)\), got \(0, 1\)"),
        ({"teleports": [((0, 0), (0, 1), (0, 1))]}, r"must be \(\(row, column\)"),
        ({"teleports": 3}, "teleports must be pairs of cells, got 3"),
    ],
)
def test_bad_parts_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Layout("bad", ROW, **options)


@pytest.mark.parametrize(
    "line",
    ["0,0 ->", "-> 0,1", "0,0 -> 0", "0,0 -> 0,1 x", "0,0 -> 0,1 -> 0,2", "a,b -> 0,1", "#->"],
)
def test_unreadable_line_of_teleports_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=f"cannot read the line '{line}' below the cells"):
        Layout.from_text(f"...\n{line}\n")


def test_rows_after_the_teleports_are_refused() -> None:
    with pytest.raises(InputError, match=r"cannot read the line '\.\.\.' below the cells"):
        Layout.from_text("...\n0,0 -> 0,2\n...\n")


def test_teleports_alone_are_refused() -> None:
    with pytest.raises(InputError, match="at least one row"):
        Layout.from_text("0,0 -> 0,2")


def test_teleport_into_a_wall_is_refused() -> None:
    with pytest.raises(InputError, match=r"\(0, 1\) is not a free cell"):
        Layout.from_text(".#.\n0,0 -> 0,1")
