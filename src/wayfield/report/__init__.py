"""The report: the paper's figures beside ours, as one page, as data and as tables."""

from .build import write_report
from .claims import Claim, make_claims
from .provenance import Provenance
from .rules import judge

__all__ = ["Claim", "Provenance", "judge", "make_claims", "write_report"]
