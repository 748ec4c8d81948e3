"""Passes that recognise quantisation written as arithmetic."""
