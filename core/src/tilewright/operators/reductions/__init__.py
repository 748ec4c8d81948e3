"""Reductions and normalisations."""
