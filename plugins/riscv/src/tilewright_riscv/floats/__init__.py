"""Functions of floats for cores with a float unit: what they compute, and the C of any machine that has the loops."""
