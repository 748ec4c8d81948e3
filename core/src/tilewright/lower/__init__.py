"""The `lower` stage: from an Allocated to a Program."""

from tilewright.lower.lower import lower

__all__ = ["lower"]
