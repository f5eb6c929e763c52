"""Networks in TNTP: zones, missing times, parallel links, and bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wayfield.errors import InputError
from wayfield.travel import read_tntp

HEAD = "<NUMBER OF ZONES> 2\n<NUMBER OF NODES> 6\n<FIRST THRU NODE> 3\n<END OF METADATA>\n\n"
NAMES = "~\tinit\tterm\tcapacity\tlength\tfft\tb\tpower\tspeed\ttoll\ttype\t;\n"
LINKS = [
    (1, 3, 9, 1, 0.5, 0, 0),  # a connector of zone 1
    (3, 4, 10, 2, 3.0, 0.15, 4),
    (3, 4, 10, 2, 2.0, 0.15, 4),  # parallel, quicker
    (4, 5, 10, 2, 1.0, 0.15, 4),
    (5, 3, 10, 2, 1.5, 1, 1),
    (5, 6, 10, 2, 1.0, 0.15, 4),  # no way back
    (4, 3, 10, 0, 0.0, 0.15, 4),  # no time
]


def write(folder: Path, text: str) -> Path:
    file = folder / "made_net.tntp"
    file.write_text(text, encoding="utf-8")
    return file


def rows(links: list[tuple[float, ...]] = LINKS) -> str:
    return "".join("\t" + "\t".join(map(str, link)) + "\t60\t0\t1\t;\n" for link in links)


def test_streets_leave_out_zones_and_dead_ends(tmp_path: Path) -> None:
    net = read_tntp(write(tmp_path, HEAD + NAMES + rows()))
    assert (net.num_nodes, net.num_zones, net.first_through) == (6, 2, 2)
    graph, link, node = net.streets()
    assert node.tolist() == [2, 3, 4]
    assert graph.tails.tolist() == [0, 1, 2]
    assert graph.indices.tolist() == [1, 2, 0]
    assert graph.lengths.tolist() == [2.0, 1.0, 1.5]
    assert link.tolist() == [2, 3, 4]
    np.testing.assert_allclose(net.times(np.full(7, 10.0))[[2, 4]], [2.3, 3.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from,to\n1,2\n", "is not a TNTP file"),
        ("<NUMBER OF NODES> 3\n<END OF METADATA>\n", "no line <NUMBER OF ZONES>"),
        (HEAD + NAMES, "has no links"),
        (HEAD + NAMES + rows() + "4 5 1 ;\n", "row 14: 3 columns, expected 10"),
        (HEAD + NAMES + rows() + "4 5 1 a 1 1 1 1 1 1 ;\n", "row 14: could not convert"),
        (HEAD + NAMES + rows([(1, 9, 1, 1, 1, 1, 1)]), "link 1 has a node outside 1 to 6"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tntp(write(tmp_path, text))


def test_a_network_of_zones_has_no_streets(tmp_path: Path) -> None:
    net = read_tntp(write(tmp_path, HEAD + NAMES + rows(LINKS[:1])))
    with pytest.raises(InputError, match="no link with a free-flow time"):
        net.streets()
