"""The manifest of a PlatformIO library: what is built, and nothing that nobody said."""

from __future__ import annotations

import json
from typing import Any

from tilewright.exporters.platformio import library_manifest


def test_only_the_sources_of_the_network_are_built(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    manifest = json.loads(library_manifest(artifact))
    assert manifest["build"]["srcFilter"] == ["-<*>", *(f"+<{name}>" for name in artifact.sources)]
    assert (manifest["name"], manifest["version"]) == ("toy", "0.0.0")
    assert not {"license", "homepage"} & manifest.keys()
