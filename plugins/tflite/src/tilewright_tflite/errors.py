"""Knows how an operator is refused. Does not know any operator."""

from __future__ import annotations


class RefusedError(Exception):
    """An operator that cannot be taken, and why. All of a model are shown together."""


class InnerError(RefusedError):
    """The same of an operator with a body, because of one in there."""


class LostError(RefusedError):
    """An operator behind one that was refused: nothing is known about it."""
