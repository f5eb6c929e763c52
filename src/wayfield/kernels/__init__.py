"""Compiled kernels: arrays in, arrays out, nothing of ours imported."""
