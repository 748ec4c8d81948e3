"""Quantised islands (DequantizeLinear, operator, QuantizeLinear) become integer operators. One family, one module."""
