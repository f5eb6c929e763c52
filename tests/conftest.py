"""Settings of every test run."""

from __future__ import annotations

from hypothesis import settings

import wayfield  # noqa: F401  (the package first: doctests of one file would import it twice)

# The first call of a kernel compiles it, which is no test's fault. A run is the same every time;
# ``--hypothesis-profile=fresh`` draws new examples.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=10)
settings.register_profile("fresh", deadline=None)
settings.load_profile("steady")
