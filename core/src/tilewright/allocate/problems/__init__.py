"""Allocation problems: normal form, parts, files."""
