"""How decisions are found: proposals, other kernels where memory is short, and what to try when nothing fits."""
