"""Writes the pages of the documentation that are made from the sources: docs/errors.md and docs/reference/*.md.
Usage: python tools/build_reference.py [FOLDER]; the folder is `docs` unless given. A test compares the two.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Any, is_typeddict

import click
from build_api import Layer, layers
from operator_page import operator_page

import tilewright
from tilewright.cli.main import COMMANDS
from tilewright.cli.main import tilewright as command_line
from tilewright.comparison.verdicts import OutputVerdict, StepVerdict
from tilewright.errors import Exit
from tilewright.errors.catalogue import EXITS, catalogue
from tilewright.exploration.estimate import Estimate
from tilewright.exploration.sweep.axes import Axis
from tilewright.exploration.sweep.sweep import Sweep
from tilewright.front_door.compilation import Compiled, MemoryUse, Report
from tilewright.front_door.compile_keywords import Keywords
from tilewright.plugins import hookspecs
from tilewright.validation.validation import Validation

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = {
    "TW1": "Model and command line",
    "TW2": "Operator support",
    "TW3": "Quantisation",
    "TW4": "Schedule",
    "TW5": "Memory",
    "TW6": "Validation",
    "TW7": "Tools",
    "TW8": "Plugins",
    "TW9": "Internal",
}
MADE = "<!-- Made by tools/build_reference.py: change the sources, not this page. -->\n"
COLUMNS = 120
EXAMPLES = ROOT / "docs" / "api"  # for every layer a program, cut into cells: `# %% NAME, NAME`
FOR_USERS = (
    tilewright.compile,
    Keywords,
    Compiled,
    Report,
    MemoryUse,
    tilewright.estimate,
    Estimate,
    tilewright.sweep,
    Sweep,
    Axis,
    Validation,
    StepVerdict,
    OutputVerdict,
)
HOME = re.compile(r"\b(?:tilewright\.[a-z_.]+|collections\.abc)\.(?=[A-Z])")  # which module of the core a class is from
FIELD = re.compile(r"^ {4}(\w+): .*?(?:  # (.*))?$")


def pages() -> dict[str, str]:
    """Every page by its path below `docs`."""
    return {
        "errors.md": "\n".join(_errors()),
        "reference/README.md": "\n".join(_index()),
        "reference/hooks.md": "\n".join(_hooks()),
        "reference/command-line.md": "\n".join(_command_line()),
        "reference/python.md": "\n".join(_python()),
        "reference/operators.md": "\n".join((MADE, *operator_page())),
        **{f"reference/{_page_of(layer)}": "\n".join(_layer(layer)) for layer in layers()},
    }


def _errors() -> Iterator[str]:
    yield from (MADE, "# Errors", "")
    yield "Every error names a code, a place, a reason and a next step. `tilewright explain CODE` prints these texts."
    yield from ("", "## Exit codes", "", "| code | meaning |", "|---:|---|")
    yield from (f"| {code.value} | {EXITS[code]} |" for code in Exit)
    for start, family in FAMILIES.items():
        result = [item for item in catalogue().values() if item.code.startswith(start)]
        if result:
            yield from ("", f"## {start}xxx: {family}")
        for item in result:
            yield from ("", f"### {item.code}: {item.title}", "", item.text)
            yield from ("", "```toml", *item.example, "```") if item.example else ()
    yield ""


def _page_of(layer: Layer) -> str:
    return f"{layer.module.removeprefix('tilewright.')}.md"


def _index() -> Iterator[str]:
    yield from (MADE, "# Reference", "")
    yield "- [Command line](command-line.md): every command and flag"
    yield "- [Python](python.md): the same from a program or a notebook"
    yield "- [ONNX operators](operators.md): every signature that is read, and what must hold of it"
    yield "- [Hooks](hooks.md): what a plugin may offer"
    yield "- [Errors](../errors.md): exit codes and error codes"
    yield from ("", "## What plugins import", "", "| module | for | names |", "|---|---|---|")
    for layer in layers():
        page = _page_of(layer)
        names = ", ".join(f"[{name}]({page}#{name.lower()})" for name in layer.all_names)
        yield f"| [`{layer.module}`]({page}) | {layer.readers} | {names} |"
    yield ""


def _hooks() -> Iterator[str]:
    yield from (MADE, "# Hooks", "", inspect.cleandoc(hookspecs.__doc__ or "").split("\n\n", 1)[1], "")
    yield "Each has a [how-to page](../howto/README.md) with a complete plugin."
    for name, hook in vars(hookspecs).items():
        if name.startswith("tilewright_"):
            yield from ("", f"## {name}", "", "```python", f"def {name}{_signature(hook)}", "```", "")
            yield inspect.getdoc(hook) or ""
    yield ""


def _command_line() -> Iterator[str]:
    yield from (MADE, "# Command line", "")
    yield "Results go to stdout, everything else to stderr. Exit codes are in [errors](../errors.md)."
    context = click.Context(command_line, info_name="tilewright")
    for name in COMMANDS:
        command = command_line.get_command(context, name)
        if command is not None:
            yield from _command(command, name, context)
    yield ""


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    yield from ("", f"## {context.command_path}", "", "```text", command.get_help(context), "```")
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _command(inner, inner.name or "", context)


def _python() -> Iterator[str]:
    yield from (MADE, "# Python", "")
    yield "What `import tilewright` offers to those who compile networks. [From Python](../tutorials/python.md) shows"
    yield "it at work; what authors of plugins import is [tilewright.api](api.md)."
    for value in FOR_USERS:
        yield from ("", f"## {value.__name__}", "")
        yield from _class(value) if isinstance(value, type) else _function(value.__name__, value)
    yield ""


def _layer(layer: Layer) -> Iterator[str]:
    yield from (MADE, f"# {layer.module}", "", f"For {layer.readers}. {' '.join(layer.about.split())}")
    for home in layer.names:
        for paragraph in inspect.cleandoc(import_module(home).__doc__ or "").split("\n\n")[1:]:
            yield from ("", paragraph)
    beginning, *cells = _cells(layer)
    yield from ("", "The examples are one program, which runs as a test. It begins with", "", *_fenced(beginning[1]))
    shown = {name: number for number, (names, _) in enumerate(cells) for name in names}
    for name in layer.all_names:
        value = getattr(import_module(layer.module), name)
        yield from ("", f"## {name}", "")
        yield from _class(value) if isinstance(value, type) else _function(name, value)
        names, code = cells[shown[name]]
        yield from ("", *(_fenced(code) if name == names[0] else [f"Example: see [{names[0]}](#{names[0].lower()})."]))
    yield ""


def _cells(layer: Layer) -> list[tuple[tuple[str, ...], str]]:
    """The names that a cell is about, and its code; the first one is what the others need."""
    text = (EXAMPLES / f"{layer.name}_examples.py").read_text(encoding="utf-8")
    pieces = (piece.partition("\n") for piece in re.split(r"^# %% ", text, flags=re.MULTILINE)[1:])
    return [(tuple(title.split(", ")), code.strip("\n")) for title, _, code in pieces]


def _fenced(code: str) -> list[str]:
    return ["```python", code, "```"]


def _function(name: str, function: Any) -> Iterator[str]:
    function = inspect.unwrap(function) if callable(function) else function
    if not inspect.isfunction(function):
        yield from _fenced(_constant(name, function))
        return
    yield from ("```python", f"{name}{_signature(function)}", "```", "")
    yield inspect.getdoc(function) or ""


def _constant(name: str, value: object) -> str:
    """A type, a number or a short tuple in full; of any other constant what it is."""
    text = HOME.sub("", str(value))
    if isinstance(value, UnionType) and len(text) > COLUMNS:
        return "\n".join((f"{name} = (", "    " + text.replace(" | ", "\n    | "), ")"))
    is_short = isinstance(value, int | str | tuple) and len(text) < COLUMNS // 2
    is_type = isinstance(value, UnionType | GenericAlias) or type(value).__module__ == "typing"
    return f"{name} = {text}" if is_short or is_type else f"{name}: {type(value).__name__}"


class _Bare(str):
    """An annotation, printed without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Any) -> inspect.Signature:
    result = inspect.signature(function)
    parameters = [
        parameter
        if parameter.annotation is parameter.empty
        else parameter.replace(annotation=_Bare(parameter.annotation))
        for parameter in result.parameters.values()
    ]
    return result.replace(parameters=parameters, return_annotation=_Bare(result.return_annotation))


def _class(value: type) -> Iterator[str]:
    yield inspect.getdoc(value) or ""
    if issubclass(value, Enum):
        yield from ("", "| member | value |", "|---|---|")
        yield from (f"| `{member.name}` | `{member.value!r}` |" for member in value)
    elif dataclasses.is_dataclass(value):
        comments = _comments(value)
        yield from ("", "| field | type | default | |", "|---|---|---|---|")
        for item in dataclasses.fields(value):
            kind = str(item.type).replace("|", "\\|")
            yield f"| `{item.name}` | `{kind}` | {_default(item)} | {comments.get(item.name, '')} |"
    elif is_typeddict(value):
        comments = _comments(value)
        yield from ("", "| keyword | type | |", "|---|---|---|")
        for name, kind in value.__annotations__.items():
            yield f"| `{name}` | `{_forward(kind)}` | {comments.get(name, '')} |"
    for name, member in vars(value).items():
        if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
            signature = _signature(member) if inspect.isfunction(member) else ""
            yield from ("", f"`{name}{signature}`: {_summary(member)}")


def _forward(kind: Any) -> str:
    """An annotation that is still a text, in a cell of a table."""
    return str(kind.__forward_arg__).replace("|", "\\|")


def _default(item: dataclasses.Field[Any]) -> str:
    if item.default_factory is not dataclasses.MISSING:
        return f"`{item.default_factory()!r}`"
    if item.default is dataclasses.MISSING:
        return "required"
    return "a function" if callable(item.default) else f"`{item.default!r}`"


def _comments(value: type) -> dict[str, str]:
    """Field -> the comment beside it, or beside the end of a default that takes several lines."""
    comments, last = {}, ""
    for line in inspect.getsource(value).splitlines():
        match = FIELD.match(line)
        if match:
            last = match[1]
        comment = match[2] if match else line.partition("  # ")[2] if line.startswith("    )") else ""
        if last and comment:
            comments[last] = comment.replace("|", "\\|")
    return comments


def _summary(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("|", "\\|")


def main(folder: Path) -> None:
    """Write every page, and remove the ones that are made no more."""
    for old in (folder / "reference").glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    from folder_argument import folder_asked

    main(folder_asked(__doc__, ROOT / "docs"))
