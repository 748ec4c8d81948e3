"""Knows what parts cost: a file of names and amounts, whose the amounts are. Does not know any price."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from tilewright.errors import TilewrightError, usage_error

_FORM = "write one line for each part or board: stm32f446re,3.20"


def read_costs(file: Path) -> Mapping[str, float]:
    """Name -> amount, in whatever money. A first line without an amount is a head. TilewrightError TW1411 (exit 2)."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _wrong(file, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise _wrong(file, "it is no UTF-8 text") from None
    return dict(_amounts(file, text))


def _amounts(file: Path, text: str) -> Iterator[tuple[str, float]]:
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        if not any(cell.strip() for cell in row):
            continue
        amount = _amount(row[1]) if len(row) > 1 else None
        if amount is not None:
            yield row[0].strip().casefold().replace("_", "-"), amount
        elif number > 1:
            raise _wrong(file, f"line {number} has no name and amount", f"{file}, line {number}")


def _amount(text: str) -> float | None:
    try:
        result = float(text)
    except ValueError:
        return None
    return result if 0 <= result < float("inf") else None


def _wrong(file: Path, reason: str, where: str = "") -> TilewrightError:
    return usage_error("TW1411", f"the costs cannot be read: {reason}", where=where or str(file), fix=(_FORM,))
