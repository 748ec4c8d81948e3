"""Knows how the files of several exporters come together in one folder, and what they may not do there.
Does not know any exporter.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tilewright.errors import TilewrightError, plugin_error
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.ir.plugin_contract import demand_mapping

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Allocated, Artifact
    from tilewright.plugins.offers import Exporter

REPORTS = ("report.html", "report.json")  # written beside what is exported
ASKED_FOR = "CMakeLists.txt"  # generated beside the sources, written only where an exporter returns it


@with_log_span(INFO, "export: the layouts of build systems")
def export(exporters: Iterable[Exporter], plan: Allocated, artifact: Artifact) -> dict[str, bytes]:
    """The sources and what every exporter makes of them, by path.

    Raises TilewrightError TW8040 (exit 8): an exporter leaves the folder, or writes what somebody else writes. Names
    that differ in capitals only are one, as they are on most desktops.
    """
    files = {name: content for name, content in artifact.files.items() if name != ASKED_FOR}
    owners = {**dict.fromkeys(REPORTS, "the report"), **dict.fromkeys(files, "the generated code")}
    for exporter in exporters:
        made = exporter.files(plan, artifact)
        demand_mapping(made, f"exporter '{exporter.name}'", exporter.files, "files")
        for name, content in sorted(made.items()):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or str(path) != name:
                raise _refused(exporter, name, "it is no plain relative path with forward slashes")
            if files.get(name) != content and (taken := _taken(path, owners)):
                raise _refused(exporter, name, f"another file of that name comes from {owners[taken]}")
            files[name] = content
            owners.setdefault(name, f"exporter '{exporter.name}'")
    return dict(sorted(files.items()))


def _taken(path: PurePosixPath, names: Iterable[str]) -> str | None:
    """The name that stands in the way of a file: its own, that of a folder it is in, or of a file in a folder of its
    name.
    """
    mine = PurePosixPath(str(path).casefold())
    others = ((name, PurePosixPath(name.casefold())) for name in names)
    return next((name for name, other in others if mine.is_relative_to(other) or other.is_relative_to(mine)), None)


def _refused(exporter: Exporter, name: str, reason: str) -> TilewrightError:
    return plugin_error(
        "TW8040",
        f"exporter '{exporter.name}' may not write '{name}'",
        details=(reason,),
        fix=("leave one of the exporters out of --emit, or report it to the author of its package",),
    )
