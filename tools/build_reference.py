"""Writes the pages of the documentation that are made from the sources: docs/errors.md and docs/reference/*.md.
Usage: python tools/build_reference.py [FOLDER]; the folder is `docs` unless given. A test compares the two.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from tilewright import api
from tilewright.cli.main import COMMANDS, tilewright
from tilewright.errors import Exit
from tilewright.errors.catalogue import EXITS, catalogue
from tilewright.plugins import hookspecs

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
FIELD = re.compile(r"^ {4}(\w+): .*?(?:  # (.*))?$")


def pages() -> dict[str, str]:
    """Every page by its path below `docs`."""
    return {
        "errors.md": "\n".join(_errors()),
        "reference/README.md": "\n".join(_index()),
        "reference/hooks.md": "\n".join(_hooks()),
        "reference/command-line.md": "\n".join(_command_line()),
        **{f"reference/{_page_of(home)}": "\n".join(_module(home, names)) for home, names in _homes().items()},
    }


def _errors() -> Iterator[str]:
    yield from (MADE, "# Errors", "")
    yield "Every error names a code, a place, a reason and a next step. `tilewright explain CODE` prints these texts."
    yield from ("", "## Exit codes", "", "| code | meaning |", "|---:|---|")
    yield from (f"| {code.value} | {EXITS[code]} |" for code in Exit)
    for start, family in FAMILIES.items():
        found = [item for item in catalogue().values() if item.code.startswith(start)]
        if found:
            yield from ("", f"## {start}xxx: {family}")
        for item in found:
            yield from ("", f"### {item.code}: {item.title}", "", item.text)
    yield ""


def _homes() -> dict[str, list[str]]:
    """The modules behind `tilewright.api`, and the names of each."""
    homes: dict[str, list[str]] = {}
    for name in dir(api):
        if name != "hookimpl":
            homes.setdefault(api._HOME_OF[name], []).append(name)
    return dict(sorted(homes.items()))


def _page_of(home: str) -> str:
    return f"{home.removeprefix('tilewright.')}.md"


def _index() -> Iterator[str]:
    yield from (MADE, "# Reference", "")
    yield "- [Command line](command-line.md): every command and flag"
    yield "- [Hooks](hooks.md): what a plugin may offer"
    yield "- [Errors](../errors.md): exit codes and error codes"
    yield from ("", "## What plugins import from `tilewright.api`", "", "| name | page | what it is |", "|---|---|---|")
    for home, names in _homes().items():
        for name in names:
            page = _page_of(home)
            yield f"| `{name}` | [{page[:-3]}]({page}#{name.lower()}) | {_summary(getattr(api, name))} |"
    yield ""


def _hooks() -> Iterator[str]:
    yield from (MADE, "# Hooks", "", inspect.cleandoc(hookspecs.__doc__ or "").split("\n\n", 1)[1], "")
    yield "Each has a [how-to page](../howto/README.md) with a complete plugin."
    for name, hook in vars(hookspecs).items():
        if name.startswith("tilewright_"):
            yield from ("", f"## {name}", "", "```python", f"def {name}{inspect.signature(hook)}", "```", "")
            yield inspect.getdoc(hook) or ""
    yield ""


def _command_line() -> Iterator[str]:
    yield from (MADE, "# Command line", "")
    yield "Results go to stdout, everything else to stderr. Exit codes are in [errors](../errors.md)."
    context = click.Context(tilewright, info_name="tilewright")
    for name in COMMANDS:
        command = tilewright.get_command(context, name)
        if command is not None:
            yield from _command(command, name, context)
    yield ""


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    yield from ("", f"## {context.command_path}", "", "```text", command.get_help(context), "```")
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _command(inner, inner.name or "", context)


def _module(home: str, names: list[str]) -> Iterator[str]:
    yield from (MADE, f"# {_page_of(home)[:-3]}", "", inspect.cleandoc(import_module(home).__doc__ or ""))
    for name in names:
        value = getattr(api, name)
        yield from ("", f"## {name}", "")
        yield from _class(value) if isinstance(value, type) else _function(name, value)
    yield ""


def _function(name: str, function: Any) -> Iterator[str]:
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):  # a name for a type
        yield from ("```python", f"{name} = {str(function).replace('tilewright.', '')}", "```")
        return
    yield from ("```python", f"{name}{inspect.signature(function)}", "```", "")
    yield inspect.getdoc(function) or ""


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
    for name, member in vars(value).items():
        if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
            signature = inspect.signature(member) if inspect.isfunction(member) else ""
            yield from ("", f"`{name}{signature}`: {_summary(member)}")


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
        found = FIELD.match(line)
        if found:
            last = found[1]
        comment = found[2] if found else line.partition("  # ")[2] if line.startswith("    )") else ""
        if last and comment:
            comments[last] = comment.replace("|", "\\|")
    return comments


def _summary(value: Any) -> str:
    if not isinstance(value, type | property) and not inspect.isfunction(inspect.unwrap(value)):
        return f"`{str(value).replace('tilewright.', '')}`".replace("|", "\\|")
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
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs")
