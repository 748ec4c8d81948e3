"""Knows what the nodes of the dialect mean on whole numbers: one module for each kind."""
