"""Greedy plans, lifted fields, and labels that stop walks."""
