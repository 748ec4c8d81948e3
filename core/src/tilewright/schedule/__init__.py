"""Steps in an order, a buffer for every value, views and in-place pairs."""

from tilewright.schedule.stage import schedule

__all__ = ["schedule"]
