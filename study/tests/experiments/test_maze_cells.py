"""Cells that are mazes: which there are, and that a draw depends on its cell alone."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.experiments import MazeCell, grid

SMALL = MazeCell("umaze", 3, 0.1, 54, goals=4)


def configuration(cell: MazeCell) -> tuple[str, int, float]:
    return cell.maze, cell.refinement, cell.label_fraction


def test_the_paper_has_120_cells_of_24_configurations() -> None:
    cells = grid()
    assert len(set(cells)) == 120
    assert len({configuration(cell) for cell in cells}) == 24
    assert len({configuration(cell) for cell in cells[:24]}) == 24  # seed by seed


@pytest.mark.parametrize("goals", [0, -1, 513])
def test_number_of_goals(goals: int) -> None:
    with pytest.raises(wf.InputError, match=f"from 1 to 512, got {goals}"):
        MazeCell("medium", 4, 0.02, 54, goals)


def test_goals_and_starts_share_512_pairs() -> None:
    assert [MazeCell("medium", 4, 0.02, 54, goals).starts for goals in (1, 16, 20, 512)] == [
        512, 32, 25, 1
    ]  # fmt: skip


def test_a_draw_depends_on_its_cell_alone() -> None:
    first = SMALL.draw()
    MazeCell("umaze", 3, 0.1, 55, goals=4).draw()
    again = SMALL.draw()
    np.testing.assert_array_equal(first.goals, again.goals)
    np.testing.assert_array_equal(first.starts, again.starts)
    assert first.label_seed == again.label_seed


def test_every_setting_changes_the_draw() -> None:
    changed = [
        SMALL,
        MazeCell("umaze-eval", 3, 0.1, 54, 4),
        MazeCell("umaze", 4, 0.1, 54, 4),
        MazeCell("umaze", 3, 0.2, 54, 4),
        MazeCell("umaze", 3, 0.1, 55, 4),
    ]
    assert len({cell.draw().label_seed for cell in changed}) == len(changed)


def test_goals_differ_and_starts_are_not_goals() -> None:
    drawn = MazeCell("medium", 4, 0.05, 57).draw()
    assert np.unique(drawn.goals).size == 32
    assert drawn.starts.shape == (32, 16)
    assert (drawn.starts != drawn.goals[:, None]).all()


def test_more_goals_than_vertices() -> None:
    drawn = MazeCell("umaze", 1, 0.3, 54, goals=512).draw()
    assert drawn.starts.shape == (512, 1)
    assert set(drawn.starts.ravel()) == set(range(7))


def test_labels_are_shared_by_all_goals() -> None:
    drawn = MazeCell("medium", 4, 0.05, 54).draw()
    count = round(0.05 * drawn.graph.num_vertices)
    common = set.intersection(*(set(labels.vertices) for labels in drawn.labels))
    for goal, labels in zip(drawn.goals, drawn.labels, strict=True):
        assert set(labels.vertices) - {goal} <= common | {goal}
        assert goal in labels.vertices
        assert len(labels) in (count, count + 1)
        truth = wf.cost_to_go(drawn.graph, goal)
        np.testing.assert_array_equal(labels.values, truth[labels.vertices])
