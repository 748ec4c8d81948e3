"""Projects for the tools of a board: what each tool is told, and that CMake and the C compiler take them, with
something that stands in for the tool.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tilewright.config.package_facts import package_facts
from tilewright.emit import EmitOptions
from tilewright.errors import TilewrightError
from tilewright.exporters.build_systems import EXPORTERS
from tilewright.exporters.export import export
from tilewright.ir.machines.board import Board

TOOLS = {
    "zephyr": "acme_one/soc",
    "platformio": "acmeone",
    "platformio-platform": "acme",
    "platformio-frameworks": "cmsis, zephyr",
    "pico-sdk": "acme",
    "esp-idf": "esp32s3",
    "arduino": "acme:one:one:option=2",
}
PROJECT = next(exporter for exporter in EXPORTERS if exporter.name == "project")
ZEPHYR = "project(stub C)\nadd_library(app STATIC)\n"
PICO = """function(pico_sdk_init)
endfunction()
function(pico_enable_stdio_usb target on)
endfunction()
function(pico_add_extra_outputs target)
endfunction()
add_library(pico_stdlib INTERFACE)
target_include_directories(pico_stdlib INTERFACE ${CMAKE_CURRENT_LIST_DIR})
"""


def made(toy: Any, tools: dict[str, str], form: Any = "c", **more: Any) -> dict[str, str]:
    program = toy.program(toy.graph())
    board = Board(source="acme-one", name="acme-one", tools=tools, **more)
    artifact = replace(toy.artifact(program, EmitOptions(const_format=form)), board=board)
    files = export([PROJECT], program.allocated, artifact)
    return {name: content.decode("ascii") for name, content in files.items() if not name.endswith(".bin")}


def written(files: dict[str, str], folder: Path) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="ascii")
    return folder


def test_every_tool_is_told_its_name_of_the_board(toy: Any) -> None:
    files = made(toy, TOOLS)
    assert files["project/zephyr/CMakeLists.txt"].startswith("# west build -b acme_one/soc project/zephyr\n")
    assert "set(PICO_BOARD acme CACHE" in files["project/pico-sdk/CMakeLists.txt"]
    assert 'CONFIG_IDF_TARGET="esp32s3"\n' in files["project/esp-idf/sdkconfig.defaults"]
    assert files["project/arduino/toy_app/sketch.yaml"] == "default_fqbn: acme:one:one:option=2\n"
    ini = files["project/platformio/platformio.ini"].splitlines()[1:]
    assert ini == [
        "[env:acmeone]",
        "platform = acme",
        "board = acmeone",
        "framework = cmsis",
        "lib_deps = symlink://../..",
    ]
    assert "project/platformio/src/main.c" in files
    assert json.loads(files["library.json"])["build"]["srcFilter"][0] == "-<*>"


def test_pools_are_where_the_linker_script_of_the_tool_has_them(toy: Any) -> None:
    (pool,) = toy.artifact(toy.program(toy.graph())).pools
    sections = {"zephyr": {pool: ".dtcm_noinit", "other": ".x"}, "pico-sdk": {pool: ".scratch_x"}}
    files = made(toy, TOOLS, sections=sections)
    macro = f"TOY_POOL_{pool.upper()}_ATTR"
    asked = f'target_compile_definitions(app PRIVATE "{macro}=TW_SECTION(\\".dtcm_noinit\\")")\n'
    assert asked in files["project/zephyr/CMakeLists.txt"]
    assert f"#ifndef {macro}\n" in files["toy_simple.c"]
    assert "_ATTR" not in made(toy, TOOLS)["project/zephyr/CMakeLists.txt"]


def test_only_tools_that_know_the_board_have_a_project(toy: Any) -> None:
    files = made(toy, {"zephyr": "acme_one"})
    assert {name.split("/")[1] for name in files if name.startswith("project/")} == {"zephyr"}
    arduino = made(toy, {**TOOLS, "platformio-frameworks": "mbed, arduino"})
    assert "framework = arduino\n" in arduino["project/platformio/platformio.ini"]
    assert "project/platformio/src/main.cpp" in arduino


@pytest.mark.parametrize("tools", [{}, {"platformio": "acmeone"}])
def test_a_board_without_names_is_refused(toy: Any, tools: dict[str, str]) -> None:
    with pytest.raises(TilewrightError) as refused:
        made(toy, tools)
    assert refused.value.code == "TW1431"


@pytest.mark.slow
def test_c_of_projects_builds(toy: Any, tmp_path: Path) -> None:
    files = made(toy, TOOLS)
    folder = written({name: text for name, text in files.items() if "/" not in name}, tmp_path / "toy")
    main = tmp_path / "main.c"
    main.write_text(files["project/zephyr/src/main.c"])
    done = subprocess.run([toy.build([folder], main)], capture_output=True, text=True, check=True)
    assert done.stdout == "toy: status 0\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["c", "incbin"])
@pytest.mark.parametrize("which", ["zephyr", "pico-sdk"])
def test_cmake_takes_projects(toy: Any, tool: Any, tmp_path: Path, form: Any, which: str) -> None:
    sections = {"zephyr": {"ram": ".dtcm_noinit"}}
    folder = written(made(toy, TOOLS, form, sections=sections), tmp_path / "toy")
    program = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format=form))
    for name in program.blobs:
        (folder / name).write_bytes(program.files[name])
    stand_in = tmp_path / "sdk"
    written({"ZephyrConfig.cmake": ZEPHYR, "external/pico_sdk_import.cmake": PICO}, stand_in)
    written({"external/pico/stdlib.h": "static inline int stdio_init_all(void) { return 1; }\n"}, stand_in)
    environment = {"ZEPHYR_BASE": str(stand_in), "PICO_SDK_PATH": str(stand_in), "PATH": os.environ["PATH"]}
    for words in (["-S", folder / "project" / which, "-B", tmp_path / "build"], ["--build", tmp_path / "build"]):
        done = subprocess.run(
            [tool("cmake"), *map(str, words)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    libraries = b"".join(file.read_bytes() for file in (tmp_path / "build").glob("*.a"))
    assert (b".dtcm_noinit" in libraries) is (which == "zephyr")


def test_packages_are_the_users(toy: Any) -> None:
    program = toy.program(toy.graph())
    facts = package_facts("name=kws,version=1.4.0,vendor=Acme,licence=MIT,url=https://acme.example")
    artifact = replace(toy.artifact(program), package=facts)
    chosen = [exporter for exporter in EXPORTERS if exporter.name in ("platformio", "arduino", "cmsis-pack")]
    files = export(chosen, program.allocated, artifact)
    manifest = json.loads(files["library.json"])
    assert (manifest["name"], manifest["version"], manifest["license"]) == ("kws", "1.4.0", "MIT")
    assert b"name=kws\nversion=1.4.0\nauthor=Acme\n" in files["arduino/toy/library.properties"]
    assert b'<release version="1.4.0">' in files["Acme.kws.pdsc"]
