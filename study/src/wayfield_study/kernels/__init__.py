"""Kernels that only the studies use: arrays in, arrays out."""
