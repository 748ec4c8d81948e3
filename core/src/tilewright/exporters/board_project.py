"""Knows the exporter `project`: a program around a network for the tools that a board is built with.
Does not know any board: what tools call it comes with it (`Board.tools`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tilewright.errors import typed, unsupported_error
from tilewright.exporters.arduino import library_files, sketch
from tilewright.exporters.platformio import library_manifest
from tilewright.exporters.texts import render

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Allocated, Artifact

ROOT = "project"
HERE = "${CMAKE_CURRENT_LIST_DIR}"
SKETCH = "arduino"  # among the frameworks of PlatformIO; the others begin at `main`


def project(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`project/TOOL/`: for every tool that has a name for the board. TilewrightError TW1431 (exit 4): there is none."""
    board = artifact.board
    tools = board.tools if board else {}
    made: dict[str, str | bytes] = {}
    for tool, write in TOOLS.items():
        if tool in tools and (tool != "platformio" or "platformio-platform" in tools):
            made |= {f"{ROOT}/{tool}/{name}": text for name, text in write(artifact, tools).items()}
    if not made or not artifact.simple:
        reason = "no board was named that tools have a name for" if not made else "the network has no simple function"
        fix = (
            typed("tilewright", "boards", gives="lists boards by name; --board NAME brings what tools call it"),
            typed("--emit", "make", gives="and others write a library for projects of your own"),
        )
        raise unsupported_error("TW1431", f"no project can be written: {reason}", fix=fix)
    files = {name: text.encode("ascii") if isinstance(text, str) else text for name, text in sorted(made.items())}
    needed = {"library.json": library_manifest(artifact)} if f"{ROOT}/platformio/platformio.ini" in made else {}
    return files | needed


def _zephyr(artifact: Artifact, tools: Mapping[str, str]) -> Mapping[str, str]:
    build = f"west build -b {tools['zephyr']} project/zephyr"
    return {
        "CMakeLists.txt": (
            f"# {build}\n"
            "cmake_minimum_required(VERSION 3.20)\n"
            "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"
            f"project({artifact.prefix}_app LANGUAGES C{_assembler(artifact)})\n"
            f"target_sources(app PRIVATE src/main.c {_sources(artifact)})\n"
            f'target_include_directories(app PRIVATE "{HERE}/../..")\n'
            f"{_linked(artifact, 'app')}"
            f"{_sections(artifact, 'zephyr')}"
            f"{_contract(artifact)}"
        ),
        "prj.conf": "CONFIG_STDOUT_CONSOLE=y\nCONFIG_MAIN_STACK_SIZE=8192\n",
        "Kconfig": 'config FPU\n\tdefault y if CPU_HAS_FPU\n\nsource "Kconfig.zephyr"\n',
        "src/main.c": _main(artifact, "int main(void)", "\n    return 0;"),
    }


def _platformio(artifact: Artifact, tools: Mapping[str, str]) -> Mapping[str, str]:
    frameworks = tools["platformio-frameworks"].split(", ")
    framework = SKETCH if SKETCH in frameworks else frameworks[0]
    main = {"src/main.c": _main(artifact, "int main(void)", "\n    return 0;")}
    if framework == SKETCH:
        main = {"src/main.cpp": _sketch(artifact)}
    return {
        "platformio.ini": (
            f"; pio run -d project/platformio -t upload; frameworks of this board: {', '.join(frameworks)}\n"
            f"[env:{tools['platformio']}]\n"
            f"platform = {tools['platformio-platform']}\n"
            f"board = {tools['platformio']}\n"
            f"framework = {framework}\n"
            "lib_deps = symlink://../..\n"
        ),
        **main,
    }


def _pico_sdk(artifact: Artifact, tools: Mapping[str, str]) -> Mapping[str, str]:
    entry, end = "int main(void)", "\n    return 0;"
    main = _main(artifact, entry, end).replace(
        "#include <stdio.h>\n", '#include <stdio.h>\n\n#include "pico/stdlib.h"\n'
    )
    return {
        "CMakeLists.txt": (
            "# PICO_SDK_PATH=... cmake -S project/pico-sdk -B build && cmake --build build\n"
            "cmake_minimum_required(VERSION 3.13)\n"
            f'set(PICO_BOARD {tools["pico-sdk"]} CACHE STRING "")\n'
            "include($ENV{PICO_SDK_PATH}/external/pico_sdk_import.cmake)\n"
            f"project({artifact.prefix}_app C CXX ASM)\n"
            "set(CMAKE_C_STANDARD 11)\n"
            "pico_sdk_init()\n"
            f"add_executable({artifact.prefix}_app main.c {_sources(artifact)})\n"
            f'target_include_directories({artifact.prefix}_app PRIVATE "{HERE}/../..")\n'
            f"{_contract(artifact)}"
            f"{_linked(artifact, f'{artifact.prefix}_app')}"
            f"target_link_libraries({artifact.prefix}_app PRIVATE pico_stdlib)\n"
            f"pico_enable_stdio_usb({artifact.prefix}_app 1)\n"
            f"pico_add_extra_outputs({artifact.prefix}_app)\n"
        ),
        "main.c": main.replace("{\n    const tw", "{\n    stdio_init_all();\n    const tw"),
    }


def _esp_idf(artifact: Artifact, tools: Mapping[str, str]) -> Mapping[str, str]:
    return {
        "CMakeLists.txt": (
            "# idf.py -C project/esp-idf build flash monitor\n"
            "cmake_minimum_required(VERSION 3.16)\n"
            "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n"
            f"project({artifact.prefix}_app)\n"
        ),
        "sdkconfig.defaults": f'CONFIG_IDF_TARGET="{tools["esp-idf"]}"\nCONFIG_ESP_MAIN_TASK_STACK_SIZE=16384\n',
        "main/CMakeLists.txt": (
            f"idf_component_register(SRCS main.c {_sources(artifact, '../../..')} INCLUDE_DIRS . ../../..)\n"
            'target_compile_options(${COMPONENT_LIB} PRIVATE "$<$<COMPILE_LANGUAGE:C>:-ffp-contract=off>")\n'
            f"{_linked(artifact, '${COMPONENT_LIB}', '../../..')}"
        ),
        "main/main.c": _main(artifact, "void app_main(void)", ""),
    }


def _arduino(artifact: Artifact, tools: Mapping[str, str]) -> Mapping[str, str | bytes]:
    name = f"{artifact.prefix}_app"
    return {
        f"{name}/sketch.yaml": f"default_fqbn: {tools['arduino']}\n",
        f"{name}/{name}.ino": _sketch(artifact),
        **{f"libraries/{artifact.prefix}/{path}": content for path, content in library_files(artifact).items()},
    }


TOOLS: Mapping[str, Callable[[Artifact, Mapping[str, str]], Mapping[str, str | bytes]]] = {
    "arduino": _arduino,
    "esp-idf": _esp_idf,
    "pico-sdk": _pico_sdk,
    "platformio": _platformio,
    "zephyr": _zephyr,
}


def _sources(artifact: Artifact, root: str = f"{HERE}/../..") -> str:
    return " ".join(f'"{root}/{name}"' for name in artifact.sources)


def _linked(artifact: Artifact, program: str, root: str = "../..") -> str:
    """With the prebuilt libraries of kernels."""
    return "".join(f'target_link_libraries({program} PRIVATE "{HERE}/{root}/{name}")\n' for name in artifact.libraries)


def _assembler(artifact: Artifact) -> str:
    return " ASM" if artifact.assembled else ""


def _contract(artifact: Artifact) -> str:
    """Floats as the reference has them."""
    sources = " ".join(f'"{HERE}/../../{name}"' for name in artifact.sources if name.endswith(".c"))
    return f"set_source_files_properties({sources} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)\n"


def _sections(artifact: Artifact, tool: str) -> str:
    """Pools where the tool's own linker script has a section for their memory."""
    named = artifact.board.sections.get(tool, {}) if artifact.board else {}
    defined = [
        f'"{artifact.prefix.upper()}_POOL_{pool.upper()}_ATTR=TW_SECTION(\\"{named[pool]}\\")"'
        for pool in artifact.pools
        if pool in named
    ]
    return f"target_compile_definitions(app PRIVATE {' '.join(defined)})\n" if defined else ""


def _main(artifact: Artifact, entry: str, end: str) -> str:
    return render("project_run.mako", artifact, entry=entry, end=end)


def _sketch(artifact: Artifact) -> str:
    return f"#include <Arduino.h>\n{sketch(artifact)}"
