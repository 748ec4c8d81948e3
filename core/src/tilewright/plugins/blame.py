"""Knows whose function raised an error that nobody expected: the last one on the way there that a plugin brought.
Does not know what the functions are for.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from types import FrameType

from tilewright.errors import TilewrightError, plugin_error
from tilewright.plugins.catalogue import Package
from tilewright.plugins.faults import one_line
from tilewright.plugins.kinds import CORE

_CALLS = 6  # shown of the way through the package


def plugin_failure(error: BaseException, packages: Iterable[Package]) -> TilewrightError | None:
    """`error` as one that names package, function and line (TW8061, exit 8); None where no plugin took part."""
    others = [package for package in packages if package.name != CORE]
    owners = {_root(offer.reference): package for package in others for offer in package.offers}
    calls = [(_owner(frame, owners), frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    last = next((owner for owner, _, _ in reversed(calls) if owner is not None), None)
    if last is None:
        return None
    places = [f"{_place(frame, line)} in {frame.f_code.co_qualname}" for owner, frame, line in calls if owner is last]
    place, function = places[-1].split(" in ", 1)
    return plugin_error(
        "TW8061",
        f"plugin {last.name} {last.version} failed in its function '{function}': {one_line(error)}",
        where=place,
        details=tuple(f"called at {place}" for place in places[-1 - _CALLS : -1]),
        fix=(f"report it to the author of {last.name}, with these lines and the model",),
    )


def _owner(frame: FrameType, owners: dict[str, Package]) -> Package | None:
    return owners.get(_root(str(frame.f_globals.get("__name__", ""))))


def _root(module: str) -> str:
    return module.split(":", 1)[0].split(".", 1)[0]


def _place(frame: FrameType, line: int) -> str:
    """File and line, the file from the folder of its package on."""
    parts = frame.f_code.co_filename.replace("\\", "/").split("/")
    depth = str(frame.f_globals.get("__name__", "")).count(".") + 1
    return f"{'/'.join(parts[-depth:])}:{line}"
