"""When may a greedy plan be trusted? What the field itself proves, without the truth."""

from .distance import DistanceCertificate
from .gaps import Certificate, certify

__all__ = ["Certificate", "DistanceCertificate", "certify"]
