"""Tables of trips."""

from __future__ import annotations

from pathlib import Path

import pytest

import wayfield as wf
from wayfield import Names
from wayfield.travel.tables import read_trips


def test_rows_are_counted_from_one_piece_to_the_next(tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b"])
    file.write_text("from,to,cost\n" + "a,b,1\n" * 3000 + "a, ,1\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="row 3002, column 'to': the vertex name is missing"):
        read_trips(file, names)
