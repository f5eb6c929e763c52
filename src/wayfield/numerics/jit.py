"""Kernels: functions that run as plain Python on small problems, and compiled on large ones.

Both give the same results, bit for bit. To import Numba, to load a kernel and to compile one take
longer than to solve a small problem in Python. So a kernel runs uncompiled until its calls, with
the next one, have cost as much as the compiled kernel does: the time to load it if an earlier
process has kept it, else the time to compile it. This never takes much more than twice the time of
the better choice. The cost of a call is predicted from its arguments' entries and earlier calls.

Compiling, and where compiled kernels are kept, is in `compiled`. The context `compiling` overrides
the choice. ``NUMBA_DISABLE_JIT=1`` leaves all kernels as plain Python.

A rule for kernels that Python calls: they return arrays, numbers and plain tuples of these, never a
named tuple. To make a named tuple, Numba looks up its class and calls it, both in Python, without
checking for errors. If Ctrl-C was pressed during the kernel, this raises there, and the process
ends with a segmentation fault. Kernels that are called only by kernels may return named tuples.

A rule for all kernels: copy an array into a part of another by a loop, not by assigning to a slice.
For a slice, Numba also compiles the error message for wrong shapes, which takes four seconds.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
When: TypeAlias = Literal["always", "never"] | None
"""Whether kernels run compiled; None leaves it to each kernel."""

START = 0.05
"""CPU seconds of all uncompiled calls before Numba is imported, which shows what is kept.

The import takes another 0.2 seconds, but few processes that come so far stop soon after.
"""
LOAD = 0.003
"""CPU seconds to load a kernel that was compiled before."""
COMPILE = 0.0004
"""CPU seconds to compile a kernel, per byte of its bytecode and of the kernels that it calls."""
ENTRY = 1e-6
"""CPU seconds of a first call uncompiled, per entry of its arguments."""

on_compiling: list[Callable[[], object]] = []
"""Called whenever Numba begins to compile a kernel."""

choice: ContextVar[When] = ContextVar("choice", default=None)
_spent = 0.0
"""CPU seconds of all uncompiled calls of this process."""
_twins: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
"""The globals of each module of kernels, by their identity, and the same with plain functions."""


def njit(*, cache: bool, allocates: bool = True, **options: Any) -> Callable[[F], F]:
    """Make a function a kernel, with Numba's options; with `cache` it is kept once compiled.

    Pass ``allocates=False`` for a kernel that makes no arrays. It then counts no references to its
    arguments. Each count takes an atomic operation: for a short kernel, most of the cost of a call.
    """
    if not allocates:
        options["_nrt"] = False
    options["no_cfunc_wrapper"] = True  # nothing calls a kernel through one
    plain = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

    def made(function: F) -> F:
        kernel: Any = function if plain else Kernel(function, cache, options)
        return kernel

    return made


@contextmanager
def compiling(when: When) -> Iterator[None]:
    """Run all kernels inside compiled, or none: for timings, and for arrays of rationals."""
    token = choice.set(when)
    try:
        yield
    finally:
        choice.reset(token)


class Kernel:
    """A function that Numba compiles when that pays."""

    def __init__(self, function: Callable[..., Any], cache: bool, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions = function, options
        self.kept = cache
        self.spent, self.entries = 0.0, 0
        self.is_compiled = False

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the compiled kernel if that pays, else the plain function."""
        global _spent
        when = choice.get()
        if when == "always" or (self.is_compiled and when is None):
            return self.dispatcher(*given, **named)
        entries = _entries(given)
        if when is None and _spent + ENTRY * entries > START and self._pays(entries):
            self.is_compiled = True
            return self.dispatcher(*given, **named)
        start = time.thread_time()
        with np.errstate(all="ignore"):  # as in compiled code
            found = self.plain(*given, **named)
        took = time.thread_time() - start
        _spent += took
        self.spent += took
        self.entries += entries
        return _unboxed(found)

    def _pays(self, entries: int) -> bool:
        """Whether the compiled kernel costs less than the next call and those before it."""
        call = entries * (self.spent / self.entries if self.entries else ENTRY)
        if self.spent + call <= LOAD:
            return False
        return self.spent + call > (LOAD if self.dispatcher.is_kept else COMPILE * self.bytecode)

    @functools.cached_property
    def plain(self) -> Callable[..., Any]:
        """The function in plain Python, as are all kernels that it calls."""
        name, twin, own = self.py_func.__name__, _twin(self.py_func.__globals__), self.py_func
        return FunctionType(own.__code__, twin, name, own.__defaults__, own.__closure__)

    @functools.cached_property
    def called(self) -> set[Kernel]:
        """The kernel itself, and those that it calls."""
        of_module = self.py_func.__globals__
        found = {self}
        for name in self.py_func.__code__.co_names:
            if isinstance(of_module.get(name), Kernel):
                found |= of_module[name].called
        return found

    @functools.cached_property
    def bytecode(self) -> int:
        """Bytes of bytecode to compile."""
        return sum(len(each.py_func.__code__.co_code) for each in self.called)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's side of the kernel."""
        from .compiled import dispatcher

        return dispatcher(self.py_func, self.kept, self.targetoptions, on_compiling)

    @property
    def _numba_type_(self) -> Any:
        """What other kernels see of this one while they are compiled."""
        return self.dispatcher._numba_type_


def _twin(home: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of a module with each kernel replaced by its plain function."""
    if id(home) not in _twins:
        twin = home.copy()
        _twins[id(home)] = home, twin  # before the kernels, which look for it
        twin |= {name: each.plain for name, each in home.items() if isinstance(each, Kernel)}
    return _twins[id(home)][1]


def _entries(given: tuple[Any, ...]) -> int:
    """Return the number of entries of all arrays among the arguments."""
    total, left = 1, list(given)
    for each in left:
        if isinstance(each, tuple):
            left += each  # the loop comes to them
        elif isinstance(each, np.ndarray):
            total += each.size
    return total


def _unboxed(found: Any) -> Any:
    """Return numbers of Python in place of NumPy's, as compiled kernels do."""
    if type(found) is tuple:
        return tuple([each.item() if isinstance(each, np.generic) else each for each in found])
    return found.item() if isinstance(found, np.generic) else found
