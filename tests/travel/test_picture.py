"""The picture of a mended graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import wayfield as wf
from wayfield import travel
from wayfield.travel import picture
from worlds import measured, streets


def test_a_factor_that_all_edges_share_is_taken_out_of_the_colours() -> None:
    ring = wf.Graph.from_edges(range(10), [*range(1, 10), 0])
    slow = np.where(ring.tails + ring.indices == 5, 4.0, 2.0)
    found = travel.mend(ring, wf.Labels([0, 5], [0.0, 5.0]), 0, travel.LeastChange())
    figure = Figure()
    picture.mended(replace(found, graph=replace(ring, lengths=slow)), ax=figure.subplots())
    assert figure.axes[-1].get_ylabel() == "added cost beyond 2 times the given cost"
    coloured = [each for each in figure.axes[0].collections if each.get_array() is not None]
    assert coloured[0].get_array().tolist() == [2.0]  # one edge alone, by what it costs beyond


def test_findings_are_drawn_as_what_they_are() -> None:
    world, graph, false = streets(0, false=3)
    slow = np.linalg.norm(world.positions - [8, 8], axis=1) < 4
    costs = world.lengths * (1.0 + (slow[world.tails] + 0.0 + slow[world.indices]))
    mended = travel.mend(graph, measured(replace(world, lengths=costs), 3, count=40), 0)
    kinds = {each.kind for each in mended.findings if each.named}
    assert kinds == {"false edge", "slow place"}
    figure = Figure()
    axes = picture.mended(mended, ax=figure.subplots())
    lines = [each for each in axes.collections if hasattr(each, "get_segments")]
    dashed = [each for each in lines if each.get_linestyle()[0][1]]
    assert [len(each.get_segments()) for each in dashed] == [len(false)]
    coloured = [each for each in lines if each.get_array() is not None]
    places = [e.where for e in mended.findings if e.kind == "slow place" and e.named]
    assert len(coloured[0].get_segments()) == np.unique(np.concatenate(places)).size // 2
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "does not exist" in words
    assert "as given" in words


def test_the_picture_of_a_mend_names_the_suspects_alone() -> None:
    ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    lengths = np.where(
        np.abs(ring.tails - ring.indices) == 5, 5.0, 1.0 + 0.001 * (ring.tails + ring.indices)
    )
    mended = replace(ring, lengths=lengths)
    found = replace(
        travel.mend(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), 0, travel.LeastChange()),
        graph=mended,
    )
    axes = picture.mended(found, "abcdefghij", ax=Figure().subplots())
    assert {text.get_text() for text in axes.texts} == {"a", "f"}
    assert " ".join(axes.get_title("left").split()) == found.finding("abcdefghij")
    assert axes.figure.axes[-1].get_ylabel() == "added cost"
    assert "within 5 % of the given cost" in [
        each.get_text() for each in axes.get_legend().get_texts()
    ]
