"""Compiled loops of fields: arrays in, arrays out."""
