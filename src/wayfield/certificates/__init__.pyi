# The names of this room, listed once: `__init__.py` reads this file at run time.
from .audits import Audit as Audit
from .audits import AuditedDecisions as AuditedDecisions
from .audits import audit_decisions as audit_decisions
from .gaps import Certificate as Certificate
from .gaps import certify as certify
from .intervals import Intervals as Intervals
from .intervals import next_labels as next_labels
