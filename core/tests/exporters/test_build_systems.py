"""Each layout against the documented structure of its build system, and what Make and g++ say of it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector
from tilewright.exporters.build_systems import EXPORTERS
from tilewright.exporters.export import export
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.program import Program
from tilewright.lower import lower
from tilewright.runners.host import STRICT

BY_NAME = {exporter.name: exporter for exporter in EXPORTERS if exporter.name != "project"}  # needs a board
ARDUINO = """#pragma once
#include <stdint.h>
#include <stddef.h>
struct Printer {
  void begin(unsigned long);
  void print(const char *);
  void println(int);
  void println(unsigned long);
  void println(double);
};
extern Printer Serial;
unsigned long micros(void);
void delay(unsigned long);
"""


def made(
    toy: Any, *names: str, form: Any = "incbin", selftest: bool = False, io: str = "pool", layout: Any = "single"
) -> dict[str, bytes]:
    """A toy network in these layouts."""
    graph = toy.graph()
    x = np.arange(10, dtype=np.int8)[None]
    vectors = (Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)}),) if selftest else ()
    program = toy.program(graph, io=io)
    artifact = toy.artifact(program, EmitOptions(const_format=form, layout=layout, vectors=vectors))
    return export([BY_NAME[name] for name in names], program.allocated, artifact)


def written(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def properties(text: bytes) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.decode("ascii").splitlines())


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_every_layout_has_the_header_of_the_kernels(toy: Any, name: str) -> None:
    library = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format="incbin", layout="split"))
    assert library.headers == ("toy.h", "toy_kernels.h", "toy_quantize.h", "tw_runtime.h")
    assert library.sources == ("toy.c", "toy_simple.c", "toy_weights.S")
    files = made(toy, name, layout="split")
    assert {"toy.c", "toy_kernels.h"} <= files.keys()
    if name == "arduino":
        assert {"arduino/toy/src/toy.c", "arduino/toy/src/toy_kernels.h"} <= files.keys()


# prebuilt libraries


def linking(toy: Any, folder: Path, cc: Any, ar: str) -> tuple[Program, Artifact]:
    """The toy network with a self-test, whose kernel adds by a function of a library."""
    text = "signed char acme_sum(int x);\nsigned char acme_sum(int x)\n{\n    return (signed char)x;\n}\n"
    (folder / "acme.c").write_text(text)
    subprocess.run([*cc(), "-c", "-o", "acme.o", "acme.c"], cwd=folder, check=True)
    subprocess.run([ar, "rcs", "libacme.a", "acme.o"], cwd=folder, check=True)
    graph, x = toy.graph(), np.arange(10, dtype=np.int8)[None]
    plan = toy.plan(graph)
    bound = plan.tiled.scheduled.bound
    linked = {}
    for node, binding in bound.bindings.items():
        kernel = binding.kernel
        if kernel.name == "portable.toy_bias":
            source = str(kernel.source).replace("(int8_t)(uint8_t)(", "acme_sum(")
            kernel = replace(
                kernel, source=f"\nint8_t acme_sum(int x);\n{source}", libraries=(str(folder / "libacme.a"),)
            )
        linked[node] = replace(binding, kernel=kernel)
    scheduled = replace(plan.tiled.scheduled, bound=replace(bound, bindings=linked))
    program = lower(replace(plan, tiled=replace(plan.tiled, scheduled=scheduled)), toy.operators, "toy")
    vectors = (Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)}),)
    return program, toy.artifact(program, EmitOptions(vectors=vectors))


LINKED = {
    "cmake": ("CMakeLists.txt", 'target_link_libraries(toy PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/libacme.a")'),
    "make": ("Makefile", "PREBUILT := $(addprefix $(HERE),libacme.a)"),
    "zephyr": ("zephyr/CMakeLists.txt", "zephyr_link_libraries(${TILEWRIGHT_NETWORK}/libacme.a)"),
    "platformio": ("library.json", '"-l:libacme.a"'),
    "arduino": ("arduino/toy/library.properties", "ldflags=-l:libacme.a"),
    "esp-idf": ("esp-idf/toy/CMakeLists.txt", 'target_link_libraries(${COMPONENT_LIB} PUBLIC "${NETWORK}/libacme.a")'),
    "cmsis-pack": ("unknown.toy.pdsc", '<file category="library" name="libacme.a"/>'),
}


@pytest.mark.slow
def test_every_layout_links_them_and_make_and_cmake_build(
    toy: Any, tmp_path: Path, cc: Any, tool: Any, make: Any, cmake: Any
) -> None:
    program, artifact = linking(toy, tmp_path, cc, tool("ar"))
    (tmp_path / "libacme.a").rename(tmp_path / "elsewhere")  # a folder that is moved has what it links
    files = export([BY_NAME[name] for name in LINKED], program.allocated, artifact)
    for path, line in LINKED.values():
        assert line in files[path].decode("ascii")
    assert files["libacme.a"] == files["arduino/toy/src/toy/libacme.a"] == (tmp_path / "elsewhere").read_bytes()
    folder = written(files, tmp_path / "out")
    run(*make, "-C", folder, "check")
    cmake(folder, tmp_path / "build")
    run(tmp_path / "build" / "toy_selftest")


# make


@pytest.fixture
def make(cc: Any, tool: Any) -> tuple[str, ...]:
    """GNU make, with the C compiler that the product finds."""
    return (tool("make"), f"CC={shlex.join(cc())}", f"AR={tool('ar')}")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "layout"), [("c", "single"), ("incbin", "single"), ("incbin", "split")])
def test_make_builds_and_runs_the_selftest(toy: Any, tmp_path: Path, make: Any, form: Any, layout: Any) -> None:
    folder = written(made(toy, "make", form=form, selftest=True, layout=layout), tmp_path)
    run(*make, "-C", folder, "check")
    assert (folder / "build" / "libtoy.a").exists()
    run(*make, "-C", folder, "clean")
    assert not list((folder / "build").iterdir())


@pytest.mark.slow
def test_make_honours_what_the_user_sets(toy: Any, tmp_path: Path, cc: Any, tool: Any) -> None:
    folder = written(made(toy, "make"), tmp_path / "toy")
    for name, real in (("cc", shlex.join(cc())), ("ar", tool("ar"))):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/log"\nexec {real} "$@"\n')
        (tmp_path / name).chmod(0o755)
    chosen = (f"CC={tmp_path}/cc", f"AR={tmp_path}/ar", "CFLAGS=-Os -DMINE=1", f"BUILD={tmp_path}/out")
    run(tool("make"), "-f", folder / "Makefile", *chosen)
    log = (tmp_path / "log").read_text().splitlines()
    compiled = [line for line in log if line.startswith("cc ")]
    assert len(compiled) == 3
    assert all("-Os -DMINE=1" in line for line in compiled)
    assert all(("-ffp-contract=off" in line) != line.endswith(".S") for line in compiled)
    assert [line for line in log if line.startswith("ar ")]
    assert (tmp_path / "out" / "libtoy.a").exists()


@pytest.mark.slow
def test_make_builds_again_what_changed(toy: Any, tmp_path: Path, make: Any) -> None:
    folder = written(made(toy, "make"), tmp_path)
    again = (*make, "-C", folder)
    run(*again)
    run(*again, "-q")
    blob = folder / "toy_flash.bin"
    later = (folder / "build" / "libtoy.a").stat().st_mtime_ns + 10**9
    blob.write_bytes(blob.read_bytes())
    os.utime(blob, ns=(later, later))
    said = run(*again)
    assert "toy_weights.S" in said
    assert "toy_simple.c" not in said


# Arduino


@pytest.mark.parametrize("form", ["c", "incbin"])
def test_arduino_is_a_library_by_the_specification(toy: Any, tmp_path: Path, cc: Any, form: Any) -> None:
    files = made(toy, "arduino", form=form)
    assert sorted(name for name in files if name.startswith("arduino/")) == [
        "arduino/toy/examples/toy_run/toy_run.ino",
        "arduino/toy/library.properties",
        "arduino/toy/src/toy.c",
        "arduino/toy/src/toy.h",
        "arduino/toy/src/toy_quantize.h",
        "arduino/toy/src/toy_simple.c",
        "arduino/toy/src/toy_weights.c",
        "arduino/toy/src/tw_runtime.h",
    ]
    keys = properties(files["arduino/toy/library.properties"])
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert needed <= keys.keys()
    assert all(keys.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", keys["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", keys["version"])
    assert (keys["category"], keys["architectures"], keys["includes"]) == ("Data Processing", "*", "toy.h")
    source = written(files, tmp_path) / "arduino" / "toy" / "src"
    for file in sorted(source.glob("*.c")):
        run(*cc(*STRICT), "-c", file, "-o", tmp_path / f"{file.stem}.o")


def test_arduino_sketch_is_right_cpp(toy: Any, tmp_path: Path, cxx: Any) -> None:
    root = written(made(toy, "arduino"), tmp_path) / "arduino" / "toy"
    (tmp_path / "Arduino.h").write_text(ARDUINO)
    sketch = root / "examples" / "toy_run" / "toy_run.ino"
    flags = ("-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-x", "c++")
    run(*cxx(*flags), "-include", tmp_path / "Arduino.h", "-I", root / "src", "-c", "-o", tmp_path / "o", sketch)


def test_arduino_constants_are_those_of_the_blob(toy: Any, tmp_path: Path, cc: Any) -> None:
    files = made(toy, "arduino", form="incbin", selftest=True)
    folder = written(files, tmp_path)
    source = sorted((folder / "arduino" / "toy" / "src").glob("*.c"))
    run(*cc("-I", folder), *source, folder / "toy_selftest.c", "-o", tmp_path / "selftest")
    run(tmp_path / "selftest")


def test_arduino_leaves_the_sketch_out_where_there_is_no_simple_api(toy: Any) -> None:
    files = made(toy, "arduino", form="bin")
    assert "arduino/toy/library.properties" in files
    assert not [name for name in files if name.endswith(".ino") or "toy_weights" in name]


# PlatformIO


def test_platformio_builds_the_sources_and_nothing_else(toy: Any) -> None:
    files = made(toy, "platformio", "arduino", selftest=True)
    manifest = json.loads(files["library.json"])
    assert {"name", "version", "description", "frameworks", "platforms", "headers", "build"} <= manifest.keys()
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"])
    build = manifest["build"]
    assert (build["srcDir"], build["includeDir"]) == (".", ".")
    assert manifest["headers"] in files
    assert build["srcFilter"][0] == "-<*>"
    built = [re.fullmatch(r"\+<(.*)>", line)[1] for line in build["srcFilter"][1:]]
    assert built == ["toy.c", "toy_simple.c", "toy_weights.S"]
    assert set(built) <= files.keys()
    assert "-ffp-contract=off" in build["flags"]


# Zephyr


def test_zephyr_is_a_module(toy: Any) -> None:
    files = made(toy, "zephyr")
    module = files["zephyr/module.yml"].decode()
    assert re.findall(r"^(name|build|  cmake|  kconfig):(.*)$", module, re.MULTILINE) == [
        ("name", " tilewright_toy"),
        ("build", ""),
        ("  cmake", " zephyr"),
        ("  kconfig", " zephyr/Kconfig"),
    ]
    kconfig = files["zephyr/Kconfig"].decode()
    assert "config TILEWRIGHT_TOY\n\tbool " in kconfig
    assert "select" not in kconfig
    cmake = files["zephyr/CMakeLists.txt"].decode()
    assert "if(CONFIG_TILEWRIGHT_TOY)" in cmake
    named = re.findall(r"^    \$\{TILEWRIGHT_NETWORK\}/(\S+)$", cmake, re.MULTILINE)
    assert named == ["toy.c", "toy_simple.c", "toy_weights.S"]
    assert set(named) <= files.keys()


def test_zephyr_asks_for_a_libc_with_mathematics(toy: Any) -> None:
    program = toy.program(toy.float_graph(), "two")
    files = export([BY_NAME["zephyr"]], program.allocated, toy.artifact(program))
    assert "\tselect REQUIRES_FULL_LIBC\n" in files["zephyr/Kconfig"].decode()


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "split"])
def test_zephyr_cmake_builds_with_stand_ins_for_its_commands(toy: Any, tmp_path: Path, cmake: Any, layout: Any) -> None:
    """The three commands do here what Zephyr's documentation says of them."""
    written(made(toy, "zephyr", layout=layout), tmp_path / "toy")
    (tmp_path / "main.c").write_text(
        '#include "toy.h"\nint main(void)\n{\n    static int8_t x[10], y[10];\n    return toy(x, y) != TW_OK;\n}\n'
    )
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C ASM)
macro(zephyr_include_directories)
  include_directories(${ARGN})
endmacro()
macro(zephyr_library_named name)
  set(current ${name})
  add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
  target_sources(${current} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${current} PRIVATE ${ARGN})
endmacro()
set(CONFIG_TILEWRIGHT_TOY y)
add_subdirectory(toy/zephyr)
add_executable(app main.c)
target_include_directories(app PRIVATE toy)
target_link_libraries(app PRIVATE tilewright_toy)
""")
    cmake(tmp_path, tmp_path / "build")
    run(tmp_path / "build" / "app")


# all together


def test_all_layouts_live_in_one_folder(toy: Any) -> None:
    files = made(toy, *BY_NAME)
    assert {"CMakeLists.txt", "Makefile", "library.json", "zephyr/module.yml", "toy.c"} <= files.keys()
    for name in BY_NAME:
        alone = made(toy, name)
        assert {path: files[path] for path in alone} == alone
    assert all(str(PurePosixPath(name)) == name for name in files)


def test_only_what_is_asked_for_is_written(toy: Any) -> None:
    assert "CMakeLists.txt" not in made(toy, "make")
    assert "Makefile" not in made(toy, "cmake")
    assert made(toy, "cmake")["CMakeLists.txt"].startswith(b"# The network toy")


# ESP-IDF

IDF = """cmake_minimum_required(VERSION 3.16)
project(app C ASM)

function(idf_component_register)
  cmake_parse_arguments(GIVEN "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  get_filename_component(name ${CMAKE_CURRENT_LIST_DIR} NAME)
  set(COMPONENT_LIB __idf_${name} PARENT_SCOPE)
  add_library(__idf_${name} STATIC ${GIVEN_SRCS})
  target_include_directories(__idf_${name} PUBLIC ${GIVEN_INCLUDE_DIRS})
endfunction()

add_subdirectory(esp-idf/toy)
add_executable(selftest toy_selftest.c)
target_link_libraries(selftest __idf_toy m)
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["c", "incbin"])
def test_esp_idf_component_builds_the_sources_where_they_are(toy: Any, tmp_path: Path, cmake: Any, form: Any) -> None:
    """With a function that registers a component as ESP-IDF's does: a library, and its name in COMPONENT_LIB."""
    folder = written(made(toy, "esp-idf", form=form, selftest=True), tmp_path)
    (folder / "CMakeLists.txt").write_text(IDF)
    cmake(folder, folder / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    run(folder / "build" / "selftest")
    commands = json.loads((folder / "build" / "compile_commands.json").read_text())
    ours = [one["command"] for one in commands if "__idf_toy" in one["command"]]
    assert [("-std=c11" in one, "-ffp-contract=off" in one) for one in ours if ".S" not in one] == [(True, True)] * (
        3 if form == "c" else 2
    )


# CMSIS-Pack


@pytest.fixture(scope="module", name="pack_schema")
def _pack_schema() -> Any:
    """PACK.xsd 1.7.60 of Open-CMSIS-Pack (Apache-2.0), as it was published."""
    if find_spec("xmlschema") is None:
        assert not os.environ.get("CI"), "xmlschema is not installed, and CI is set"
        pytest.skip("xmlschema is not installed: pip install ./core[test]")
    from xmlschema import XMLSchema

    return XMLSchema(Path(__file__).with_name("PACK.xsd"))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["c", "incbin"])
def test_cmsis_pack_is_valid_by_its_schema(toy: Any, form: Any, pack_schema: Any) -> None:
    text = made(toy, "cmsis-pack", form=form, selftest=True)["unknown.toy.pdsc"].decode()
    assert [str(error.reason) for error in pack_schema.iter_errors(text)] == []
    assert list(pack_schema.iter_errors(text.replace("<vendor>unknown</vendor>", "")))


@pytest.mark.parametrize("form", ["c", "incbin"])
def test_cmsis_pack_names_files_that_are_there(toy: Any, form: Any) -> None:
    files = made(toy, "cmsis-pack", form=form, selftest=True)
    package = ElementTree.fromstring(files["unknown.toy.pdsc"])
    assert [child.tag for child in package] == ["vendor", "name", "description", "url", "releases", "components"]
    assert (package.findtext("vendor"), package.findtext("name")) == ("unknown", "toy")
    (component,) = package.iter("component")
    assert component.get("Cversion") == package.find("releases/release").get("version")
    listed = [(one.get("category"), one.get("name")) for one in component.iter("file")]
    assert listed[0] == ("include", "./")
    names = [name for _, name in listed[1:]]
    assert set(names) <= files.keys()
    kinds = {".h": "header", ".c": "sourceC", ".S": "sourceAsm", ".bin": "other"}
    assert listed[1:] == [(kinds[PurePosixPath(str(name)).suffix], name) for name in names]
    assert {"toy.h", "toy.c", "toy_simple.c"} <= set(names)
    assert "toy_selftest.c" not in names


def test_all_layouts_stand_side_by_side(toy: Any) -> None:
    """Each is what it is alone."""
    together = made(toy, *BY_NAME)
    alone = [made(toy, name) for name in BY_NAME]
    assert {name for files in alone for name in files} == together.keys()
    assert all(together[name] == content for files in alone for name, content in files.items())
