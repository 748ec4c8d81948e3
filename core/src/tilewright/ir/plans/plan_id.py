"""Knows the plan id: what tells generated code that a constants blob was made for it.
Does not know how constants are placed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tilewright.ir.plans.stages import Placement, Tiled


def plan_id(tiled: Tiled, placements: Mapping[str, Placement]) -> int:
    """32 bits over everything the constants blobs depend on: names, places, sizes and bytes. Never zero."""
    digest = hashlib.sha256(b"tilewright constants 1\n")
    constants = [buffer for buffer in tiled.buffers if buffer.kind == "constant"]
    for buffer in sorted(constants, key=lambda item: item.name):
        place = placements[buffer.name]
        array = tiled.scheduled.bound.constants[buffer.name]
        line = (buffer.name, place.memory, place.offset_bytes, buffer.size_bytes, array.dtype.str, array.shape)
        digest.update(f"{line!r}\n".encode())
        digest.update(array.tobytes())
    return int.from_bytes(digest.digest()[:4], "little") or 1
