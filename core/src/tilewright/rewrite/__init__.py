"""Graph passes: pure functions from a Graph to a Graph. Knows no target and no memory."""

from tilewright.rewrite.pipeline import PassRecord, Rewritten, rewrite

__all__ = ["PassRecord", "Rewritten", "rewrite"]
