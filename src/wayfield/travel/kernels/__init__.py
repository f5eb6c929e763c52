"""Compiled loops of travel times: arrays in, arrays out."""
