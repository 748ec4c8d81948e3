"""Knows the plan id, which tells generated code that a constants blob was made for it, and the digest of a plan, which
tells plans apart. Does not know how anything is placed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tilewright.ir.plans.stages import Allocated, Placement, Tiled


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


def plan_digest(plan: Allocated, version: str) -> bytes:
    """8 bytes over what is computed where: steps, kernels, buffers and their places, constants, and the version."""
    tiled = plan.tiled
    bindings = tiled.scheduled.bound.bindings
    digest = hashlib.sha256(f"tilewright plan 1 {version} {plan.plan_id}\n".encode())
    for step in tiled.scheduled.steps:
        digest.update(f"{(step.name, bindings[step.name].kernel.name)!r}\n".encode())
    for name in sorted(plan.placements):
        place = plan.placements[name]
        digest.update(f"{(name, place.memory, place.offset_bytes)!r}\n".encode())
    return digest.digest()[:8]
