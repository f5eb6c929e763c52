"""Compiled loops of decision processes: arrays in, arrays out."""
