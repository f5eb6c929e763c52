"""Settings of every test run of the study: those of the library's tests."""

from __future__ import annotations

from hypothesis import settings

import wayfield.cli  # noqa: F401  (before the study's commands, which it loads)

# The first call of a kernel compiles it, which is no test's fault.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("fresh", deadline=None)
settings.load_profile("steady")
