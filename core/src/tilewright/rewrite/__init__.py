"""Graph passes: pure functions from a Graph to a Graph. Knows no target and no memory."""
