"""Gemm and MatMul."""
