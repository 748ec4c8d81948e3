"""Steps in an order, a buffer for every value, views and in-place pairs."""

from tilewright.schedule.schedule import schedule

__all__ = ["schedule"]
