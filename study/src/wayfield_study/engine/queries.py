"""Queries over stored results: every experiment is a table of DuckDB, every setting a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayfield.checks import need
from wayfield.errors import WayfieldError

PAIRS = """
CREATE VIEW pairs AS SELECT maze, refinement, label_fraction, label_count, seed, goals, arm, ties,
    generate_subscripts(pair_goal, 1) AS pair, unnest(pair_goal) AS goal,
    unnest(pair_start) AS start, unnest(pair_end) AS ended, unnest(pair_cost) AS cost,
    unnest(pair_least) AS least
FROM rollout
"""
"""One row for every sampled pair and arm; pairs of one number in a cell are the same pair."""


def connect(results: Path | str = "results") -> Any:
    """Return a DuckDB connection with a table for every experiment, and the table ``pairs``.

    ``pairs`` has a row for every sampled pair of the rollouts and every arm: the settings of the
    cell, ``pair`` (its number in the cell), ``goal``, ``start``, how the walk ``ended``, its
    ``cost``, infinite if it does not arrive, and the ``least`` cost.

    Parameters
    ----------
    results : path
        Folder of the results; nothing else can be read through the connection.
    """
    duckdb, path = need("duckdb", "study"), Path(results)
    folders = sorted({each.parent for each in path.glob("*/*.parquet")})
    if not folders:
        raise WayfieldError(f"there are no results in {path} yet")
    connection = duckdb.connect()
    for folder in folders:
        rows = connection.read_parquet(f"{folder}/*.parquet", union_by_name=True)
        rows.create(folder.name)
        if folder.name == "rollout" and "pair_goal" in rows.columns:
            connection.execute(PAIRS)
    connection.execute("SET enable_external_access = false")  # results are only read
    return connection
