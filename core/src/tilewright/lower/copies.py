"""Knows the code that copies constants to another memory: once, in the init function, or before a step uses them.
Does not know what the step does with them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.c_text.rendering import template
from tilewright.errors import usage_error
from tilewright.ir.constant_copies import copies_of, copy_name, copying, path_to
from tilewright.ir.platform import CopyPath
from tilewright.ir.program import Parameter
from tilewright.ir.rounding import align_down
from tilewright.ir.stages import Step
from tilewright.ir.statements import ByteRange, CopyStart, CopyWait, Declare, Statement
from tilewright.lower.addresses import Address, AddressBook

CHANNEL = "tw_channel"


def copies_before(step: Step, book: AddressBook) -> tuple[tuple[Statement, ...], tuple[Parameter, ...]]:
    """What brings the constants of a step where it reads them, and what the step's function must be given for it."""
    bound = book.allocated.tiled.scheduled.bound
    mine = set(bound.bindings[step.name].constants.values())
    body: list[Statement] = []
    parameters: dict[Parameter, None] = {}
    for name, staging in copies_of(book.allocated.decisions, bound.constants):
        if staging.when == "use" and name in mine:
            source, target = book.of_buffer(name), book.of_buffer(copy_name(name, staging, step.name))
            body.extend(_copied(name, copy_name(name, staging, step.name), source, target, book, ("", "")))
            parameters |= {source.parameter: None, target.parameter: None}
    return _with_channel(body), tuple(parameters)


def copies_at_start(book: AddressBook) -> tuple[Statement, ...]:
    """The copies of the init function, which finds pools and constants in its arguments."""
    bound = book.allocated.tiled.scheduled.bound
    body: list[Statement] = []
    for name, staging in copies_of(book.allocated.decisions, bound.constants):
        copy = copy_name(name, staging, "")
        if staging.when == "init" and copy in book.buffers:
            bases = "(const uint8_t *)ctx->constants.", "(uint8_t *)ctx->pools."
            body.extend(_copied(name, copy, book.of_buffer(name), book.of_buffer(copy), book, bases))
    return _with_channel(body)


def _copied(
    name: str, copy: str, source: Address, target: Address, book: AddressBook, bases: tuple[str, str]
) -> Iterator[Statement]:
    """One transfer, or several where the platform's copy takes no more at once."""
    platform, size = book.allocated.tiled.scheduled.bound.platform, book.buffers[copy].size_bytes
    path = path_to(platform, source.where, target.where)
    whole = path is None or size % path.align or source.offset_bytes % path.align or target.offset_bytes % path.align
    if (path is None or whole) and copying(platform, target.where) != "memcpy":
        raise usage_error(
            "TW5033",
            f"constant '{name}' cannot be copied from '{source.where}' to '{target.where}': nothing brings it there",
            fix=("give the target a copy between them, or its first engine access to both",),
        )
    most = size if path is None or whole or path.max_bytes is None else align_down(path.max_bytes, path.align)
    for start in range(0, size, max(most, 1)):
        part = min(most, size - start)
        there, here = _address(target, start, bases[1]), _address(source, start, bases[0])
        text, wait = _transfer(None if whole else path, there, here, part)
        yield CopyStart(
            transfer=copy,
            text=text,
            source=ByteRange(buffer=name, offset_bytes=start, size_bytes=part),
            target=ByteRange(buffer=copy, offset_bytes=start, size_bytes=part),
        )
        if wait:
            yield CopyWait(transfer=copy, text=wait)


def _transfer(path: CopyPath | None, there: str, here: str, size: int) -> tuple[str, str]:
    if path is None:
        return f"memcpy({there}, {here}, {size}u);", ""
    names = {
        "dst": there,
        "src": here,
        "bytes": f"{size}u",
        "rows": "1u",
        "dst_stride": f"{size}u",
        "src_stride": f"{size}u",
        "channel": CHANNEL,
    }
    start, wait = (str(template(text).render(**names)).strip() for text in (path.start, path.wait))
    return start, wait


def _with_channel(body: list[Statement]) -> tuple[Statement, ...]:
    """A variable for transfers that return something to wait for."""
    if any(isinstance(one, CopyStart) and CHANNEL in one.text for one in body):
        return (Declare(type="uint32_t", name=CHANNEL, value="0u"), *body)
    return tuple(body)


def _address(place: Address, start: int, base: str) -> str:
    offset = place.offset_bytes + start
    name = f"{base}{place.parameter.name}"
    return f"{name} + {offset}" if offset else name
