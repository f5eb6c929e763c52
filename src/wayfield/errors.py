"""Errors and warnings, each with the numbers that a caller needs to act on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A setting that a message recommends or rejects.

    Attributes
    ----------
    name : str
        The setting, such as ``"directed"`` or ``"decimal"``.
    value : object
        Value to set; None if any value will do.
    within : str
        Where it is set: ``"columns"``, ``"Style"``, or empty for an argument of the function.
    python : str
        Spelling in Python, if it differs from the rule.

    Examples
    --------
    >>> print(Option("directed", True), Option("decimal", ",", "Style"), Option("x", 1.5))
    directed=True Style(decimal=",") x=1.5
    >>> print(Option("from", within="columns"), Option("oneway", "none", "columns"))
    columns={"from": …} columns={"oneway": "none"}
    """

    name: str
    value: object = None
    within: str = ""
    python: str = ""

    def __str__(self) -> str:
        if self.python:
            return self.python
        value = f'"{self.value}"' if isinstance(self.value, str) else self.value
        if isinstance(self.value, float):
            value = f"{self.value:g}"
        if self.within == "columns":
            return f'columns={{"{self.name}": {"…" if value is None else value}}}'
        if self.within:
            whole = f"{self.within}.{self.name}"
            return whole if value is None else f"{self.within}({self.name}={value})"
        return self.name if value is None else f"{self.name}={value}"


class Message(str):
    """Text that names options in Python's spelling; `render` spells them another way.

    Examples
    --------
    >>> message = Message("every row is an arc by ", Option("directed", True))
    >>> print(message)
    every row is an arc by directed=True
    >>> message.render(lambda option: f"--{option.name}")
    'every row is an arc by --directed'
    """

    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: str | Option) -> Message:
        """Join the parts; messages among them keep their parts."""
        flat: list[str | Option] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Message) else [part])
        message = super().__new__(cls, "".join(map(str, flat)))
        message.parts = tuple(flat)
        return message

    def render(self, spell: Callable[[Option], str]) -> str:
        """Return the text, with each option spelt by a function."""
        return "".join(spell(part) if isinstance(part, Option) else part for part in self.parts)

    def __reduce__(self) -> tuple[type[Message], tuple[str | Option, ...]]:
        return Message, self.parts


class WayfieldError(Exception):
    """Base class of all errors that this library raises on purpose.

    Examples
    --------
    >>> import wayfield as wf
    >>> try:
    ...     wf.Labels([0], [float("nan")])
    ... except wf.WayfieldError as error:
    ...     print(error)
    label values[0] = nan is not a finite number
    """


class InputError(WayfieldError, ValueError):
    """Invalid input; the message names the offending value and its position.

    Parameters
    ----------
    *parts : str or Option
        The message. Options in it are spelt as in Python. `options` lists them, so that a command
        line can name its own flags instead.

    Examples
    --------
    >>> import wayfield as wf
    >>> wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, -2.0])
    Traceback (most recent call last):
    wayfield.errors.InputError: lengths[1] = -2.0 is not positive
    """

    def __init__(self, *parts: str | Option) -> None:
        super().__init__(Message(*parts))

    @property
    def message(self) -> Message:
        """The message, with its options kept separate."""
        message: Message = self.args[0]
        return message

    @property
    def options(self) -> tuple[Option, ...]:
        """Options that the message names, each with its `name` and `value`."""
        return tuple(part for part in self.message.parts if isinstance(part, Option))


class NotConverged(WayfieldError):  # noqa: N818  (a state of affairs, named as users read it)
    """A solver ended without the guarantee it was asked for.

    Attributes
    ----------
    status : str
        Why the solver stopped.
    residual : float
        Residual of the field at the stop, in the method's own measure.
    width : float
        Largest width of the bracket around the exact values, ``inf`` if there is none.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("large"), refinement=4)
    >>> labels = wf.sample_labels(maze, goal=0, fraction=0.02)
    >>> try:
    ...     wf.extend(maze, labels, wf.PLaplacian(16, max_steps=1))
    ... except wf.NotConverged as error:
    ...     print(error.status)
    the cap on iterations ran out
    """

    def __init__(self, status: str, residual: float, width: float) -> None:
        super().__init__(
            f"{status} (residual {residual:.3g}, bracket width {width:.3g}); "
            "pass check=False to get the unconverged field"
        )
        self.status = status
        self.residual = residual
        self.width = width

    def __reduce__(self) -> tuple[type[NotConverged], tuple[str, float, float]]:
        return type(self), (self.status, self.residual, self.width)


class OutOfTime(NotConverged):
    """A solver was stopped by a time limit; there is no field.

    Attributes
    ----------
    seconds : float
        The limit.

    Examples
    --------
    >>> print(OutOfTime(60.0))
    the time limit of 60 s ran out
    """

    def __init__(self, seconds: float) -> None:
        status = f"the time limit of {seconds:g} s ran out"
        super().__init__(status, float("inf"), float("inf"))
        self.args = (status,)
        self.seconds = seconds

    def __reduce__(self) -> tuple[type[OutOfTime], tuple[float]]:  # type: ignore[override]
        return type(self), (self.seconds,)


class InputWarning(UserWarning):
    """Input was accepted, but part of it was not used; the message says which part.

    Examples
    --------
    >>> import warnings
    >>> import wayfield as wf
    >>> with warnings.catch_warnings(record=True, category=wf.InputWarning) as caught:
    ...     warnings.simplefilter("always")
    ...     graph = wf.Graph.from_edges([0, 1, 1], [1, 1, 2])
    >>> str(caught[0].message)
    '1 self-loop dropped'
    """


class TrustWarning(UserWarning):
    """A planner failed its test on held-out data, but was asked for a probability."""
