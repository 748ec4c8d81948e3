"""Quantised islands (DequantizeLinear, operator, QuantizeLinear) become integer operators, family by family."""
