"""Knows the files that a report is written to. Does not know what is in a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(value: Any) -> str:
    """JSON as everything here is written: sorted keys, two spaces, a final newline."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def report_files(report: Mapping[str, Any]) -> dict[str, bytes]:
    """`report.json` and the page that shows it."""
    from tilewright.report.drawing.html import report_page

    return {"report.json": json_text(report).encode(), "report.html": report_page(report).encode()}
