"""``python -m wayfield_verify FILE``: 0 if the proof is proved, 1 if not, 2 if unreadable."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import NotProved, Unreadable, verify

USAGE = "usage: python -m wayfield_verify FILE"
HELP = f"""{USAGE}

Prove what a proof of wayfield states, in exact arithmetic and with nothing but the file.
Exit code: 0 if it is proved, 1 if it is not, 2 if the file cannot be read."""


def main(arguments: Sequence[str]) -> int:
    """Check one file, and print what was proved, or why nothing was."""
    if arguments in (["-h"], ["--help"]):
        print(HELP)
        return 0
    if len(arguments) != 1:
        print(USAGE, file=sys.stderr)
        return 2
    path = arguments[0]
    try:
        sentences = verify(path)
    except NotProved as failure:
        print(f"NOT PROVED: {failure}.")
        return 1
    except Unreadable as failure:
        print(f"{path!r} is not a readable proof: {failure}.", file=sys.stderr)
        return 2
    except (OSError, ValueError, MemoryError) as failure:  # ValueError: a null in the name
        reason = getattr(failure, "strerror", None) or str(failure) or "not enough memory"
        print(f"{path!r} cannot be read: {reason}.", file=sys.stderr)
        return 2
    print("PROVED", *sentences, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
