"""An independent checker of wayfield's proofs.

It shares no code with wayfield and uses the standard library alone. A proof is a file that
``write_proof`` of a field, a certificate or an answer wrote: a graph, labels, a field with bounds,
perhaps a plan, and what a proof of them needs. `verify` proves all of it again in exact arithmetic,
or says where the proof fails. It believes nothing but the mathematics on wayfield's documentation
page "Proofs that travel", and Python's integers.

On the command line: ``python -m wayfield_verify FILE``.
"""

from __future__ import annotations

import os

from ._field import NotProved, prove_field
from ._file import Unreadable, read
from ._numbers import Numbers
from ._plan import prove_plan

__all__ = ["NotProved", "Unreadable", "verify"]


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Check a proof, and return in sentences what it proves.

    Raises
    ------
    NotProved
        If the proof fails; the message names the first vertex at which it does.
    Unreadable
        If the file is no proof, or not a whole one.
    """
    proof = read(path)
    numbers = Numbers(proof)
    sentences = prove_field(proof, numbers)
    if proof.plan is not None:
        sentences += prove_plan(proof, proof.plan, numbers)
    return sentences
