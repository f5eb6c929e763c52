"""A maze in the terminal: two characters per block of vertices, surrounded by a solid wall.

With colours the field is shaded, dark where the value is low, as in pictures; without colours, four
block characters stand for its quarters.
Blocks with a walk that never arrives are marked, and blocks with a loop more strongly.
"""

from __future__ import annotations

import numpy as np
from rich.text import Text

from ..advice import Answer
from ..plans.planning import Outcome

_SHADES = ("▓▓", "▒▒", "░░", "  ")
_WALL, _FREE, _LOST, _FAILS, _LOOP, _GOAL = range(6)
_MARKS = {_WALL: "██", _LOST: "··", _FAILS: "xx", _LOOP: "@@", _GOAL: "GG"}
_COLOURS = {
    _WALL: "grey30",
    _LOST: "grey50",
    _FAILS: "black on orange3",
    _LOOP: "bold white on red3",
    _GOAL: "bold black on gold1",
}
_NEAR, _FAR = np.array([27.0, 94.0, 152.0]), np.array([238.0, 245.0, 249.0])


def picture(answer: Answer, refinement: int, width: int, colour: bool) -> Text:
    """Draw a maze of the given refinement in at most `width` characters, if its cells allow."""
    # 1. vertices along a block: the least divisor of a cell's side that fits, or a whole cell
    places, values, plan = answer.graph.positions, answer.values, answer.plan
    assert places is not None
    extent = np.ptp(places[:, 0]) + 1
    sides = (k for k in range(1, refinement + 1) if refinement % k == 0)
    fits = [k for k in sides if 2 * (extent / k + 2) <= width]  # two for the wall all round
    side = min(fits, default=refinement)

    # 2. what each block is, and its value as a share of the largest; the wall all round is one
    # block thick, however thick it is in the maze
    columns = (places[:, 0] - places[:, 0].min()).astype(np.int64)
    rows = (places[:, 1].max() - places[:, 1]).astype(np.int64)
    at = rows // side + 1, columns // side + 1
    shape = int(at[0].max()) + 2, int(at[1].max()) + 2
    total, count = np.zeros(shape), np.zeros(shape)
    known = np.isfinite(values)
    inside = at[0][known], at[1][known]
    np.add.at(total, inside, values[known])
    np.add.at(count, inside, 1.0)
    mean = np.divide(total, count, out=np.zeros(shape), where=count > 0)
    low, high = mean[count > 0].min(initial=0.0), mean[count > 0].max(initial=0.0)
    kind = np.full(shape, _WALL, np.int8)
    looping = np.zeros(values.size, dtype=bool)
    looping[plan.cycle_members] = True
    lost = answer.outcomes == Outcome.UNREACHABLE
    for mark, chosen in (
        (_LOST, lost),
        (_FREE, ~lost),
        (_FAILS, ~lost & ~plan.reached),
        (_LOOP, looping & ~lost),
        (_GOAL, np.arange(values.size) == answer.goal),
    ):
        kind[at[0][chosen], at[1][chosen]] = mark
    share = (mean - low) / max(high - low, 1e-300)

    # 3. two characters for each
    text = Text(no_wrap=True, end="")
    for kinds, shares in zip(kind, share, strict=True):
        for what, level in zip(kinds.tolist(), shares.tolist(), strict=True):
            if what != _FREE:
                text.append(_MARKS[what], _COLOURS[what] if colour else "")
            elif colour:
                shade = np.round(_NEAR + level * (_FAR - _NEAR)).astype(int)
                text.append("  ", f"on rgb({','.join(map(str, shade))})")
            else:
                text.append(_SHADES[min(int(4 * level), 3)])
        text.append("\n")
    span = f"{values[known].min():g} to {values[known].max():g}"
    legend = [f"GG goal, dark to light: value {span}"]
    for mark, word in ((_FAILS, "never arrives"), (_LOOP, "loop"), (_LOST, "cannot reach")):
        if (kind == mark).any():
            legend.append(f"{_MARKS[mark]} {word}")
    text.append(", ".join(legend))
    return text
