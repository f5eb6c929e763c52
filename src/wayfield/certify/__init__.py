"""When may a greedy plan be trusted? What the field itself proves, without the truth."""

from .fill import FillCertificate
from .gaps import Certificate, certify

__all__ = ["Certificate", "FillCertificate", "certify"]
