# The names of this room, listed once: `__init__.py` reads this file at run time.
from .distance import DistanceCertificate as DistanceCertificate
from .gaps import Certificate as Certificate
from .gaps import certify as certify
