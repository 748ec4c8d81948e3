"""Knows an Arduino library and a sketch that runs its network. Does not know where a library is put."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.exporters.texts import render

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Artifact


def library_files(artifact: Artifact) -> Mapping[str, bytes]:
    """A complete library: copy that folder to the sketchbook's `libraries`.

    Constants are C arrays there: the IDE hands no include path to the assembler. A network without the simple API
    comes without the example sketch. Prebuilt libraries are looked for in a folder by what a board calls `build.mcu`,
    which is what targets of one core are called: others are renamed by hand.
    """
    p = artifact.prefix
    kept = [name for name in (*artifact.sources, *artifact.headers) if name not in artifact.assembled]
    made = {f"src/{name}": artifact.files[name] for name in kept}
    made["library.properties"] = render("arduino_properties.mako", artifact).encode("ascii")
    made |= {f"src/{artifact.target}/{name}": artifact.files[name] for name in artifact.libraries}
    if artifact.assembled:
        made[f"src/{p}_weights.c"] = render("arduino_weights.mako", artifact).encode("ascii")
    if artifact.simple:
        made[f"examples/{p}_run/{p}_run.ino"] = sketch(artifact).encode("ascii")
    return dict(sorted(made.items()))


def sketch(artifact: Artifact) -> str:
    """Runs the network once a second, and prints what it took and what came of it."""
    return render("arduino_sketch.mako", artifact)
