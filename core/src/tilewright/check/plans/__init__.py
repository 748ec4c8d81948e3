"""Checkers of whole plans: places, bytes, dataflow."""
