"""C as values: statements, expressions, programs."""
