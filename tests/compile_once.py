"""Compile each kernel in one process: others that need it wait, and then load it from the cache.

The workers of a test run need the same kernels at about the same time. Without this, each
would compile them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

from wayfield.numerics import compiled


def install() -> None:
    """Compile all kernels of this process under a lock that is shared by processes."""
    if sys.platform == "win32":  # it has no such locks
        return
    import fcntl

    plain, held = compiled._Dispatcher.compile, set[str]()
    folder = Path(tempfile.gettempdir(), f"wayfield-test-locks-{os.getuid()}")
    folder.mkdir(exist_ok=True)

    def compile_alone(self: Any, sig: Any) -> Any:
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        if name in held:
            return plain(self, sig)
        # threads first, then processes: the other way round, two threads could wait for each other
        with global_compiler_lock, (folder / name).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            held.add(name)
            try:
                return plain(self, sig)
            finally:
                held.discard(name)

    compiled._Dispatcher.compile = compile_alone  # type: ignore[method-assign]
