"""Numbers in text files: what a point and a comma mean is found out, asked or told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield import Names
from wayfield.graphs.tables import Style, read_edges, read_labels, read_positions

DELIMITERS = {";": ";", "tab": "\t", ",": ",", "|": "|"}


def write(folder: Path, cells: list[str], mark: str = ";", header: str = "from,to,km") -> Path:
    file = folder / "edges.csv"
    rows = [f'v{i},v{i + 1},"{cell}"' for i, cell in enumerate(cells)]
    lines = [line.replace(",", mark, 2) for line in (header, *rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def lengths(file: Path, **style: str) -> list[float]:
    read = read_edges(file, style=Style(**style))  # type: ignore[arg-type]
    assert read.lengths is not None
    return read.lengths.tolist()


def complaint(file: Path, **style: str) -> str:
    with pytest.raises(wf.InputError) as caught:
        lengths(file, **style)
    return str(caught.value).removeprefix(str(file))


# ------------------------------------------------------------------ what is clear is read


@pytest.mark.parametrize("mark", DELIMITERS.values(), ids=DELIMITERS)
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.5", "2", "1.234"], [1.5, 2, 1.234]),
        (["1,5", "2", "1,234"], [1.5, 2, 1.234]),
        (["0.125", "12.000"], [0.125, 12]),
        (["1234.567"], [1234.567]),
        ([",5", "1,"], [0.5, 1]),
        (["1.234e3", "+7.000"], [1234, 7]),
        (["1", "1e-3", "2E+2"], [1, 1e-3, 200]),
        ([" 1.25 ", "\u00a02\u00a0"], [1.25, 2]),
    ],
)
def test_numbers_that_can_be_read_in_one_way(
    cells: list[str], expected: list[float], mark: str, tmp_path: Path
) -> None:
    assert lengths(write(tmp_path, cells, mark)) == expected


def test_minus_signs_of_spreadsheets(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("a;−1,5\nb;-2\n", encoding="utf-8")
    labels = read_labels(file, Names(["a", "b"])).labels
    assert labels is not None
    assert labels.values.tolist() == [-1.5, -2.0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.floats(1e-4, 1e9), min_size=1, max_size=6),
    st.sampled_from([".", ","]),
    st.sampled_from([";", "\t"]),
)
def test_decimal_points_and_commas_come_back_when_told(
    tmp_path: Path, numbers: list[float], decimal: str, mark: str
) -> None:
    english = [f"{number:.4f}" for number in numbers]
    assume(all(float(text) > 0 for text in english))
    cells = [text.replace(".", decimal) for text in english]
    expected = [float(text) for text in english]
    assert lengths(write(tmp_path, cells, mark), decimal=decimal) == expected


# ------------------------------------------------------------------ what is in doubt is not


def test_points_and_commas_in_one_column(tmp_path: Path) -> None:
    file = write(tmp_path, ["1.234", "500,5", "12.000"])
    assert complaint(file) == (
        ", column 'km': points and commas: row 2 has 1.234, row 3 has 500,5; "
        "use only one of them, as the decimal mark"
    )


def test_decimal_points_and_decimal_commas_are_not_mixed(tmp_path: Path) -> None:
    file = write(tmp_path, ["1.5", "2,5"])
    assert "points and commas: row 2 has 1.5, row 3 has 2,5" in complaint(file)
    assert "'2,5' is not a number with a decimal point" in complaint(file, decimal=".")


@pytest.mark.parametrize("far", [1, 3000])
def test_a_mark_far_below_counts_as_well(far: int, tmp_path: Path) -> None:
    file = write(tmp_path, ["1.5"] + ["2"] * far + ["1,234"])
    assert f"row 2 has 1.5, row {far + 3} has 1,234" in complaint(file)


@pytest.mark.parametrize("mark", DELIMITERS.values(), ids=DELIMITERS)
def test_commas_before_three_digits_are_in_doubt_everywhere(mark: str, tmp_path: Path) -> None:
    file = write(tmp_path, ["17", "1,234", "12,000"], mark)
    assert complaint(file) == (
        ", row 3, column 'km': 1,234 may be 1.234 or 1234; "
        'pass Style(decimal=",") for the first, write 1234 for the second'
    )
    assert lengths(file, decimal=",") == [17, 1.234, 12]


def test_points_before_three_digits_are_in_doubt_between_semicolons(tmp_path: Path) -> None:
    told = complaint(write(tmp_path, ["1.234", "500", "12.000"]))
    assert told.startswith(", row 2, column 'km': 1.234 may be 1.234 or 1234; pass Style(decimal=")


@pytest.mark.parametrize("mark", [",", "\t", "|"])
def test_points_before_three_digits_are_noted_elsewhere(mark: str, tmp_path: Path) -> None:
    file = write(tmp_path, ["1.234", "500", "12.000"], mark)
    read = read_edges(file)
    assert read.lengths is not None
    assert read.lengths.tolist() == [1.234, 500, 12]
    assert read.notes == (
        f"{file}, column 'km': 1.234 is read as 1.234; write 1234 if that is meant",
    )
    assert read_edges(file, style=Style(decimal=".")).notes == ()


def test_another_column_of_the_file_settles_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    names = Names(["a", "b"])
    file.write_text("name;value;x;y\na;1.234;7.45;0\nb;0;8;46.9\n", encoding="utf-8")
    found = read_labels(file, names).labels
    assert found is not None
    assert found.values.tolist() == [1.234, 0.0]
    file.write_text("name;value;x;y\na;1.234;7,45;0\nb;0;8;46,9\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"row 2, column 'value': 1.234 may be 1.234 or 1234"):
        read_labels(file, names)
    file.write_text('name,value,x,y\na,1.234,"7,45",0\nb,0,8,1\n', encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"row 2, column 'value': 1.234 may be 1.234 or 1234"):
        read_labels(file, names)


def test_positions_are_judged_too(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name;x;y\na;7.450;46.948\nb;8.540;47.378\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"may be 7.45 or 7450; pass Style\(decimal="):
        read_positions(file, Names(["a", "b"]))
    read = read_positions(file, Names(["a", "b"]), style=Style(decimal="."))
    assert np.array_equal(read.positions, [[7.45, 46.948], [8.54, 47.378]])  # type: ignore[arg-type]


# ------------------------------------------------------------------ thousands separators


@pytest.mark.parametrize(
    "cell",
    ["1'234.5", "1’234", "1 234,5", "1\u00a0234", "1\u202f234\u202f567", "1_234", "1.234.567",
     "1,234,567", "1.234,5", "-1,234.5"],
)  # fmt: skip
def test_thousands_separators_are_refused(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(f"a\t{cell}\n", encoding="utf-8")
    hint = "is not a number; remove the thousands separators"
    with pytest.raises(wf.InputError, match=f"row 1, column 2: .*{hint}"):
        read_labels(file, Names(["a"]))


@pytest.mark.parametrize("cell", ["1'23", "12'34'567", "'123", "1234'567", "1''234"])
def test_marks_elsewhere_are_no_thousands_separators(cell: str, tmp_path: Path) -> None:
    assert complaint(write(tmp_path, ["5", cell], "\t")).endswith("is not a number")


@pytest.mark.parametrize("decimal", [";", "1", ""])
def test_marks_that_are_none(decimal: str, tmp_path: Path) -> None:
    assert complaint(write(tmp_path, ["1"]), decimal=decimal).startswith("Style.")


# ------------------------------------------------------------------ not numbers at all


@pytest.mark.parametrize(
    "cell",
    ["12%", "€5", "5 km", "1:30", "2024-01-05", "05/01/2024", "(5)", "5-", "0x10", "１２", "1d5",
     "true", "1,5,5", "1..5", "--5", "e5", "1e", "٣"],
)  # fmt: skip
def test_cells_that_are_no_numbers(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.tsv"
    file.write_text(f"from\tto\tkm\na\tb\t7\na\tc\t{cell}\n", encoding="utf-8")
    assert complaint(file).startswith(f", row 3, column 'km': {cell!r} is not a number")


@pytest.mark.parametrize(
    "cell", ["9" * 100_000, "9," * 50_000, " " * 100_000 + "x", "1" + " " * 9**5 + "x"]
)
def test_cells_of_a_hundred_thousand_characters(cell: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.tsv"
    file.write_text(f"from\tto\tkm\na\tb\t7\n{cell}\tc\t1\na\tc\t{cell}\n", encoding="utf-8")
    assert len(complaint(file)) < 250
