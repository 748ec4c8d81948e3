"""Knows which operator families the core has: one module each, offering OPERATORS and KERNELS.
Does not know what is in them, nor who offers them to whom.
"""

FAMILIES = ("tilewright.operators.clip",)
