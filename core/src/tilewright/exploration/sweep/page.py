"""Knows the page that shows a sweep: one file that loads nothing. Its text is in `page.mako`, its looks in `page.css`,
its behaviour in `page.js`. Does not know how points are worked out.
"""

from __future__ import annotations

import json
from importlib.resources import files

from tilewright import __version__
from tilewright.c_text.templates import template
from tilewright.exploration.sweep.sweep import Sweep
from tilewright.exploration.sweep.tables import flat

MEASURES = {"ram_bytes": "RAM", "flash_bytes": "flash", "cycles": "estimated cycles", "drift_steps": "drift"}


def sweep_page(sweep: Sweep) -> str:
    """A scatter plot of two measures, filters for every axis, and the points in a table with what to type."""
    folder = files("tilewright.exploration.sweep")
    page = template(folder.joinpath("page.mako").read_text("utf-8"), html=True)
    filters = ["model", "target", *(axis.name for axis in sweep.axes if axis.name != "target")]
    data = {"rows": [flat(row) for row in sweep.rows], "filters": filters, "measures": MEASURES}
    return str(
        page.render(
            style=files("tilewright.report").joinpath("page.css").read_text("utf-8")
            + folder.joinpath("page.css").read_text("utf-8"),
            script=folder.joinpath("page.js").read_text("utf-8"),
            data=json.dumps(data, sort_keys=True).replace("<", "\\u003c"),
            points=len(sweep.rows),
            fit=sum(row["fits"] for row in sweep.rows),
            version=__version__,
        )
    )
