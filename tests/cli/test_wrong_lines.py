"""Mistakes in command lines and in the files that they name, one by one, in this process: each is refused with its
code, one screen, and what to do next. Never a traceback, never a file that was not asked for, never half of one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BOARD = '[[memory]]\nname = "sram"\nsize = "64K"\n'
GROUP = 'target = "generic"\n[models]\na = "net.onnx"\n'
CSV = "id,lower,upper,size\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is typed after `tilewright`, what it answers, and the files that it reads."""

    typed: str
    code: str
    exit_code: int
    says: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)


def wrong(typed: str, code: str, exit_code: int = 2, says: str = "", **files: str | bytes) -> Line:
    """A line; names of files have `_` for the dot."""
    return Line(
        typed=typed, code=code, exit_code=exit_code, says=says, files={k.replace("_", "."): v for k, v in files.items()}
    )


def check(flags: str, code: str, exit_code: int = 2, says: str = "", **files: str | bytes) -> Line:
    """`check net.onnx -t generic` with flags."""
    return wrong(f"check net.onnx -t generic {flags}", code, exit_code, says, **files)


def board(text: str | bytes, code: str, says: str = "", *, target: str = "generic") -> Line:
    """`--board b.toml`."""
    return wrong(f"check net.onnx -t {target} --board b.toml", code, 2, says, b_toml=text)


def group(text: str | bytes, says: str, code: str = "TW1410", exit_code: int = 2) -> Line:
    """`--group g.toml`."""
    return wrong("compile --group g.toml -o out", code, exit_code, says, g_toml=text)


def plan(text: str | bytes, says: str = "", code: str = "TW5022", exit_code: int = 2, flags: str = "") -> Line:
    """`plan p.csv`."""
    return wrong(f"plan p.csv {flags}", code, exit_code, says, p_csv=text)


WORDS = (
    wrong("chekc net.onnx -t generic", "TW1100", says="did you mean 'check'?"),
    wrong("net.onnx", "TW1100", says="no command 'net.onnx'"),
    wrong("--target generic", "TW1100", says="--target"),
    wrong("compile -o out", "TW1100", says="MODEL"),
    wrong("compile net.onnx -o out", "TW1100", says="--target"),
    wrong("compile net.onnx -t generic", "TW1100", says="--output"),
    wrong("compile net.onnx -t generic -o", "TW1100", says="-o"),
    wrong("check net.onnx dyn.onnx -t generic", "TW1100", says="dyn.onnx"),
    wrong("check net.onnx --targte generic", "TW1100", says="--target"),
    wrong("check net.onnx -t generic -o out", "TW1100", says="-o"),
    wrong("check net.onnx -t Generic", "TW8001", 8, "did you mean 'generic'?"),
    wrong("check net.onnx -t ''", "TW1101", says="'--target' is given an empty value"),
    wrong("check net.onnx -t cortex-m4f", "TW8001", 8, "did you mean 'cortex-m4'?"),
    wrong("check net.onnx -t stm32f407", "TW8001", 8, "did you mean 'cortex-m4'?"),
    wrong("check net.onnx -t m4", "TW8001", 8, "did you mean 'cortex-m4'?"),
    wrong("compile net.onnx -t generic -o out --emit CMake", "TW8001", 8, "did you mean 'cmake'?"),
    wrong("check net.onx -t generic", "TW1201", 3, "does not exist"),
    wrong("check ./ -t generic", "TW1201", 3, "folder"),
    wrong("check '' -t generic", "TW1201", 3),
    wrong("check net.onnx.zip -t generic", "TW1201", 3, "does not exist"),
    wrong("validate net.onnx -t generic --io net.npz --sets 7", "TW1100", says="--io brings its own"),
    wrong("check net.onnx -t generic --json net.onnx", "TW1125", says="cannot write 'net.onnx'"),
    wrong("check net.onnx -t generic --json ./net.onnx", "TW1125", says="read by this command"),
    wrong("validate net.onnx -t generic --io net.npz --json net.npz", "TW1125", says="net.npz"),
    wrong("validate net.onnx -t generic --json a.json --trace a.json", "TW1125", says="another result"),
    wrong("diff net.json net.json --json net.json", "TW1125", says="net.json"),
    wrong("bench net.onnx -t generic --json net.onnx", "TW1125", says="net.onnx"),
    wrong("quantize net.onnx --calibration net.npz -o net.onnx", "TW1125", says="net.onnx"),
    wrong("quantize net.onnx --calibration net.npz -o new.onnx --json net.npz", "TW1125", says="net.npz"),
    wrong("compile net.onnx -t generic -o out --json net.onnx", "TW1125", says="net.onnx"),
    check("--board b.toml --json b.toml", "TW1125", says="b.toml", b_toml=BOARD),
    check("--pin p.json --json ./p.json", "TW1125", says="p.json", p_json="{}"),
    check("--bind x=x.npy --json x.npy", "TW1125", says="x.npy"),
    check("--state y:x=s.npy --json s.npy", "TW1125", says="s.npy"),
    wrong("validate net.onnx -t generic --board b.toml --trace b.toml", "TW1125", says="b.toml", b_toml=BOARD),
    wrong("bench net.onnx -t generic --pin p.json --json p.json", "TW1125", says="p.json", p_json="{}"),
    wrong("compile net.onnx -t generic --bind x=x.npy -o out --json x.npy", "TW1125", says="x.npy"),
    wrong("compile --group g.toml -o out --board b.toml --json b.toml", "TW1125", says="b.toml", b_toml=BOARD),
    wrong("compile net.onnx -t generic -o out --json out/net.c", "TW1125", says="another result"),
    wrong("compile net.onnx -t generic -o ./", "TW1125", says="CMakeLists.txt", CMakeLists_txt="project(mine)"),
    plan("id,lower,upper,size\na,0,2,10\n", "'--allocator ,' cannot be read", "TW1101", flags="--allocator ,"),
    plan("id,lower,upper,size\na,0,2,10\n", "another one", "TW1101", flags="--capacity 64 --capacity memory=128"),
    plan("id,lower,upper,size\na,0,2,10\n", "p.csv", "TW1125", flags="-o p.csv"),
    plan("id,lower,upper,size\na,0,2,10\n", "another result", "TW1125", flags="-o new.csv --json new.csv"),
    wrong("explain TW99999", "TW1110", says="TW99999"),
    wrong("explain 5001x", "TW1110"),
    wrong("targets genric", "TW8001", 8, "did you mean 'generic'?"),
    wrong("ops -t genric", "TW8001", 8, "did you mean 'generic'?"),
    wrong("plugins lsit", "TW1100", says="lsit"),
    wrong("doctor now", "TW1100", says="now"),
)
FILES = (
    wrong("check m.onnx -t generic", "TW1202", 3, "empty", m_onnx=b""),
    wrong("check m.onnx -t generic", "TW1202", 3, "zip", m_onnx=b"PK\3\4 a keras or torch file"),
    wrong("check m.onnx -t generic", "TW1202", 3, "TensorFlow Lite", m_onnx=b"\x1c\0\0\0TFL3 and more"),
    wrong("check m.onnx -t generic", "TW1202", 3, "HDF5", m_onnx=b"\x89HDF\r\n\x1a\n"),
    wrong("check m.onnx -t generic", "TW1202", 3, "pickle", m_onnx=b"\x80\x02}q\0."),
    wrong("check m.onnx -t generic", "TW1202", 3, "web page", m_onnx=b"<!DOCTYPE html><html>404</html>"),
    wrong(
        "check m.onnx -t generic", "TW1202", 3, "git lfs pull", m_onnx=b"version https://git-lfs.github.com/spec/v1\n"
    ),
    wrong("check m.onnx -t generic", "TW1202", 3, "gzip", m_onnx=b"\x1f\x8b\x08\0\0\0"),
    wrong("check m.onnx -t generic", "TW1202", 3, "program", m_onnx=b"\x7fELF\2\1\1"),
    wrong("check m.onnx -t generic", "TW1202", 3, m_onnx=b'{"graph": {"node": []}}'),
    wrong("check m.onnx -t generic", "TW1202", 3, m_onnx="ir_version: 8\ngraph { }\n"),
)
NUMBERS = (
    check("--effort 0", "TW1100", says="0"),
    check("--clock 80", "TW1101", says="try:  --clock 80MHz"),
    check("--effort many", "TW1100", says="many"),
    check("--effort 1e6", "TW1100", says="1e6"),
    check("--seed x", "TW1100", says="'x'"),
    check("--groups 0", "TW1100", says="0"),
    check("--bind x=0 --state y:x", "TW1226", says="--state y:x takes it for an input"),
    check("--groups 4", "TW1117", says="no scratchpad"),
    check("--buffering tripple", "TW1100", says="double"),
    check("--memory ram:64K", "TW1101", says="NAME=VALUE"),
    check("--memory ram=", "TW1101", says="NAME=VALUE"),
    check("--memory =64K", "TW1101", says="NAME=VALUE"),
    check("--memory 64K", "TW1101", says="NAME=VALUE"),
    check("--memory ram=64kbit", "TW1101", says="65536, 64K or 1M"),
    check("--memory ram=0x10000", "TW1101", says="65536, 64K or 1M"),
    check("--memory ram=64.5K", "TW1101", says="65536, 64K or 1M"),
    check("--memory ram=-1", "TW1101", says="65536, 64K or 1M"),
    check("--memory ram=64K=32K", "TW1101", says="65536, 64K or 1M"),
    check("--memory ram=64K --memory ram=65537", "TW1101", says="given twice"),
    check("--memory RAM=64K", "TW1103", says="it has: flash, ram"),
    check("--memory sram=64K", "TW1103", says="it has: flash, ram"),
    check("--memory rma=64K", "TW1103", says="try:  --memory ram=65536"),
    check("--memory ram=0", "TW5001", 5, "has 0 B"),
    check("--memory flash=0", "TW5001", 5, "has 0 B"),
    check("--memory ram=100", "TW5001", 5, "has 100 B"),
    wrong("check open.onnx -t generic", "TW1205", 3, "try:  --dim T=1"),
    wrong("check open.onnx -t generic --dim N=2", "TW1205", 3, "try:  --dim T=1"),
    wrong("check dyn.onnx -t generic --dim n=1", "TW1219", 2, "the model has 'N'"),
    wrong("check dyn.onnx -t generic --dim N", "TW1101", says="NAME=VALUE"),
    wrong("check dyn.onnx -t generic --dim N=one", "TW1101", says="whole number"),
    wrong("check dyn.onnx -t generic --dim N=-1", "TW1101", says="whole number"),
    wrong("check dyn.onnx -t generic --dim N=1.0", "TW1101", says="whole number"),
    wrong("check dyn.onnx -t generic --dim N=1,C=3", "TW1101", says="whole number"),
    wrong("check dyn.onnx -t generic --dim N=99999999999", "TW1206", 3, "limit"),
    wrong("check dyn.onnx -t generic --dim N=1 --dim N=2", "TW1101", says="given twice"),
    wrong("check net.onnx -t generic --dim N=1", "TW1219", says="every dimension"),
)
NAMES = (
    check("--name int", "TW1004", says="int"),
    check("--name printf", "TW1004", says="printf"),
    check("--name 9x", "TW1004", says="9x"),
    check("--name my-net", "TW1004", says="my-net"),
    check("--name 'my net'", "TW1004", says="my net"),
    check("--name na\u00efve", "TW1004", says="na"),
    check(f"--name {'x' * 41}", "TW1004", says="40"),
    check("--name a__b", "TW1004", says="a__b"),
    check("--set align", "TW1101", says="NAME=VALUE"),
    check("--set aling=8", "TW1102", says="try:  --set align=8"),
    check("--optimize sped", "TW1100", says="did you mean 'speed'?"),
    check("--set align=7", "TW1102", says="4, 8, 16"),
    check("--allocator fastest", "TW8001", 8, "fastest"),
    check("--allocator Best-Fit", "TW8001", 8, "did you mean 'best-fit'?"),
    check("--tiler max,min", "TW8001", 8, "max,min"),
    check("--code-pass ''", "TW1101", says="NAME[:KEY=VALUE,...]"),
    check("--code-pass :x=1", "TW1101", says="NAME:KEY=VALUE"),
    check("--code-pass profile:every", "TW1101", says="NAME:KEY=VALUE"),
    check("--code-pass profiel", "TW1111", says="try:  --code-pass profile"),
    check("--code-pass profile:often=1", "TW1112", says="often"),
    check("--code-pass passthrough:memory=l9", "TW1112", says="l9"),
    check("--io users", "TW1101", says="--io user"),
    check("--io x=ram", "TW1101", says="--io user"),
    check("--io =user", "TW1101", says="--io user"),
    check("--io z=user", "TW1113", says="it has: x, y"),
    check("--io X=user", "TW1113", says="it has: x, y"),
)
PLACES = (
    check("--pool :64K", "TW1101", says="NAME:SIZE"),
    check("--pool sram:64kbit", "TW1101"),
    check("--pool sram:64K,fast", "TW1101", says="fast"),
    check("--pool sram:64K,base=here", "TW1101", says="here"),
    check("--pool sram:64K,align=3", "TW1101", says="power of two"),
    check("--pool sram:64K,dma=rx", "TW1101", says="dma=rx"),
    check("--pool sram:64K --pool sram:32K", "TW1115", says="sram"),
    check("--pool rom:64K,ro --pool a:1K,base=0x100 --pool b:1K,base=0x200", "TW1115", says="overlap"),
    check("--pool sram:64K,gpu=rw", "TW1103", says="gpu"),
    check("--pin conv", "TW1106", says="conv"),
    check("--pin conv=", "TW1101", says="NAME=VALUE"),
    check("--pin conv=sram", "TW1103", says="did you mean 'ram'?"),
    check("--pin cnov=ram", "TW1116", says="did you mean 'conv'?"),
    check("--pin w=ram", "TW1116", says="only constants"),
    check("--pin x=flash", "TW1116", says="no constant"),
    check("--pin x=ram --io user", "TW5002", says="caller"),
    check("--pin nowhere.json", "TW1106", says="nowhere.json"),
    check("--pin p.json", "TW1106", p_json="kernels: conv\n"),
    check("--pin p.json", "TW1106", p_json=b"\xff\xfe{\0}\0"),
    check("--pin p.json", "TW1106", p_json='{"kernel": {"conv": "x"}}'),
    check("--pin p.json", "TW1104", says="portable.conv", p_json='{"kernels": {"conv": "portable.relu"}}'),
    check("--pin p.json", "TW1105", p_json='{"order": ["act", "conv"]}'),
    check("--pin p.json", "TW5003", p_json='{"offsets": {"z": 0}}'),
    check("--pin p.json", "TW5004", 5, p_json='{"offsets": {"x": 3}}'),
    check("--stage w", "TW1101", says="PATTERN=POOL"),
    check("--stage w=ram,when=later", "TW1101", says="PATTERN=POOL"),
    check("--stage x=ram", "TW1116", says="no constant"),
    check("--stage wieghts=ram", "TW1116", says="wieghts"),
    check("--stage w=flash", "TW5033", says="flash"),
    check("--state y", "TW1114", says="cannot be read"),
    check("--state x:y", "TW1114", says="no output 'x'"),
    check("--state y:z", "TW1114", says="no input 'z'"),
    check("--state y:x", "TW1114", says="f32[1, 3, 6, 6]"),
    check("--state y:x=lots", "TW1114"),
    check("--state auto", "TW1440", says="no output of the model is recognised"),
)
TOML = (
    check("--board nowhere.toml", "TW1401", says="nowhere.toml"),
    check("--board nucleo", "TW8001", 8, "nucleo"),
    wrong("fit net.onnx --cost costs.csv", "TW1411", 2, "line 2", costs_csv="a,1\nb\n"),
    wrong("fit net.onnx --chips avr", "TW8001", 8, "avr"),
    wrong("boards avr", "TW8001", 8, "avr"),
    board("memory: sram\n", "TW1401", "line 1"),
    board(b"\xff\xfe\0", "TW1401"),
    board(BOARD + 'colour = "red"\n', "TW1402", "colour"),
    board('[[memory]]\nsize = "64K"\n', "TW1402", "name"),
    board('[[memory]]\nname = "my ram"\n', "TW1402", "name"),
    board('[[memory]]\nname = "sram"\nsize = "64KB"\n', "TW1402", "64K"),
    board('[[memory]]\nname = "sram"\nsize = -1\n', "TW1402", "64K"),
    board('[[memory]]\nname = "sram"\nkind = "rom"\n', "TW1402", "ram, const"),
    board('[[memory]]\nname = "sram"\nalign = 3\n', "TW1402", "power of two"),
    board('[[memory]]\nname = "sram"\nalign = "8"\n', "TW1402", "power of two"),
    board('[[memory]]\nname = "sram"\nsize = 10\nreserved = 20\n', "TW1402", "reserved"),
    board('[[memory]]\nname = "sram"\nbytes_per_cycle = "fast"\n', "TW1402", "number"),
    board('[[memory]]\nname = "sram"\nbytes_per_cycle = 0\n', "TW1402", "number"),
    board(BOARD + BOARD, "TW1402", "two memories"),
    board('[[memory]]\nname = "rom"\nkind = "const"\n', "TW1402", "written"),
    board('memory = "sram"\n', "TW1402", "[[memory]]"),
    board('target = "siracusa"\n' + BOARD, "TW1403", "siracusa"),
    board(BOARD + 'access = { gpu = "rw" }\n', "TW1403", "gpu"),
    board("[settings]\nalign = 3\n", "TW1102", "align"),
    board(BOARD, "TW1403", "copies", target="siracusa"),
    wrong("compile --group g.toml -o out", "TW1410", says="No such file"),
    wrong("compile net.onnx --group g.toml -o out", "TW1100", says="leave MODEL", g_toml=GROUP),
    group("models:\n  a: net.onnx\n", "line 1"),
    group('target = "generic"\n', "[models]"),
    group("[models]\n" + 'a = "net.onnx"\n', "target"),
    group(GROUP + 'b = "nowhere.onnx"\n', "nowhere.onnx", "TW1201", 3),
    group(GROUP.replace("a =", "int ="), "int"),
    group(GROUP.replace("a =", '"a b" ='), "a b"),
    group(GROUP.replace('"net.onnx"', "3"), "models.a"),
    group('concurrent = [["a", "b"]]\n' + GROUP, "'b'"),
    group('concurrent = ["a"]\n' + GROUP, "list of lists"),
    wrong(
        "compile --group g.toml -o out --name x --dump-after tiled", "TW1100", says="--name, --dump-after", g_toml=GROUP
    ),
    wrong("compile --group g.toml -o out --export-state tiled=d", "TW1100", says="--export-state", g_toml=GROUP),
    wrong("compile --group g.toml -o out --import-state d", "TW1100", says="--import-state", g_toml=GROUP),
    group('colour = "red"\n' + GROUP, "colour"),
    group(GROUP.replace("generic", "genric"), "did you mean 'generic'?", "TW8001", 8),
    group(GROUP.replace('"net.onnx"', '{ file = "net.onnx", io = { x = "mine" } }'), "pool or user"),
    group(GROUP.replace('"net.onnx"', '{ file = "net.onnx", pins = {} }'), "pins"),
)
OUTPUTS = (
    wrong(
        "compile net.onnx -t generic -o out --code-pass profile:tiles=yes --code-pass profile", "TW1101", says="twice"
    ),
    wrong("compile net.onnx -t generic -o net.onnx", "TW1107", says="is a file"),
    wrong("compile net.onnx -t generic -o net.onnx/out", "TW1107", says="is a file"),
    wrong("compile net.onnx -t generic -o out --json .", "TW1107", says="folder"),
    wrong("check net.onnx -t generic --json .", "TW1107", says="folder"),
    wrong("compile net.onnx -t generic -o out --const-format hex", "TW1100", says="incbin"),
    wrong("compile net.onnx -t generic -o out --layout one", "TW1100", says="split"),
    wrong("compile net.onnx -t generic -o out --dump-after tile", "TW1100", says="tiled"),
    wrong("compile net.onnx -t generic -o out --emit ''", "TW1101", says="NAME,..."),
    wrong("compile net.onnx -t generic -o out --emit cmake,", "TW1101", says="names and commas"),
    wrong("compile net.onnx -t generic -o ''", "TW1101", says="'--output' is given an empty value"),
    wrong("compile net.onnx -t generic -o a -o b", "TW1101", says="try:  --output b"),
    wrong("compile net.onnx -t generic -t siracusa -o out", "TW1101", says="given twice, as 'generic' and as 'sir"),
    wrong("compile net.onnx -t generic -o out --emit 'cmake;make'", "TW8001", 8, "cmake;make"),
    wrong("compile net.onnx -t generic -o out --emit Makefile", "TW8001", 8, "make"),
    wrong("compile net.onnx -t generic -o out --export-state tiled", "TW1101", says="STAGE=FOLDER"),
    wrong("compile net.onnx -t generic -o out --export-state tile=d", "TW1101", says="STAGE is one of"),
    wrong("compile net.onnx -t generic -o out --export-state tiled=net.onnx", "TW1107", says="is a file"),
    wrong("compile net.onnx -t generic -o out --import-state nowhere", "TW1220", 3),
    wrong(
        "compile net.onnx -t generic -o out --export-state tiled=a --export-state tiled=b",
        "TW1101",
        says="stage is given twice",
    ),
    wrong(
        "compile net.onnx -t generic -o out --export-state tiled=a --export-state bound=a",
        "TW1101",
        says="folder is given twice",
    ),
    wrong("compile net.onnx -t generic -o out --selftest --const-format bin", "TW1101", says="exclude each other"),
    wrong("compile net.onnx -t generic -o out --import-state net.onnx", "TW1220", 3),
    wrong("validate net.onnx -t generic --sets 0", "TW1100", says="0"),
    wrong("validate net.onnx -t generic --on hosst", "TW8001", 8, "did you mean 'host'?"),
    wrong("validate net.onnx -t generic --on qemu", "TW8001", 8, "qemu"),
    wrong("validate net.onnx -t generic --io nowhere.npz", "TW6001", says="No such file"),
    wrong("validate net.onnx -t generic --io user", "TW6001", says="--place-io user"),
    wrong("validate net.onnx -t generic --io x=push", "TW6001", says="--place-io x=push"),
    wrong("validate net.onnx -t generic --io v.npz", "TW6001", v_npz="[1, 2, 3]"),
    wrong("validate net.onnx -t generic --io net.npz --trace .", "TW1107", says="folder"),
    wrong("validate net.onnx -t siracusa --on host --sets 1", "TW7006", 7, "--on twin"),
    wrong("bench net.onnx -t generic", "TW7011", 4, "counts"),
    wrong("report nowhere.json", "TW1109", says="No such file"),
    wrong("report net.onnx", "TW1109", says="no JSON"),
    wrong("report r.json", "TW1109", says="of a group", r_json='{"schema": "x/group-1.json", "models": {"a": {}}}'),
    wrong("report r.json", "TW1109", r_json='{"schema": "report-2.json"}'),
    wrong("report net.json --format pdf", "TW1100", says="svg"),
    wrong("diff net.json", "TW1100", says="NEW"),
    wrong("diff net.json nowhere.json", "TW1109", says="nowhere.json"),
    wrong("diff net.json net.json --fail-on ram", "TW1101", says="ram+2%"),
    wrong("diff net.json net.json --fail-on ram+2procent", "TW1101", says="ram+2%"),
    wrong("diff net.json net.json --fail-on rom+2%", "TW1101", says="rom"),
)
PROBLEMS = (
    wrong("plan nowhere.csv", "TW5022", says="No such file"),
    plan("", "columns"),
    plan("name,from,to,bytes\na,0,1,8\n", "columns"),
    plan(CSV + "a,0,1,many\n", "many"),
    plan(CSV + "a,0,1\n", ""),
    plan(CSV + "a,0,1,-8\n", "a", "TW5025"),
    plan(CSV + "a,5,1,8\n", "a", "TW5025"),
    plan(CSV + "a,0,1,8\na,1,2,8\n", "a", "TW5025"),
    plan("{", ""),
    plan("[]", "columns"),
    plan('{"blocks": []}', "buffers"),
    plan('{"buffers": 3}', ""),
    plan('{"buffers": [{"name": "a"}]}', "size"),
    plan(
        '{"buffers": [{"name": "a", "size": 8, "conflicts": ["b"]}]}',
        "a conflict names 'b', which is no block",
        "TW5025",
    ),
    plan(b"\xff\xfe\0", "UTF-8"),
    plan(CSV + "a,0,1,8\n", "allocator", "TW8001", 8, "--allocator fastest"),
    plan(CSV + "a,0,1,8\n", "64kbit", "TW1101", 2, "--capacity 64kbit"),
    plan(CSV + "a,0,1,8\n", "memory", "TW1101", 2, "--capacity ram=8"),
    plan(CSV + "a,0,1,8\n", "", "TW5004", 5, "--capacity 4"),
    plan(CSV + "a,0,1,8\n", ".svg", "TW1101", 2, "--plot plan.png"),
    plan(CSV + "a,0,1,8\n", "folder", "TW1107", 2, "--solution ."),
)
LINES = (*WORDS, *FILES, *NUMBERS, *NAMES, *PLACES, *TOML, *OUTPUTS, *PROBLEMS)


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.typed}-{line.says}"[:100])
def test_a_wrong_line(
    line: Line,
    desk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: Any,
    demand_proper: Callable[..., None],
) -> None:
    here = shutil.copytree(desk, tmp_path / "here")
    for name, content in line.files.items():
        (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.chdir(here)
    before = contents(here)
    demand_proper(typed(line.typed), line.code, line.exit_code, line.says)
    assert contents(here) == before


def test_every_mistake_is_another_one() -> None:
    made = [(line.typed, sorted(line.files.items(), key=str)) for line in LINES]
    assert len(LINES) >= 150
    assert [one for one in made if made.count(one) > 1] == []
