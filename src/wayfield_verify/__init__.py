"""An independent checker of wayfield's proofs.

It shares no code with wayfield and uses only the standard library. A proof is a file written by
``write_proof`` of a field, a certificate or an answer. It holds a graph, labels, a field with
bounds, perhaps a plan, and what is needed to prove them. Or it holds a Markov decision process, a
plan, its expected cost and its probability of arrival. `verify` proves all of it again in exact
arithmetic, or says where the proof fails. It relies only on Python's integers and on the
mathematics of wayfield's documentation pages "Proofs that travel", "Proofs of plans" and
"Proofs of expected cost".

On the command line: ``python -m wayfield_verify FILE``.
"""

from __future__ import annotations

import os

from ._chance import prove_process, read_process
from ._field import NotProved, prove_field
from ._file import Unreadable, read_field, sections_of
from ._numbers import Numbers
from ._plan import prove_plan

__all__ = ["NotProved", "Unreadable", "verify"]


def verify(path: str | os.PathLike[str]) -> list[str]:
    """Check a proof, and return what it proves, in sentences.

    Raises
    ------
    NotProved
        If the proof fails; the message names the first vertex or state where it fails.
    Unreadable
        If the file is not a complete proof.
    """
    sections = sections_of(path)
    if sections.has("proc"):
        return prove_process(read_process(sections))
    proof = read_field(sections)
    numbers = Numbers(proof)
    sentences = prove_field(proof, numbers)
    if proof.plan is not None:
        sentences += prove_plan(proof, proof.plan, numbers)
    return sentences
