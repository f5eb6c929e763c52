"""Every benchmark in turn: ``python -m benchmarks``, or ``make bench``."""

from __future__ import annotations

from benchmarks import amle, audit, buffer_planner, many, planner, plaplacian, replay

if __name__ == "__main__":
    amle.main([100_000, 1_000_000])
    many.main(512)
    planner.main(1000)
    audit.main()
    plaplacian.ratios()
    plaplacian.grid(334, 16.0)
    replay.main([1_000_000])
    buffer_planner.main(1_000_000)
