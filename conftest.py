"""Where an extra is not installed, the examples that need it are left out."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = {
    ("mujoco", "ogbench", "gymnasium_robotics"): [
        "src/wayfield/plots/_walks.py",
        "src/wayfield/sim/mazes.py",
        "src/wayfield/sim/walking.py",
        "docs/how-to/closed-loop.md",
    ],
    ("jax",): ["src/wayfield/jax.py", "docs/how-to/learn-labels.md"],
}
collect_ignore = [
    path for names, paths in NEEDED.items() if not all(map(find_spec, names)) for path in paths
]
