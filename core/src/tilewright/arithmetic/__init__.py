"""Knows what can be proved about integer arithmetic at compile time. Does not know graphs, kernels or targets."""
