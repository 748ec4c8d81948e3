"""Knows which files the exporters `siracusa` and `pmsis` add beside the generated C.
Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from tilewright.api import usage_error
from tilewright.api.exporter import Exporter
from tilewright.api.runner import Job, make_harness
from tilewright_siracusa.baremetal import C_FILES, SCRIPT, linker_script, runtime_files, team_macros, text

if TYPE_CHECKING:
    from tilewright.api.platform import Platform
    from tilewright.api.stages import Allocated, Artifact

NAME = "siracusa"


def bare_machine(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`siracusa/`: runtime, linker script, a first program, and a Makefile for gcc and for zig.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    platform = _demand_target(plan, "siracusa")
    prefix = _prefix(artifact)
    selftest = f"{prefix}_selftest.c" in artifact.files
    main = _selftest(prefix) if selftest else _first_program(plan, artifact, prefix)
    names = {
        "prefix": prefix,
        "network": " ".join(_sources(artifact, prefix)),
        "runtime": " ".join(C_FILES),
        "macros": " ".join(team_macros(platform)),
        "script": SCRIPT,
    }
    return {
        f"{NAME}/Makefile": Template(text("siracusa.mk")).substitute(names).encode("ascii"),
        f"{NAME}/{SCRIPT}": linker_script(platform).encode("ascii"),
        f"{NAME}/main.c": main.encode("ascii"),
        **{f"{NAME}/runtime/{name}": content for name, content in runtime_files().items()},
    }


def pmsis(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`pmsis/`: `tw_rt` over the PULP SDK, for an application of its own.

    TilewrightError TW8041 (exit 2) where the plan is for another target.
    """
    _demand_target(plan, "pmsis")
    home = files("tilewright_siracusa") / "runtime" / "pmsis"
    return {f"pmsis/{name}": (home / name).read_bytes() for name in ("tw_rt_pmsis.c", "tw_rt_pmsis.h")}


def _demand_target(plan: Allocated, exporter: str) -> Platform:
    platform = plan.tiled.scheduled.bound.platform
    if not platform.runs(NAME):
        raise usage_error(
            "TW8041",
            f"exporter '{exporter}' is for target '{NAME}', not '{platform.name}'",
            fix=(f"--target {NAME}", f"leave {exporter} out of --emit"),
        )
    return platform


def _prefix(artifact: Artifact) -> str:
    shared = ("tw_runtime.h", "tw_rt.h")
    (header,) = (name for name in artifact.files if name.endswith(".h") and name not in shared)
    return header.removesuffix(".h")


def _sources(artifact: Artifact, prefix: str) -> list[str]:
    left_out = (f"{prefix}_simple.c", f"{prefix}_selftest.c")
    return sorted(name for name in artifact.files if name.endswith((".c", ".S")) and name not in left_out)


def _selftest(prefix: str) -> str:
    return Template(text("selftest.c")).substitute(prefix=prefix)


def _first_program(plan: Allocated, artifact: Artifact, prefix: str) -> str:
    far = [memory.name for memory in plan.tiled.scheduled.bound.platform.memories if "none" in memory.access.values()]
    job = Job(artifact=artifact, plan=plan, prefix=prefix, input_sets=())
    return make_harness(job, text("first.mako"), far=far).main


EXPORTERS = (
    Exporter(
        name="siracusa",
        summary="a program for the bare machine, below siracusa/: Makefile, runtime",
        files=bare_machine,
    ),
    Exporter(name="pmsis", summary="the runtime for the PULP SDK, below pmsis/", files=pmsis),
)
