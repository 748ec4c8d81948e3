"""Prints the modules and functions of tilewright's packages that a compilation executes, in order of first execution.

    python tools/trace_compile.py MODEL --target TARGET     every function, with its line, under its module
    python tools/trace_compile.py MODEL --markdown          modules only, in order, with their room
    python tools/trace_compile.py                           of one float Conv, which is made here
    python tools/trace_compile.py --page                    writes that into docs/architecture.md

From the ONNX file to the generated files, with default options. What runs while a module is imported is not counted:
bodies of modules and classes, and what they call. A comprehension is part of the function that it stands in. The model
is compiled once before, in another process, so that what is kept between runs is there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
EVERYWHERE = ("tilewright-integer-dialect",)  # packages that look at every network: the page is about the core
BEGIN, END = "<!-- tools/trace_compile.py --page -->\n", "<!-- end -->\n"
FUNCTION = 1  # CO_OPTIMIZED: of functions, not of bodies of modules and classes
PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """A function that was executed."""

    module: str
    name: str
    line: int

    @property
    def room(self) -> str:
        """The folder of the core that its module lives in, a module outside of folders, or another package."""
        package, *inner = self.module.split(".")
        return inner[0] if package == "tilewright" and inner else package


class Trace:
    """Which functions of tilewright's packages are called while it is Python's profile hook."""

    def __init__(self) -> None:
        self._codes: dict[int, tuple[CodeType, Executed | None]] = {}  # by identity: equal code may stand in two files
        self._importing = 0

    @property
    def functions(self) -> tuple[Executed, ...]:
        """Each once, in order of first execution."""
        return tuple(executed for _, executed in self._codes.values() if executed is not None)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if not code.co_flags & FUNCTION:
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing and id(code) not in self._codes:
            self._codes[id(code)] = code, executed(code, str(frame.f_globals.get("__name__")))


def executed(code: CodeType, module: str) -> Executed | None:
    """None where it is no function of our sources: another package's, part of another, or text that was compiled."""
    if not module.startswith("tilewright") or code.co_name in PARTS or not code.co_filename.endswith(".py"):
        return None
    return Executed(module=module, name=code.co_qualname, line=code.co_firstlineno)


def traced(compilation: Callable[[], object]) -> tuple[Executed, ...]:
    """The functions that `compilation` executes, in order."""
    trace = Trace()
    sys.setprofile(trace)
    try:
        compilation()
    finally:
        sys.setprofile(None)
    return trace.functions


def compile_model(model: Path, target: str) -> object:
    """Every file that is generated for it."""
    from tilewright.api.deployment import Deployment

    return Deployment(model, target).files


def one_convolution() -> bytes:
    """A network of one Conv: 3 to 4 channels of 16 x 16 floats, a window of 3 x 3."""
    from onnx import TensorProto, helper

    shapes = {"image": (1, 3, 16, 16), "features": (1, 4, 16, 16)}
    image, features = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items())
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, [0.5] * count)
        for name, shape, count in (("weights", (4, 3, 3, 3), 108), ("bias", (4,), 4))
    ]
    node = helper.make_node("Conv", ["image", "weights", "bias"], ["features"], name="conv", pads=[1, 1, 1, 1])
    graph = helper.make_graph([node], "one_conv", [image], [features], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    return bytes(model.SerializeToString())


def totals(functions: Sequence[Executed]) -> str:
    """Of the functions in order, an entry into another room is one that the function before is not of."""
    modules, rooms = ({getattr(function, of) for function in functions} for of in ("module", "room"))
    changes = sum(left.room != right.room for left, right in pairwise(functions))
    return f"{len(modules)} modules of {len(rooms)} rooms, {len(functions):,} functions, {changes} changes of room"


def listing(functions: Sequence[Executed]) -> Iterator[str]:
    """A line for every function, below the module that it is of, and the totals."""
    for module, group in groupby(functions, key=lambda function: function.module):
        yield module
        yield from (f"    {function.line:4} {function.name}" for function in group)
    yield totals(functions)


def short_form(functions: Sequence[Executed]) -> Iterator[str]:
    """Markdown: the totals, and a paragraph of modules for each stay in a room."""
    yield f"{totals(functions)}.\n"
    modules = dict.fromkeys((function.room, function.module) for function in functions)
    for room, group in groupby(modules, key=lambda module: module[0]):
        names = [module.rpartition(".")[2] for _, module in group]
        yield fill(f"- **{room}**: {', '.join(names)}", 120, subsequent_indent="  ")


def with_trace(page: str, lines: Sequence[str]) -> str:
    """`page` with these lines between its marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1]


def convolution_lines() -> tuple[str, ...]:
    """What the page shows, found out in a process of its own, whatever this one has imported and computed."""
    command = [sys.executable, __file__, "--markdown"]
    alone = {**os.environ, "TILEWRIGHT_BLOCK": ",".join(EVERYWHERE)}
    return tuple(subprocess.run(command, capture_output=True, text=True, check=True, env=alone).stdout.splitlines())


def rewrite_page() -> None:
    """Write the trace of one Conv into docs/architecture.md."""
    PAGE.write_text(with_trace(PAGE.read_text("utf-8"), convolution_lines()), "utf-8")


def print_trace(model: Path, target: str, *, markdown: bool) -> None:
    """Compile it here, traced, after a process that compiles it and says nothing."""
    subprocess.run([sys.executable, __file__, str(model), "--target", target, "--once"], check=True)
    functions = traced(lambda: compile_model(model, target))
    lines = short_form(functions) if markdown else listing(functions)
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has seen enough; Python would complain again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, metavar="MODEL")
    parser.add_argument("--target", default="generic", metavar="TARGET", help="(default: generic)")
    parser.add_argument("--markdown", action="store_true", help="modules only")
    parser.add_argument("--page", action="store_true", help="write what one Conv executes into docs/architecture.md")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.page:
        return rewrite_page()
    if arguments.once:
        compile_model(arguments.model, arguments.target)
        return None
    with TemporaryDirectory() as folder:
        model = arguments.model or Path(folder, "one_conv.onnx")
        if arguments.model is None:
            model.write_bytes(one_convolution())
        return print_trace(model, arguments.target, markdown=arguments.markdown)


if __name__ == "__main__":
    main()
