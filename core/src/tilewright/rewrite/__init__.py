"""Graph passes: pure functions from a Graph to a Graph. Knows no target and no memory."""

from tilewright.operators.arithmetics.known import ARITHMETICS
from tilewright.rewrite.pipeline import PassRecord, Rewritten, rewrite

__all__ = ["ARITHMETICS", "PassRecord", "Rewritten", "rewrite"]
