"""Knows how the tree of a step or of the run function is printed: indentation, line breaks, parentheses.
Does not know what surrounds it in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc

from tilewright.ir.programs.expressions import Expression, FunctionCall, Number
from tilewright.ir.programs.program import Part, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    Coded,
    Comment,
    Dead,
    Declare,
    For,
    Foreign,
    Hook,
    If,
    Live,
    Mark,
    PartCall,
    Raw,
    Statement,
    StepCall,
    Switch,
    While,
)

WIDTH = 120
INDENT = "    "


def print_step(step: StepCode) -> str:
    """The step's comment, what its function needs, and the function, without a newline at the end.

    A step that is computed in another one's function has none of its own.
    """
    if not step.body:
        return "\n".join(print_comment(step.comment))
    if not step.parts:
        return "\n".join((*print_comment(step.comment), *_function("TW_STEP void", step.function, step)))
    texts = ["\n".join(print_comment(step.comment)), *step.declarations]
    for part in step.parts:
        head = _function(f"static {_declarator(part.type, '').strip()}", part.function, part, part.result)
        texts.append("\n".join((*print_comment(part.comment), *head)))
    return "\n\n".join((*texts, "\n".join(_function("TW_STEP void", step.function, step))))


def _function(head: str, name: str, code: StepCode | Part, result: Expression | None = None) -> list[str]:
    parameters = ", ".join(_declarator(one.type, one.name) for one in code.parameters) or "void"
    lines = [*signature(f"{head} {name}({parameters})"), "{", *print_body(code.body, 1, ())]
    return [*lines, *([f"{INDENT}return {result};"] if result else []), "}"]


def signature(text: str) -> list[str]:
    """On one line, or with the further parameters under the first one."""
    if len(text) <= WIDTH:
        return [text]
    opening = text.index("(") + 1
    lines = [text[:opening]]
    for piece in _arguments(text[opening:]):
        glue = "" if lines[-1].endswith("(") or lines[-1].isspace() else " "
        if len(lines[-1]) + len(glue) + len(piece) > WIDTH:
            lines.append(" " * opening + piece)
        else:
            lines[-1] += glue + piece
    return lines


def print_call(step: StepCode, width: int = WIDTH) -> list[str]:
    """The call of a step's function."""
    return wrap_call(
        f"{FunctionCall(step.function, tuple(one.given or one.variable for one in step.parameters))};", width
    )


def print_comment(lines: Sequence[str]) -> list[str]:
    """A block comment; `lines` are safe already."""
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f" * {line}" for line in lines[1:]), " */"]


def print_body(body: Sequence[Statement], depth: int, steps: Sequence[StepCode]) -> Iterator[str]:
    """The lines of `body`. `steps` is what a StepCall's number refers to."""
    yield from _indented(body, depth, steps, WIDTH)


def _indented(body: Sequence[Statement], depth: int, steps: Sequence[StepCode], width: int) -> Iterator[str]:
    for statement in body:
        for line in _print(statement, steps, width - len(INDENT) * depth):
            yield f"{INDENT * depth}{line}" if line else ""


def wrap_call(text: str, width: int = WIDTH) -> list[str]:
    """A call on one line, or with its arguments filled into lines of at most `width` characters."""
    lines = cleandoc(text).split("\n")
    if '"' in text or "'" in text:
        return lines
    wrapped = (
        _arguments_filled(text, width) if len(lines) == 1 else [one for line in lines for one in _filled(line, width)]
    )
    return [one for line in wrapped for one in broken(line, width)]


def _arguments_filled(text: str, width: int) -> list[str]:
    if len(text) <= width or "(" not in text:
        return [text]
    opening = text.index("(") + 1
    filled = [text[:opening]]
    for part in _arguments(text[opening:]):
        glue = "" if filled[-1].endswith("(") else " "
        if len(filled[-1]) + len(glue) + len(part) > width:
            filled.append(f"{INDENT}{part}")
        else:
            filled[-1] += glue + part
    return filled


def broken(text: str, width: int) -> list[str]:
    """A statement's line, broken where the fewest parentheses are open: after commas, before operators."""
    if len(text) <= width:
        return [text]
    depth, places = 0, list[tuple[int, int]]()
    for at, character in enumerate(text[:width]):
        depth += (character in "([{") - (character in ")]}")
        operator = text[at + 1 : at + 3] in ("&&", "+ ", "- ", "? ", ": ")
        if character == " " and at > len(INDENT) and (text[at - 1] in ",;=" or operator):
            places.append((-depth, at))
    if not places:
        return [text]
    _, place = max(places)
    return [text[:place], *(broken(f"{INDENT}{text[place + 1 :]}", width))]


def _filled(line: str, width: int) -> list[str]:
    """A line of a longer statement, broken after commas."""
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip())) + INDENT
    filled = [""]
    for piece in line.split(", "):
        joined = f"{filled[-1]}, {piece}" if filled[-1] else piece
        if len(joined) >= width and filled[-1]:
            filled[-1] += ","
            filled.append(indent + piece)
        else:
            filled[-1] = joined
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


def _print(statement: Statement, steps: Sequence[StepCode], width: int) -> list[str]:
    if isinstance(statement, Coded):
        end = "" if isinstance(statement.code, Foreign) else ";"
        return wrap_call(f"{statement.code}{end}", width)
    match statement:
        case Comment(lines=lines):
            return print_comment(lines)
        case Raw(text=text):
            return cleandoc(text).split("\n")
        case PartCall(function=function, arguments=arguments):
            return wrap_call(f"{FunctionCall(function, arguments)};", width)
        case Barrier():
            return ["tw_rt_barrier();"]
        case Mark():
            return []
        case Declare(type=kind, name=name, value=value, count=count):
            return _wrap_list(f"{_declarator(kind, name)}{f'[{count}]' if count else ''} = {value};", width)
        case For(variable=variable, start=start, stop=stop, step=step, body=body):
            advance = f"++{variable}" if step == Number(1) else f"{variable} += {step}"
            head = f"for (int32_t {variable} = {start}; {variable} < {stop}; {advance}) {{"
            return [*broken(head, width), *_indented(body, 1, steps, width), "}"]
        case While(condition=condition, body=body):
            return [*broken(f"while ({condition}) {{", width), *_indented(body, 1, steps, width), "}"]
        case If(condition=condition, body=body, otherwise=otherwise):
            inner, other = list(_indented(body, 1, steps, width)), list(_indented(otherwise, 1, steps, width))
            closing = ["} else {", *other, "}"] if other else ["}"]
            return [*broken(f"if ({condition}) {{", width), *inner, *closing] if inner or other else []
        case Switch(value=value, bodies=bodies):
            return [f"switch ({value}) {{", *_cases(bodies, steps, width), "}"]
        case Live(pointer=pointer, size_bytes=size, tile=tile):
            return [f"{'tw_rt_live' if tile else 'TW_LIVE'}({pointer}, {size}u);"]
        case Dead(pointer=pointer, size_bytes=size, tile=tile):
            return [f"{'tw_rt_dead' if tile else 'TW_DEAD'}({pointer}, {size}u);"]
        case StepCall(step=index):
            return print_call(steps[index], width) if steps[index].body else []
        case Hook(step=number, phase=phase):
            hook = f"tw_on_step(ctx, {number}u, TW_STEP_{phase.upper()})"
            return [f"if ({hook} != 0) {{", f"{INDENT}return TW_ERR_ABORTED;", "}"]


def _cases(bodies: Sequence[Sequence[Statement]], steps: Sequence[StepCode], width: int) -> Iterator[str]:
    for number, body in enumerate(bodies):
        yield f"case {number}:" if number + 1 < len(bodies) else "default:"
        yield from _indented(body, 1, steps, width)
        yield f"{INDENT}break;"


def _wrap_list(text: str, width: int) -> list[str]:
    """A declaration on one line, or with a member of its initialiser on each."""
    if len(text) <= width or not text.endswith("};"):
        return broken(text, width)
    opening = text.index("{") + 1
    return [text[:opening], *(f"{INDENT}{piece}" for piece in _arguments(text[opening:-2])), "};"]


def _declarator(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
