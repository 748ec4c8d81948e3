"""Runners execute an artifact and return outputs, counts, and what kind of counts they are."""
