"""Networks planned with every combination of some flags: a table, and the points that nothing beats."""
