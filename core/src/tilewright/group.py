"""Knows several networks in one program: which may run at the same time, and the memory that they share.
Does not know how any one of them is planned; each is a `Deployment` of its own.

Networks that never run together share bytes, those that may run at the same time do not. That is an allocation
problem with conflicts instead of lifetimes, so an allocator solves it: the maximum where everything is exclusive, the
sum where everything is concurrent, and the right value in between.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.check import violations
from tilewright.allocate.problem import Block, Budget, Pool, Problem
from tilewright.emit.stage import text
from tilewright.errors import TilewrightError, memory_error, usage_error
from tilewright.identifiers import prefix_problem
from tilewright.options import Options
from tilewright.rendering import template

if TYPE_CHECKING:
    from tilewright.deployment import Deployment

KEYS = ("name", "target", "models", "concurrent")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFile:
    """What a group file says. `concurrent` are sets of models that may run at the same time."""

    name: str
    target: str
    models: Mapping[str, Path]  # prefix -> model file
    concurrent: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPool:
    """One memory shared by the group. Offsets are those of each model's own pool in it."""

    memory: str
    size_bytes: int
    align: int
    lower_bound_bytes: int
    offsets: Mapping[str, int] = field(default_factory=dict)  # prefix -> bytes from the start


def read_group(file: Path) -> GroupFile:
    """Read and check a group file. TilewrightError TW1410 (exit 2) names the key that is wrong."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise _wrong(file, error.strerror or str(error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(file, str(error)) from None
    odd = sorted(set(data) - set(KEYS))
    if odd:
        raise _wrong(file, f"'{odd[0]}' is no key; there are {', '.join(KEYS)}")
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
    paths = {prefix: _path(file, prefix, value) for prefix, value in models.items()}
    return GroupFile(
        name=name, target=target, models=paths, concurrent=_concurrent(file, data.get("concurrent", []), paths)
    )


def deployments(group: GroupFile, options: Options) -> dict[str, Deployment]:
    """One deployment for each model, in the file's order, with the group's prefix as its name."""
    from tilewright.deployment import Deployment

    return {
        prefix: Deployment(path, group.target, replace(options, name=prefix)) for prefix, path in group.models.items()
    }


def share_pools(group: GroupFile, members: Mapping[str, Deployment]) -> tuple[SharedPool, ...]:
    """The memories that all members together need.

    Raises TilewrightError TW5030 (exit 5) when the group does not fit although every member does.
    """
    platform = next(iter(members.values())).platform
    sizes = {prefix: member.worst_case_buffer_size for prefix, member in members.items()}
    pools = []
    for memory in platform.of_kind("ram"):
        users = [prefix for prefix in members if sizes[prefix].get(memory.name)]
        if not users:
            continue
        problem = Problem(
            blocks=tuple(
                Block(
                    name=prefix, size_bytes=sizes[prefix][memory.name], align=memory.align, lifetimes=(), pools=("p",)
                )
                for prefix in users
            ),
            pools=(Pool(name="p", capacity_bytes=None, align=memory.align),),
            conflicts=tuple(
                (one, other)
                for index, one in enumerate(users)
                for other in users[index + 1 :]
                if any(one in together and other in together for together in group.concurrent)
            ),
        )
        solution = BestFit().solve(problem, Budget())
        if violations(problem, solution):
            raise RuntimeError(f"the shared pool is wrong: {violations(problem, solution)[0]}")
        size = max(solution.places[prefix].offset_bytes + sizes[prefix][memory.name] for prefix in users)
        if memory.size_bytes is not None and size > memory.size_bytes:
            raise _does_not_fit(group, memory.name, size, memory.size_bytes, {p: sizes[p][memory.name] for p in users})
        pools.append(
            SharedPool(
                memory=memory.name,
                size_bytes=size,
                align=memory.align,
                lower_bound_bytes=_lower_bound({prefix: sizes[prefix][memory.name] for prefix in users}, group),
                offsets={prefix: solution.places[prefix].offset_bytes for prefix in users},
            )
        )
    return tuple(pools)


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
        "together": group.concurrent,
    }
    for target, source in (
        (f"{group.name}_pools.h", "group_h.mako"),
        (f"{group.name}_pools.c", "group_c.mako"),
        ("CMakeLists.txt", "group_cmake.mako"),
    ):
        files[target] = str(template(text(source)).render(**names)).encode("ascii")
    return dict(sorted(files.items()))


def _lower_bound(sizes: Mapping[str, int], group: GroupFile) -> int:
    """No arrangement needs less than its largest model, or than models that may all run at the same time."""
    together = (sum(sizes.get(prefix, 0) for prefix in names) for names in group.concurrent)
    return max((*sizes.values(), *together))


def group_report(group: GroupFile, members: Mapping[str, Deployment], pools: tuple[SharedPool, ...]) -> dict[str, Any]:
    """What is shared, and each member's own report."""
    from tilewright.report.build import build_report

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
                "models": {prefix: members[prefix].worst_case_buffer_size[pool.memory] for prefix in pool.offsets},
            }
            for pool in pools
        ],
        "models": {prefix: build_report(member) for prefix, member in members.items()},
    }


def _path(file: Path, prefix: str, value: object) -> Path:
    if not isinstance(value, str):
        raise _wrong(file, f"models.{prefix} must be the name of a file")
    return file.parent / value


def _concurrent(file: Path, value: Any, models: Mapping[str, Path]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        raise _wrong(file, "concurrent must be a list of lists of models")
    for together in value:
        for prefix in together:
            if prefix not in models:
                raise _wrong(file, f"concurrent names '{prefix}', which is no model of the group")
    return tuple(tuple(together) for together in value)


def _wrong(file: Path, reason: str) -> TilewrightError:
    return usage_error(
        "TW1410",
        "the group file cannot be used",
        where=str(file),
        details=(reason,),
        fix=("see docs/howto/several-models.md for its form",),
    )


def _does_not_fit(
    group: GroupFile, memory: str, needed: int, available: int, users: Mapping[str, int]
) -> TilewrightError:
    details = tuple(f"{prefix:20} {size:>12,} B" for prefix, size in users.items())
    together = "; ".join(", ".join(names) for names in group.concurrent) or "none"
    return memory_error(
        "TW5030",
        f"group '{group.name}' does not fit: memory '{memory}' needs {needed:,} B, has {available:,} B "
        f"({needed - available:,} B too many)",
        details=(*details, f"may run at the same time: {together}"),
        fix=("let fewer models run at the same time (concurrent), or give the group a larger memory",),
    )
