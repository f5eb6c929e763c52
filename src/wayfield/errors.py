"""What can go wrong, each with the numbers a caller needs to act on it."""

from __future__ import annotations


class WayfieldError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(WayfieldError, ValueError):
    """Invalid input; the message names the offending value and its position."""


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


class InputWarning(UserWarning):
    """Input was accepted, but part of it was not used; the message says which part."""
