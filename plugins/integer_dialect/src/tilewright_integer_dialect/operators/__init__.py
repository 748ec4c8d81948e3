"""Knows the operators that exist in this dialect alone, and portable C for them."""
