"""What the stages pass on, and decide."""
