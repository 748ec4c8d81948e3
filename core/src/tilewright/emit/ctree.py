"""Knows how the tree of a step or of the run function is printed: indentation, line breaks, parentheses.
Does not know what surrounds it in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

from tilewright.program import (
    Comment,
    CopyStart,
    CopyWait,
    Dead,
    Declare,
    Hook,
    If,
    KernelCall,
    KernelWait,
    Live,
    Loop,
    Raw,
    Statement,
    StepCall,
    StepCode,
)

WIDTH = 110
INDENT = "    "


def print_step(step: StepCode) -> str:
    """The step's comment and function, without a newline at the end."""
    parameters = ", ".join(_declarator(one.type, one.name) for one in step.parameters) or "void"
    lines = [*print_comment(step.comment), f"TW_STEP void {step.function}({parameters})", "{"]
    lines.extend(print_body(step.body, 1, ()))
    return "\n".join((*lines, "}"))


def print_comment(lines: Sequence[str]) -> list[str]:
    """A block comment; `lines` are safe already."""
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:]), " */"]


def print_body(body: Sequence[Statement], depth: int, steps: Sequence[StepCode]) -> Iterator[str]:
    """The lines of `body`. `steps` is what a StepCall's number refers to."""
    for statement in body:
        for line in _print(statement, steps):
            yield f"{INDENT * depth}{line}" if line else ""


def wrap_call(text: str, width: int = WIDTH) -> list[str]:
    """A call on one line, or with its arguments filled into lines of at most `width` characters."""
    lines = cleandoc(text).split("\n")
    if len(lines) > 1 or len(text) <= width or "(" not in text or '"' in text or "'" in text:
        return lines
    opening = text.index("(") + 1
    filled = [text[:opening]]
    for part in _arguments(text[opening:]):
        glue = "" if filled[-1].endswith("(") else " "
        if len(filled[-1]) + len(glue) + len(part) > width:
            filled.append(f"{INDENT}{part}")
        else:
            filled[-1] += glue + part
    return filled


def _arguments(text: str) -> Iterator[str]:
    """The pieces between commas that are not inside parentheses, each with its comma."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            yield text[start : index + 1].strip()
            start = index + 1
    yield text[start:].strip()


def _print(statement: Statement, steps: Sequence[StepCode]) -> list[str]:
    match statement:
        case Comment(lines=lines):
            return print_comment(lines)
        case Raw(text=text) | KernelWait(text=text) | CopyStart(text=text) | CopyWait(text=text):
            return cleandoc(text).split("\n")
        case KernelCall(text=text):
            return wrap_call(text)
        case Declare(type=kind, name=name, value=value):
            return [f"{_declarator(kind, name)} = {value};"]
        case Loop(variable=variable, start=start, stop=stop, step=step, body=body):
            advance = f"++{variable}" if step == "1" else f"{variable} += {step}"
            head = f"for (int32_t {variable} = {start}; {variable} < {stop}; {advance}) {{"
            return [head, *print_body(body, 1, steps), "}"]
        case If(condition=condition, body=body, otherwise=otherwise):
            closing = ["} else {", *print_body(otherwise, 1, steps), "}"] if otherwise else ["}"]
            return [f"if ({condition}) {{", *print_body(body, 1, steps), *closing]
        case Live(pointer=pointer, size_bytes=size):
            return [f"TW_LIVE({pointer}, {size}u);"]
        case Dead(pointer=pointer, size_bytes=size):
            return [f"TW_DEAD({pointer}, {size}u);"]
        case StepCall(step=number):
            code = steps[number]
            return wrap_call(f"{code.function}({', '.join(one.argument for one in code.parameters)});")
        case Hook(step=number, phase=phase):
            call = f"tw_on_step(ctx->hooks, {number}u, TW_STEP_{phase.upper()})"
            return [f"if ({call} != 0) {{", f"{INDENT}return TW_ERR_ABORTED;", "}"]


def _declarator(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
