"""Where the bytes of operands are, as C expressions."""
