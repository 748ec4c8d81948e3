"""Platforms and kernels."""
