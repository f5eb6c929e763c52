"""A bounded cache that threads may share: the least recently used entry goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, made when first asked for; each is made once, whoever asks.

    Examples
    --------
    >>> squares = Kept(lambda number: number**2, most=2)
    >>> squares[3], squares[4], squares[5], len(squares)
    (9, 16, 25, 2)
    """

    def __init__(self, make: Callable[..., Value], most: int) -> None:
        self._make, self._most = make, most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._looking, self._making = Lock(), Lock()

    def __getitem__(self, key: Hashable) -> Value:
        """Return the value of a key, made now if need be."""
        found = self._found(key)
        if found is not None:
            return found
        # one is made at a time, while others can still be looked up
        with self._making:
            found = self._found(key)
            if found is None:
                found = self._make(key)
                with self._looking:
                    self._values[key] = found
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._values)

    def _found(self, key: Hashable) -> Value | None:
        with self._looking:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return None
