"""Passes about quantised islands."""
