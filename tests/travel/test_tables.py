"""Tables of trips."""

from __future__ import annotations

from pathlib import Path

import pytest

import wayfield as wf
from wayfield import Names
from wayfield.travel.tables import read_trips

HEADINGS = (
    "Nr;von;nach;Minuten",
    "Fahrt;Start;Ziel;Fahrzeit (min)",
    "id;origen;destino;duración",
    "no;départ;arrivée;durée (min)",
    "nr;van;naar;reistijd",
    "$ODPAIR:NO;ORIGZONENO;DESTZONENO;TTC",
    "trip_id;from_stop_id;to_stop_id;min_transfer_time",
    "row;Origin;Destination;Travel time",
    "OBJECTID;I_Node;J_Node;Time",
    "n;partenza;arrivo;minuti",
    ";U;V;Seconds",
    "Index;FromNode;ToNode;Cost",
)


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_of_other_tools_and_languages(heading: str, tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b"])
    rows = [f"{i};a;b;{time}" for i, time in enumerate((7.5, 3.0, 4.0, 9.0), 1)]
    file.write_text("\n".join([heading, *rows]), encoding="utf-8")
    found = read_trips(file, names)
    assert (found.starts.tolist(), found.ends.tolist()) == ([0] * 4, [1] * 4)
    assert found.times.tolist() == [7.5, 3.0, 4.0, 9.0]


def test_numbers_of_rows_come_before_trips_without_a_header(tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b", "c"])
    file.write_text("1;a;b;7.5\n2;b;a;3.0\n3;a;c;4.0\n", encoding="utf-8")
    assert read_trips(file, names).starts.tolist() == [0, 1, 0]


@pytest.mark.parametrize("heading", ["dist", "dist_km", "speed_kmh", "Geschwindigkeit"])
def test_distances_and_speeds_are_no_times(heading: str, tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b"])
    file.write_text(f"from,to,{heading},travel\na,b,30,7\nb,a,40,8.5\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=f"'{heading}' seems to hold distances or speeds"):
        read_trips(file, names)
    assert read_trips(file, names, {"cost": "travel"}).times.tolist() == [7, 8.5]


def test_numbers_of_rows_are_no_times(tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b"])
    file.write_text("Nr,from,to,note\n1,a,b,x\n2,b,a,y\n3,a,b,z\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"column 'note'|numbers the rows"):
        read_trips(file, names)
    file.write_text("time,from,to\n1,a,b\n2,b,a\n3,a,b\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match="column 'time' numbers the rows"):
        read_trips(file, names)
    assert read_trips(file, names, {"cost": "time"}).times.tolist() == [1, 2, 3]
    file.write_text("time,from,to\n1,a,b\n2,b,a\n4,a,b\n", encoding="utf-8")
    assert read_trips(file, names).times.tolist() == [1, 2, 4]


def test_durations(tmp_path: Path) -> None:
    file, names = tmp_path / "trips.csv", Names(["a", "b"])
    file.write_text("from,to,time\na,b,0:06:36\nb,a,1:00:00\n", encoding="utf-8")
    found = read_trips(file, names)
    assert found.times.tolist() == pytest.approx([6.6, 60.0])
    assert found.unit == "minutes"
    assert found.notes == (f"{file}: column 'time' is h:mm:ss, read in minutes",)
    file.write_text("from,to,time\na,b,6:36\n", encoding="utf-8")
    with pytest.raises(wf.InputError, match=r"may be hours and minutes or minutes and sec"):
        read_trips(file, names)


@pytest.mark.parametrize(
    "heading",
    [
        "start_time,end_time,start,end,minutes",
        "start_lat,end_lat,start_station_id,end_station_id,time",
        "departure_time,arrival_time,from,to,travel_time",
        "time_of_day,time_zone,from,to,time_needed",
    ],
)
def test_times_of_day_and_positions_are_neither_costs_nor_ends(
    heading: str, tmp_path: Path
) -> None:
    file = tmp_path / "trips.csv"
    file.write_text(heading + "\n3,4,1,2,5\n4,3,2,1,6\n", encoding="utf-8")
    trips = read_trips(file, Names(["1", "2", "3", "4"]))
    assert trips.times.tolist() == [5.0, 6.0]
    assert trips.starts.tolist() == [0, 1]
