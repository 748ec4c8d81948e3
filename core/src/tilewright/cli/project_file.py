"""Knows the project's own defaults for flags: `tilewright.toml`, or `[tool.tilewright]` in `pyproject.toml`, in the
current folder or the nearest one above. Does not know what any flag means.

    target = "cortex-m4"            # a flag of every command that has it
    memory = { ram = "64K" }        # --memory ram=64K; a list says a flag several times
    [compile]                       # of one command
    emit = "zephyr"
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tilewright.cli.option import NamesFlag
from tilewright.cli.output import progress
from tilewright.errors import TilewrightError, typed, usage_error

FILE = "tilewright.toml"
_NAMED_OTHERWISE = {("validate", "io"): "place-io"}  # command, flag of other commands -> the same flag there
_OF_ONE_MODEL = ("target", "name", "emit", "dump-after", "export-state", "import-state")  # a group's file has its own


def project_defaults(
    context: click.Context, group: click.Group, name: str, folder: Path, typed_words: Sequence[str] = ()
) -> Mapping[str, Any]:
    """What the project says of command `name`: parameter -> value, said on stderr, too. Where `--group` is among the
    words that are typed behind it, without what is about single models.

    TilewrightError TW1130 (exit 2): the file cannot be used, or has a key that no command knows.
    """
    file = nearest(folder)
    command = group.get_command(context, name)
    if file is None or command is None:
        return {}
    table, commands = _read(file), group.list_commands(context)
    own = table.get(name, {})
    if not isinstance(own, dict):
        raise _refused(file, f"'{name}' is a command: its flags are a table, [{name}]")
    flags = {key: value for key, value in table.items() if key not in commands}
    known = _parameters(command)
    flags = {_NAMED_OTHERWISE.get((name, key), key): value for key, value in flags.items()}
    if any(key not in known for key in flags):
        known_commands = [
            known_command for other in commands if (known_command := group.get_command(context, other)) is not None
        ]
        _demand_known(flags, {flag for known_command in known_commands for flag in _parameters(known_command)}, file)
    _demand_known(own, known.keys(), file)
    left_out = _OF_ONE_MODEL if any(word.partition("=")[0] == "--group" for word in typed_words) else ()
    chosen = {key: value for key, value in {**flags, **own}.items() if key in known and key not in left_out}
    if chosen:
        progress(f"{file.name}: {', '.join(f'{key} = {_shown(value)}' for key, value in chosen.items())}")
    return {known[key].name or "": _default(known[key], key, value, file) for key, value in chosen.items()}


def nearest(folder: Path) -> Path | None:
    """The file that holds for a folder: its own or the next one above; `tilewright.toml` before `pyproject.toml`."""
    for place in (folder, *folder.parents):
        if (place / FILE).is_file():
            return place / FILE
        shared = place / "pyproject.toml"
        if shared.is_file() and _mine(shared) is not None:
            return shared
    return None


def _mine(file: Path) -> dict[str, Any] | None:
    """[tool.tilewright]; None where there is none, or the file is none of ours and broken."""
    try:
        table = _parsed(file).get("tool", {}).get("tilewright")
    except (OSError, ValueError, AttributeError):
        return None
    return table if isinstance(table, dict) else None


def _read(file: Path) -> dict[str, Any]:
    if file.name != FILE:
        return _mine(file) or {}
    try:
        return _parsed(file)
    except (OSError, ValueError) as error:
        raise _refused(file, str(error).splitlines()[0]) from None


def _parsed(file: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(file.read_text("utf-8"))


def _parameters(command: click.Command) -> dict[str, click.Parameter]:
    """By the name of the long flag without its dashes, or of its opposite; arguments are no defaults of a project."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    return {
        flag.removeprefix("--"): item for item in options for flag in (max(item.opts, key=len), *item.secondary_opts)
    }


def _demand_known(flags: Mapping[str, Any], known: Collection[str], file: Path) -> None:
    for key in flags:
        if key not in known:
            from difflib import get_close_matches

            similar = get_close_matches(key, known, 1, 0.5)
            raise _refused(file, f"there is no flag --{key}{f': did you mean {similar[0]}?' if similar else ''}")


def _default(parameter: click.Parameter, key: str, value: Any, file: Path) -> Any:
    """The value as click takes a default: a table is NAME=VALUE several times."""
    if f"--{key}" in parameter.secondary_opts:
        if not isinstance(value, bool):
            raise _refused(file, f"--{key} is true or false")
        return not value
    if isinstance(value, dict):
        value = [f"{name}={item}" for name, item in value.items()]
    if value == "" or (isinstance(value, list) and "" in value):
        raise _refused(file, f"--{key} is given an empty value: leave it out")
    if isinstance(parameter, NamesFlag) and isinstance(value, list):
        value = ",".join(map(str, value))
    if parameter.multiple:
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if isinstance(value, list):
        raise _refused(file, f"--{key} is given once: write one value, not a list")
    if isinstance(parameter.type, click.Path):
        return str(file.parent / str(value))  # wherever the command is called
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _refused(file: Path, reason: str) -> TilewrightError:
    return usage_error(
        "TW1130",
        "the project's file cannot be used",
        where=str(file),
        details=(reason,),
        fix=(typed("tilewright", "--no-project", "compile", "--help", gives="lists flags; keys are their long names"),),
    )
