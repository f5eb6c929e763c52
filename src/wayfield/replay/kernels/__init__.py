"""Compiled loops of replay buffers: arrays in, arrays out."""
