"""Certificates: what a field proves about its plan, without the truth."""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .audits import Audit as Audit
    from .audits import AuditedDecisions as AuditedDecisions
    from .audits import audit_decisions as audit_decisions
    from .contradiction import Contradictions as Contradictions
    from .contradiction import contradictions as contradictions
    from .gaps import Certificate as Certificate
    from .gaps import certify as certify
    from .held_out import HeldOutAudit as HeldOutAudit
    from .held_out import audit_held_out as audit_held_out
    from .intervals import Intervals as Intervals
    from .intervals import interval_test as interval_test
    from .intervals import next_labels as next_labels

__getattr__, __dir__, __all__ = load_on_use(__name__)
