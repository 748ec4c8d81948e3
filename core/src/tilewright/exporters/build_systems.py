"""Knows the core's own exporters: which files each adds, and where. The texts are Mako templates beside it.
Does not know what the generated code computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.exporters.arduino import library_files
from tilewright.exporters.bench_firmware import bench
from tilewright.exporters.board_project import project
from tilewright.exporters.misra import misra
from tilewright.exporters.platformio import library_manifest
from tilewright.exporters.texts import render
from tilewright.plugins.offers import Exporter

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Allocated, Artifact

CMAKE_FILE = "CMakeLists.txt"


def cmake(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`CMakeLists.txt`, as generated beside the sources."""
    return {CMAKE_FILE: artifact.files[CMAKE_FILE]}


def make(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`Makefile`: GNU make, a static library from the sources beside it."""
    return {"Makefile": _render("makefile.mako", artifact)}


def zephyr(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """A Zephyr module around the sources: the folder is what EXTRA_ZEPHYR_MODULES names."""
    return {
        "zephyr/module.yml": _render("zephyr_module.mako", artifact),
        "zephyr/CMakeLists.txt": _render("zephyr_cmake.mako", artifact),
        "zephyr/Kconfig": _render("zephyr_kconfig.mako", artifact),
    }


def platformio(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`library.json`: the folder is a PlatformIO library; only the sources named in it are built."""
    return {"library.json": library_manifest(artifact)}


def arduino(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """A library of its own in `arduino/PREFIX`."""
    root = f"arduino/{artifact.prefix}"
    return {f"{root}/{name}": content for name, content in library_files(artifact).items()}


def esp_idf(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """A component in `esp-idf/PREFIX` around the sources: EXTRA_COMPONENT_DIRS names `esp-idf`."""
    return {f"esp-idf/{artifact.prefix}/{CMAKE_FILE}": _render("esp_idf_cmake.mako", artifact)}


def cmsis_pack(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`VENDOR.NAME.pdsc`: the folder is a CMSIS-Pack (schema 1.7.28) with one component."""
    name = f"{artifact.package.vendor}.{artifact.package.name or artifact.prefix}.pdsc"
    return {name: _render("cmsis_pack.mako", artifact)}


EXPORTERS = (
    Exporter(name="cmake", summary="CMakeLists.txt: a static library for add_subdirectory", files=cmake),
    Exporter(name="make", summary="Makefile: a static library with GNU make", files=make),
    Exporter(name="zephyr", summary="a Zephyr module: module.yml, CMakeLists.txt, Kconfig", files=zephyr),
    Exporter(name="platformio", summary="library.json: a PlatformIO library", files=platformio),
    Exporter(name="arduino", summary="an Arduino library with an example sketch, below arduino/", files=arduino),
    Exporter(name="esp-idf", summary="an ESP-IDF component, below esp-idf/", files=esp_idf),
    Exporter(name="project", summary="a program for the tools of the board that --board names", files=project),
    Exporter(name="bench", summary="PREFIX_bench.c: answers `bench --on serial:PORT` from a board", files=bench),
    Exporter(name="misra", summary="PREFIX_misra.md: rules of MISRA C:2012 that the code deviates from", files=misra),
    Exporter(name="cmsis-pack", summary="VENDOR.NAME.pdsc: the folder is a CMSIS-Pack", files=cmsis_pack),
)


def _render(name: str, artifact: Artifact) -> bytes:
    return render(name, artifact).encode("ascii")
