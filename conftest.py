"""Where the extra ``sim`` is not installed, the examples that need it are left out."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("mujoco", "ogbench", "gymnasium_robotics")
collect_ignore = (
    []
    if all(find_spec(name) for name in NEEDED)
    else [
        "src/wayfield/plots/_walks.py",
        "src/wayfield/sim/mazes.py",
        "src/wayfield/sim/walking.py",
        "docs/how-to/closed-loop.md",
    ]
)
