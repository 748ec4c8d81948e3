"""The `lower` stage: from an Allocated to a Program."""

from tilewright.lower.stage import lower

__all__ = ["lower"]
