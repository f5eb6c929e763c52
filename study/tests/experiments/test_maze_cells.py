"""Cells that are mazes: which there are, and that a draw depends on its cell alone."""

from __future__ import annotations

import numpy as np

import wayfield as wf
from wayfield_study.experiments import MazeCell

SMALL = MazeCell("umaze", 3, 0.1, 54, goals=4)


def test_goals_and_starts_share_512_pairs() -> None:
    assert [MazeCell("medium", 4, 0.02, 54, goals).starts for goals in (1, 16, 20, 512)] == [
        512, 32, 25, 1
    ]  # fmt: skip


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
