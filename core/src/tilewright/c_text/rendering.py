"""Knows how a kernel's Mako text becomes C. Does not know which kernels a program has or where operands live."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from textwrap import dedent, indent
from types import MappingProxyType

from tilewright.c_text.calls import read_statement, words
from tilewright.c_text.literals import added, times
from tilewright.c_text.templates import template
from tilewright.errors import plugin_error
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.plugin_contract import demand_mapping
from tilewright.ir.programs.expressions import Expression
from tilewright.ir.programs.statements import Code, Foreign

INDENT = 4  # columns that authors indent what is inside of a loop
_LOOP = re.compile(r"for \(.*\)")

_NO_MORE: Mapping[str, object] = MappingProxyType({})
_TERMS = {"times": times, "added": added}  # what every text of a kernel may call


def render_source(kernel: Kernel, call: Call) -> tuple[CodeFragment, ...]:
    """The C at file scope that `call` needs, with what that needs in turn. Programs have equal sections once."""
    if not kernel.source:
        return ()
    values = {**_TERMS, **_values(kernel, call)}
    if isinstance(kernel.source, str):
        with _all_given(kernel, "source", values):
            text = str(template(kernel.source).render(**values)).strip("\n")
        return (CodeFragment(name="", text=text, owner=kernel.name),) if text else ()
    source = kernel.source(values) if callable(kernel.source) else kernel.source
    with _all_given(kernel, "source", values):
        return tuple(_rendered(section, values) for section in source)


def _rendered(source: CodeFragment | FragmentTemplate, values: Mapping[str, object]) -> CodeFragment:
    if isinstance(source, CodeFragment):
        return source
    names = {**values, **dict(source.given)}
    return CodeFragment(
        name=str(template(source.name).render(**names)),
        text=str(template(source.text).render(**names)).strip("\n"),
        needs=tuple(_rendered(need, names) for need in source.needs),
        includes=source.includes,
        owner=source.owner,
    )


def render_call(kernel: Kernel, call: Call) -> Code:
    """The statement that computes one tile."""
    return _statements(kernel, "call", call)


def render_wait(kernel: Kernel, call: Call, behind: str = "0") -> Code | None:
    """The statement that waits for an asynchronous kernel; None for the others. `behind` is C: the number of later jobs
    that may still run then.
    """
    if not kernel.wait:
        return None
    return _statements(kernel, "wait", call, {"behind": behind})


def render_finish(kernel: Kernel, call: Call) -> Code:
    """The statement in which a core computes its share of the outputs, of what a job has left in scratch."""
    if kernel.finish is None:
        raise ValueError(f"{kernel.name} leaves nothing to finish")
    return _statements(replace(kernel, call=kernel.finish.call), "call", call)


def _statements(kernel: Kernel, field: str, call: Call, more: Mapping[str, object] = _NO_MORE) -> Code:
    names = {**call.operands, "loops": call.extents, "bases": call.bases, **more, **_values(kernel, call)}
    with _all_given(kernel, field, names):
        return rendered(getattr(kernel, field), names)


@contextmanager
def _all_given(kernel: Kernel, field: str, names: Mapping[str, object]) -> Iterator[None]:
    """TilewrightError TW8062 (exit 8) where the text in `field` has a name that is not among `names`."""
    try:
        yield
    except NameError as error:
        raise plugin_error(
            "TW8062",
            f"kernel '{kernel.name}': its text `{field}` has a name that it is not given: {error}",
            details=(f"it is given: {', '.join(sorted({*names, *_TERMS}))}",),
            fix=(f"correct `{field}` if the kernel is yours; otherwise report it to the author of its package",),
        ) from error


def _values(kernel: Kernel, call: Call) -> Mapping[str, object]:
    return demand_mapping(kernel.values(call), f"kernel '{kernel.name}'", kernel.values, "values")


def rendered(text: str, values: Mapping[str, object]) -> Code:
    """The statements of a template that somebody else wrote: an expression where it is one call."""
    code = _braced(str(template(text).render(**{**_TERMS, **values})).strip())
    return read_statement(code) or Foreign(text=code, names=words(code), lines=tuple(_lines(code)))


def _braced(code: str) -> str:
    """The same, loops around one statement with their braces."""
    lines = code.split("\n")
    heads = [*takewhile(_LOOP.fullmatch, map(str.strip, lines))]
    statement = "\n".join(lines[len(heads) :])
    if not heads or statement.find(";") != len(statement) - 1 or "#" in statement:
        return code
    opened = [f"{' ' * INDENT * depth}{head} {{" for depth, head in enumerate(heads)]
    closed = [f"{' ' * INDENT * depth}}}" for depth in reversed(range(len(heads)))]
    return "\n".join((*opened, indent(dedent(statement), " " * INDENT * len(heads)), *closed))


def _lines(code: str) -> Iterator[tuple[int, Expression | str]]:
    """Statements with how deep they stand in those around them: calls as expressions, all else line by line."""
    waiting: list[str] = []
    for line in code.split("\n"):
        waiting.append(line)
        statement = "\n".join(waiting)
        if _balanced(statement) or (line.endswith("{") and statement.count("(") <= statement.count(")")):
            call = read_statement(statement)
            lines: list[Expression | str] = [call] if call else [text.strip() for text in waiting]
            yield from ((_depth(text), made) for text, made in zip(waiting, lines, strict=False))
            waiting = []
    yield from ((_depth(text), text.strip()) for text in waiting)


def _balanced(text: str) -> bool:
    return all(text.count(opening) <= text.count(closing) for opening, closing in ("()", "{}", "[]"))


def _depth(line: str) -> int:
    return (len(line) - len(line.lstrip())) // INDENT
