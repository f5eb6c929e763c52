"""One explorer for all tests of its page and of its server: starting it takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browsing import serving


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of ``wayfield explore`` as a user starts it."""
    with serving() as found:
        yield found
