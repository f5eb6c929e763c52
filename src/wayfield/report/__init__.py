"""The report: one self-contained page with the paper's figures and ours side by side."""

from .build import Provenance, render, write_report

__all__ = ["Provenance", "render", "write_report"]
