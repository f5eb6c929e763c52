"""Settings of every test run."""

from __future__ import annotations

from hypothesis import settings

# the first call of a kernel compiles it, which is no test's fault
settings.register_profile("wayfield", deadline=None)
settings.load_profile("wayfield")
