"""Knows several networks in one program: the file that names them, and the files that they become.
Does not know how any one of them is planned (each is a `Deployment`), nor the memory that they share (`shared_pools`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from tilewright.c_text.identifiers import prefix_problem
from tilewright.c_text.templates import template
from tilewright.config.memory_rules import CopyRule, parse_copy
from tilewright.config.options import Options
from tilewright.emit.emit import text
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.multi_model.shared_pools import SharedPool, share_pools

if TYPE_CHECKING:
    from tilewright.deployment import Deployment

KEYS = ("name", "target", "models", "concurrent")
MODEL_KEYS = ("file", "io", "network", "pin", "slide", "stage", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What the flags of the same names say, for one model of a group."""

    io: Mapping[str, Literal["pool", "user"]] = field(default_factory=dict)
    pin: tuple[tuple[str, str], ...] = ()
    stage: tuple[CopyRule, ...] = ()
    state: tuple[str, ...] = ()
    slide: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFile:
    """What a group file says. `concurrent` are sets of models that may run at the same time."""

    name: str
    target: str
    models: Mapping[str, Path]  # prefix -> model file
    settings: Mapping[str, ModelSettings] = field(default_factory=dict)  # prefix -> what holds for that model alone
    concurrent: tuple[tuple[str, ...], ...] = ()


def read_group(file: Path) -> GroupFile:
    """Read and check a group file. TilewrightError TW1410 (exit 2) names the key that is wrong."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise _wrong(file, error.strerror or str(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(file, str(error)) from None
    unknown = sorted(set(data) - set(KEYS))
    if unknown:
        raise _wrong(file, f"'{unknown[0]}' is no key; there are {', '.join(KEYS)}")
    models, target = data.get("models"), data.get("target")
    if not isinstance(target, str) or not isinstance(models, dict) or not models:
        raise _wrong(file, 'it needs target = "NAME" and a table [models] of PREFIX = "FILE"')
    name = data.get("name", file.stem)
    for prefix in (name, *models):
        problem = prefix_problem(prefix) if isinstance(prefix, str) else "it is no text"
        if problem:
            raise _wrong(file, f"'{prefix}' cannot begin the names of the generated C: {problem}")
    if name in models:
        raise _wrong(file, f"'{name}' is both the group's name and a model's")
    for first, second in combinations((name, *models), 2):
        if first.lower() == second.lower():
            raise _wrong(file, f"'{first}' and '{second}' would have the same macros, which are in upper case")
    tables = {prefix: value if isinstance(value, dict) else {"file": value} for prefix, value in models.items()}
    paths = {prefix: _path(file, prefix, value) for prefix, value in tables.items()}
    return GroupFile(
        name=name,
        target=target,
        models=paths,
        settings={prefix: _settings(file, prefix, value) for prefix, value in tables.items()},
        concurrent=_concurrent(file, data.get("concurrent", []), paths),
    )


def deployments(group: GroupFile, options: Options, folder: Path = Path()) -> dict[str, Deployment]:
    """One deployment for each model, in the file's order, with the group's prefix as its name. Of rival settings of the
    target, all have the same: those with which they are fastest together.

    Files that the models' settings name are looked for in `folder`, the group file's.
    """
    from tilewright.deployment import Deployment
    from tilewright.plan.open_settings import contest

    def members(options: Options) -> dict[str, Deployment]:
        return {
            prefix: Deployment(path, group.target, _for_model(options, group.settings.get(prefix), prefix, folder))
            for prefix, path in group.models.items()
        }

    alone = members(options)
    rivals = [settings for first in list(alone.values())[:1] for settings in first.rival_settings]
    chosen = contest(rivals, [member.planned_with for member in alone.values()]).settings
    return members(replace(options, settings={**options.settings, **chosen})) if chosen else alone


def _for_model(options: Options, settings: ModelSettings | None, prefix: str, folder: Path) -> Options:
    own = settings or ModelSettings()
    return replace(
        options,
        name=prefix,
        io_of={**options.io_of, **own.io},
        memory_pins=(*options.memory_pins, *own.pin),
        constant_copies=(*options.constant_copies, *own.stage),
        states=(*options.states, *own.state),
        states_folder=folder,
        slide=own.slide or options.slide,
        network=own.network or options.network,
    )


def shared_pools(group: GroupFile, members: Mapping[str, Deployment]) -> tuple[SharedPool, ...]:
    """The memories that all members together need. TilewrightError TW5030 (exit 5) where they do not fit."""
    return share_pools(group.name, group.concurrent, {prefix: member.allocated for prefix, member in members.items()})


def group_files(group: GroupFile, members: Mapping[str, Deployment], pools: tuple[SharedPool, ...]) -> dict[str, bytes]:
    """Every member's files in a folder of its own, and the header, source and CMake file of the group."""
    files = {
        f"{prefix}/{path}": content
        for prefix, member in members.items()
        for path, content in member.artifact.files.items()
    }
    names: dict[str, object] = {
        "app": group.name,
        "APP": group.name.upper(),
        "pools": pools,
        "members": {prefix: member.allocated.plan_id for prefix, member in members.items()},
        "states": {prefix: (pool.memory, offset) for pool in pools for prefix, offset in pool.state.items()},
        "together": group.concurrent,
    }
    for target, source in (
        (f"{group.name}_pools.h", "group_h.mako"),
        (f"{group.name}_pools.c", "group_c.mako"),
        ("CMakeLists.txt", "group_cmake.mako"),
    ):
        files[target] = str(template(text(source)).render(**names)).encode("ascii")
    return dict(sorted(files.items()))


def group_report(
    group: GroupFile, members: Mapping[str, Deployment], pools: tuple[SharedPool, ...], *, front: bool = False
) -> dict[str, Any]:
    """What is shared, and each member's own report, with memory against cycles where `front`."""
    from tilewright.report.report_json import build_report

    return {
        "schema": "https://tilewright.dev/schema/group-1.json",
        "name": group.name,
        "concurrent": [list(names) for names in group.concurrent],
        "pools": [
            {
                "name": pool.memory,
                "used_bytes": pool.size_bytes,
                "lower_bound_bytes": pool.lower_bound_bytes,
                "offsets": dict(pool.offsets),
                "copies": dict(pool.copies),
                "state": dict(pool.state),
                "models": {
                    prefix: members[prefix].worst_case_buffer_size[pool.memory]
                    for prefix in members
                    if prefix in {*pool.offsets, *pool.copies, *pool.state}
                },
            }
            for pool in pools
        ],
        "models": {prefix: build_report(member, front=front) for prefix, member in members.items()},
    }


def _path(file: Path, prefix: str, table: Mapping[str, Any]) -> Path:
    if not isinstance(table.get("file"), str):
        raise _wrong(file, f"models.{prefix} must be the name of a file, or a table with a file")
    return file.parent / str(table["file"])


def _settings(file: Path, prefix: str, table: Mapping[str, Any]) -> ModelSettings:
    unknown = sorted(set(table) - set(MODEL_KEYS))
    if unknown:
        raise _wrong(file, f"models.{prefix} has no key '{unknown[0]}'; there are {', '.join(MODEL_KEYS)}")
    io, pins, stages = (_texts(file, prefix, key, table.get(key, {})) for key in ("io", "pin", "stage"))
    states = table.get("state", [])
    if not isinstance(states, list) or not all(isinstance(text, str) for text in states):
        raise _wrong(file, f"models.{prefix}.state must be a list of OUTPUT:INPUT")
    if not all(whose in ("pool", "user") for _, whose in io):
        raise _wrong(file, f"models.{prefix}.io must say pool or user of each tensor")
    slide = table.get("slide", "")
    network = table.get("network", "")
    if not isinstance(network, str):
        raise _wrong(file, f"models.{prefix}.network must be a text, the name of a network")
    if not isinstance(slide, str):
        raise _wrong(file, f"models.{prefix}.slide must be a text, INPUT[AXIS]=HOP")
    return ModelSettings(
        io=cast(Mapping[str, Literal["pool", "user"]], dict(io)),
        pin=pins,
        stage=tuple(parse_copy(f"{pattern}={memory}") for pattern, memory in stages),
        state=tuple(states),
        slide=slide,
        network=network,
    )


def _texts(file: Path, prefix: str, key: str, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise _wrong(file, f"models.{prefix}.{key} must be a table of names and texts")
    return tuple(value.items())


def _concurrent(file: Path, value: Any, models: Mapping[str, Path]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(names, list) for names in value):
        raise _wrong(file, "concurrent must be a list of lists of models")
    for together in value:
        for prefix in together:
            if not isinstance(prefix, str) or prefix not in models:
                raise _wrong(file, f"concurrent names '{prefix}', which is no model of the group")
    return tuple(tuple(together) for together in value)


def _wrong(file: Path, reason: str) -> TilewrightError:
    return usage_error(
        "TW1410",
        "the group file cannot be used",
        where=str(file),
        details=(reason,),
        fix=(typed("tilewright", "explain", "TW1410", gives="has an example"),),
    )
