"""Compiled loops of plans: arrays in, arrays out."""
