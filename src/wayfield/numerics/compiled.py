"""Numba's `njit`, with a cache of compiled kernels that never causes an error.

Numba keeps compiled code in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache folder.
Five things are different here:

- If none of these folders is writable, or the disk is full, kernels are not kept. Numba would raise
  an error.
- A cached kernel that cannot be loaded is compiled again. It may come from an earlier version, with
  a named tuple that has been renamed since. Numba would raise an error.
- A kernel is recompiled if a module of a kernel that it calls has changed. Numba checks only the
  file that holds the kernel. It would run old code of the kernels that it calls.
- A kernel that calls another with a constant, or with an entry of a 32-bit array, uses its 64-bit
  version. Numba would compile it again for that constant or width.
- A kernel treats read-only arrays like writable ones. Numba would compile it again for every
  combination of the two. A kernel that writes to a read-only array is therefore noticed only by the
  tests that run kernels as plain Python.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

_lost: list[str] = []
"""Why kernels are not kept, for each that is not."""


def dispatcher(
    function: Callable[..., Any],
    cache: bool,
    options: dict[str, Any],
    on_compiling: list[Callable[[], object]],
) -> Any:
    """Return what compiles a function for each type of arguments, and calls the result.

    The functions in `on_compiling` are called whenever Numba begins to compile any function.
    """
    _beginning.calls = on_compiling
    made: Any = numba.njit(**options)(function)
    made.__class__ = _Dispatcher
    if cache:
        try:
            made._cache = _Cache(function)
        except RuntimeError:  # there is no place for it
            _lost.append("no folder for them can be written")
    return made


class _Dispatcher(CPUDispatcher):
    """A kernel in which Ctrl-C raises `KeyboardInterrupt`, also while arrays are returned.

    Returning arrays runs Python code, which may raise it. Python then finds both a result and an
    exception, and turns them into a `SystemError`.
    """

    def __call__(self, *given: Any, **named: Any) -> Any:
        try:
            return super().__call__(*given, **named)
        except SystemError as error:
            cause: BaseException | None = error
            while isinstance(cause, SystemError):
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            raise

    @functools.cached_property
    def is_kept(self) -> bool:
        """Whether an earlier process has compiled the kernel, or this one before now."""
        file = getattr(self._cache, "_cache_file", None)  # type: ignore[attr-defined]
        try:
            return file is not None and bool(file._load_index())
        except Exception:  # unpickling may raise anything
            return False

    def compile(self, sig: Any) -> Any:
        """Return the version for these types of arguments, with all arrays taken as writable."""
        given, returned = normalize_signature(sig)
        general = tuple(map(_writable, given))
        version = super().compile(general if returned is None else returned(*general))
        if general != given:  # so that the next call finds it at once
            register: Any = self._insert  # type: ignore[attr-defined]
            register([each._code for each in given], version, False)
        return version

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Choose the signature for a call by another kernel: no literals, 64-bit integers."""

        def general(each: Any) -> Any:
            return types.int64 if each in (types.int32, types.uint32) else types.unliteral(each)

        return super().get_call_template(
            tuple(map(general, args)), {name: general(each) for name, each in kws.items()}
        )


def _writable(kind: Any) -> Any:
    """Return the type of an argument with all arrays in it writable."""
    if isinstance(kind, types.Array):
        return kind.copy(readonly=False)
    parts = getattr(kind, "types", None) if isinstance(kind, types.BaseTuple) else None
    if parts is not None:
        named = getattr(kind, "instance_class", None)
        return types.BaseTuple.from_types([_writable(each) for each in parts], named)
    return kind


def shortfall() -> str:
    """Return why compiled kernels are not kept; empty if they are."""
    not_kept = "compiled kernels are not kept, so that every start compiles them anew"
    return f"{not_kept}: {_lost[0]}" if _lost else ""


class _Beginning(event.Listener):
    calls: list[Callable[[], object]]

    def on_start(self, _: Any) -> None:
        for call in self.calls:
            call()

    def on_end(self, _: Any) -> None:
        pass


_beginning = _Beginning()
_beginning.calls = []
event.register("numba:compile", _beginning)


class _Cache(FunctionCache):
    """Numba's cache, with a stamp of all modules that a kernel depends on, and without errors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = _digest(function.__module__)

    def load_overload(self, *wanted: Any) -> Any:
        try:
            return super().load_overload(*wanted)
        except Exception:  # unpickling may raise anything
            self._guarded(self.flush)
            return None

    def save_overload(self, *compiled: Any) -> None:
        self._guarded(super().save_overload, *compiled)

    def _guarded(self, act: Callable[..., object], *given: Any) -> None:
        try:
            act(*given)
        except OSError as error:
            self.disable()
            _lost.append(f"{self.cache_path}: {error.strerror}")


@functools.cache
def _digest(module: str) -> str:
    """Return a digest of a module's source and of the kernel modules that it imports."""
    home = sys.modules[module]
    source = Path(str(home.__file__)).read_bytes()
    digest = sha256(source)
    for name in re.findall(rb"^from (\.[\w.]*|wayfield\.[\w.]*) import", source, re.MULTILINE):
        digest.update(_digest(resolve_name(name.decode(), home.__package__)).encode())
    return digest.hexdigest()
