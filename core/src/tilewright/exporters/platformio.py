"""Knows what makes a folder of sources a PlatformIO library. Does not know projects that use it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Artifact


def _linked(artifact: Artifact) -> list[str]:
    """Of prebuilt libraries, in the folder of the manifest."""
    return ["-L.", *(f"-l:{name}" for name in artifact.libraries)] if artifact.libraries else []


def library_manifest(artifact: Artifact) -> bytes:
    """`library.json`, by which only the sources of the network are built."""
    package = artifact.package
    manifest = {
        "name": package.name or artifact.prefix.replace("_", "-").lower(),
        "version": package.version,
        "description": f"The network {artifact.prefix} as C",
        **({"homepage": package.url} if package.url else {}),
        **({"license": package.licence} if package.licence else {}),
        "frameworks": "*",
        "platforms": "*",
        "headers": f"{artifact.prefix}.h",
        "build": {
            "srcDir": ".",
            "includeDir": ".",
            "srcFilter": ["-<*>", *(f"+<{name}>" for name in artifact.sources)],
            "flags": ["-std=c11", "-ffp-contract=off", *_linked(artifact)],
        },
    }
    return (json.dumps(manifest, indent=2) + "\n").encode("ascii")
