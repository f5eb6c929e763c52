"""What can go wrong, each with the numbers a caller needs to act on it."""

from __future__ import annotations


class WayfieldError(Exception):
    """Base of every error this library raises on purpose.

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

    Examples
    --------
    >>> import wayfield as wf
    >>> wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, -2.0])
    Traceback (most recent call last):
    wayfield.errors.InputError: lengths[1] = -2.0 is not positive
    """


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
            "pass check=False to have the unconverged field"
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
