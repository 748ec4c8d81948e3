"""Knows how to import one plugin, check its hooks with pluggy and ask it what it offers; any failure becomes a Fault,
as does what its metadata promises and its hooks do not return. It also knows whose function raised an error later on.
Does not know which plugins exist (`catalogue`) or are needed (`loading`), and keeps nothing between two calls.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import importlib_metadata
import pluggy

from tilewright.errors import TilewrightError, plugin_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.machines.machine_faults import machine_fault
from tilewright.ir.machines.platform import MemoryHierarchy, Platform
from tilewright.ir.plugin_contract import PROJECT
from tilewright.plugins import hookspecs
from tilewright.plugins.catalogue import Package
from tilewright.plugins.faults import Fault, one_line
from tilewright.plugins.kinds import CORE, GROUP, KIND_NAMES, KINDS, OBSERVER, PACKS, Kind, kind_named
from tilewright.plugins.offers import StageEvent

_CALLS = 6  # shown of the way through the package of a function that failed
OBSERVE = "tilewright_stage_finished"
Values = Mapping[str, tuple[Any, ...]]  # kind -> what a plugin offers
HOOKS = (*(kind.hook for kind in KINDS), OBSERVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One plugin object, registered and asked. `values` has kind -> what it offers, in the plugin's order.

    `faults` are of single things that are not among the values, or that are announced and not there.
    """

    package: Package
    hooks: tuple[str, ...]
    values: Mapping[str, tuple[Any, ...]]
    observe: Callable[[StageEvent], object] | None
    faults: tuple[Fault, ...] = ()


@dataclass(slots=True)
class _BrokenError(Exception):
    """Ends the examination of a plugin; never leaves this module."""

    code: str
    cause: str
    at: str = ""


def load(package: Package, reference: str, kinds: Collection[str] = (*KIND_NAMES, OBSERVER)) -> Loaded | Fault:
    """Import the plugin at `reference` and call its hooks of `kinds`. Whatever goes wrong is returned, not raised."""
    try:
        plugin = _imported(reference)
        manager = _registered(plugin, package.name)
        values = {kind.name: _offered(manager, kind) for kind in KINDS if kind.name in kinds}
    except _BrokenError as broken:
        return Fault(
            status="failed",
            code=broken.code,
            package=package.name,
            version=package.version,
            cause=broken.cause,
            at=broken.at,
        )
    hooks = tuple(name for name in HOOKS if getattr(manager.hook, name).get_hookimpls())
    return Loaded(
        package=package,
        hooks=hooks,
        values=announced_values(package, reference, values),
        observe=_observe(manager) if OBSERVER in kinds and OBSERVE in hooks else None,
        faults=tuple(broken_promises(package, reference, values)),
    )


def _imported(reference: str) -> object:
    try:
        plugin: object = importlib_metadata.EntryPoint(name="plugin", value=reference, group=GROUP).load()
    except (Exception, SystemExit) as error:  # a plugin's import may raise anything, and must not end the core
        raise _BrokenError(
            "TW8004", f"importing {reference} failed: {one_line(error)}", _place(error, reference)
        ) from error
    if isinstance(plugin, type):
        raise _BrokenError("TW8005", f"{reference} is a class: the entry point must name an instance or a module")
    return plugin


def _registered(plugin: object, name: str) -> pluggy.PluginManager:
    """The plugin alone in a manager of its own, so that nothing it does reaches another plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    _names_known(plugin, manager)
    try:
        manager.register(plugin, name)
    except pluggy.PluginValidationError as error:
        raise _BrokenError("TW8005", _wrong_argument(plugin, manager, error)) from error
    return manager


def _names_known(plugin: object, manager: pluggy.PluginManager) -> None:
    for name in sorted(dir(plugin)):
        marked = _marked(plugin, manager, name)
        if marked and name not in HOOKS:
            raise _BrokenError("TW8005", "; ".join((f"there is no hook '{name}'", *did_you_mean(name, HOOKS))))
        if name in HOOKS and not marked:
            raise _BrokenError("TW8005", f"its function '{name}' is not marked with @hookimpl")


def _marked(plugin: object, manager: pluggy.PluginManager, name: str) -> bool:
    try:
        return manager.parse_hookimpl_opts(plugin, name) is not None
    except Exception as error:  # an attribute of the plugin may raise anything when it is looked at
        raise _BrokenError("TW8005", f"reading its attribute '{name}' failed: {one_line(error)}") from error


def _wrong_argument(plugin: object, manager: pluggy.PluginManager, error: Exception) -> str:
    """Pluggy's complaint about a signature, in one line that shows the signature."""
    for name in sorted(set(HOOKS).intersection(dir(plugin))):
        if not _marked(plugin, manager, name):
            continue
        declared = tuple(inspect.signature(getattr(plugin, name)).parameters)
        expected = ("event",) if name == OBSERVE else ()
        if not set(declared) <= set(expected):
            return f"hook '{name}' takes ({', '.join(expected)}), and is declared with ({', '.join(declared)})"
    return one_line(error)


def _offered(manager: pluggy.PluginManager, kind: Kind) -> tuple[Any, ...]:
    """The values one hook offers, each of its kind's type, no name twice."""
    caller = getattr(manager.hook, kind.hook)
    at = _begins(caller)
    try:
        answers = [tuple(answer) for answer in caller()]
    except (Exception, SystemExit) as error:  # a hook may raise anything, and must not end the core
        place = _place(error, _owner(caller)) or at
        raise _BrokenError("TW8006", f"hook '{kind.hook}' failed: {one_line(error)}", place) from error
    values = tuple(value for answer in answers for value in answer)
    if not values:
        return ()
    expected = kind.value_type()
    for value in values:
        if not isinstance(value, expected):
            result = f"hook '{kind.hook}' must return {expected.__name__} objects, found {type(value).__name__}"
            raise _BrokenError("TW8006", result, at)
        if isinstance(value, (Platform, MemoryHierarchy)) and (fault := machine_fault(value)):
            raise _BrokenError("TW8006", f"{kind.label} '{value.name}' {fault}", at)
    names = [value.name for value in values]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _BrokenError("TW8006", f"hook '{kind.hook}' returns '{twice[0]}' twice", at)
    return values


def _owner(caller: pluggy.HookCaller) -> str:
    """The module in which the plugin's function for a hook is written."""
    return "".join(str(getattr(hook.function, "__module__", "")) for hook in caller.get_hookimpls()[:1])


def _begins(caller: pluggy.HookCaller) -> str:
    """File and line where the plugin's function for a hook begins."""
    code = next((getattr(hook.function, "__code__", None) for hook in caller.get_hookimpls()), None)
    return _file_and_line(code.co_filename, code.co_firstlineno) if code else ""


def _observe(manager: pluggy.PluginManager) -> Callable[[StageEvent], object]:
    return lambda event: manager.hook.tilewright_stage_finished(event=event)


def _place(error: BaseException, module: str) -> str:
    """File and line of the plugin, of which `module` is one, on the way to where it was raised; "" where none is."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _file_and_line(error.filename, error.lineno)
    calls = traceback.walk_tb(error.__traceback__)
    own = [(frame, line) for frame, line in calls if _package(frame.f_globals.get("__name__")) == _package(module)]
    return _file_and_line(own[-1][0].f_code.co_filename, own[-1][1]) if own else ""


def _package(module: object) -> str:
    return str(module).split(":", 1)[0].split(".", 1)[0]


def _file_and_line(file: str, line: int) -> str:
    """The file by its last two parts."""
    return f"{'/'.join(file.replace(chr(92), '/').split('/')[-2:])}:{line}"


def plugin_failure(error: BaseException, packages: Iterable[Package]) -> TilewrightError | None:
    """`error` as one that names package, function and line (TW8061, exit 8); None where no plugin took part."""
    others = [package for package in packages if package.name != CORE]
    owners = {_package(offer.reference): package for package in others for offer in package.offers}
    calls = [
        (owners.get(_package(frame.f_globals.get("__name__", ""))), frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    last = next((owner for owner, _, _ in reversed(calls) if owner is not None), None)
    if last is None:
        return None
    places = [
        f"{_place_of_frame(frame, line)} in {frame.f_code.co_qualname}" for owner, frame, line in calls if owner is last
    ]
    place, function = places[-1].split(" in ", 1)
    return plugin_error(
        "TW8061",
        f"plugin {last.name} {last.version} failed in its function '{function}': {one_line(error)}",
        where=place,
        details=tuple(f"called at {place}" for place in places[-1 - _CALLS : -1]),
        fix=(f"report it to the author of {last.name}, with these lines and the model",),
    )


def _place_of_frame(frame: FrameType, line: int) -> str:
    """File and line, the file from the folder of its package on."""
    parts = frame.f_code.co_filename.replace("\\", "/").split("/")
    depth = str(frame.f_globals.get("__name__", "")).count(".") + 1
    return f"{'/'.join(parts[-depth:])}:{line}"


def announced_values(package: Package, reference: str, values: Values) -> Values:
    """The values that have an entry point of their own, and all that are in packs: nobody could name the others."""
    return {
        kind: offered
        if kind in PACKS
        else tuple(value for value in offered if value.name in _announced(package, reference, kind))
        for kind, offered in values.items()
    }


def broken_promises(package: Package, reference: str, values: Values) -> Iterator[Fault]:
    """A fault (TW8008) for each thing that only the metadata has, or only the hooks."""
    for kind in [kind for kind in values if kind not in PACKS]:
        offered = {value.name for value in values[kind]}
        for name in sorted(_announced(package, reference, kind) ^ offered):
            yield _promise_fault(package, reference, kind, name, missing=name in offered)


def _announced(package: Package, reference: str, kind: str) -> set[str]:
    return {offer.name for offer in package.offers if (offer.kind, offer.reference) == (kind, reference)}


def _promise_fault(package: Package, reference: str, kind: str, name: str, *, missing: bool) -> Fault:
    title, hook = f"{kind}.{name}", kind_named(kind).hook
    verb, cause = "remove", f"entry point '{title}' is announced, but '{hook}' returns no '{name}'"
    if missing:
        verb, cause = "add", f"'{hook}' returns '{name}', but there is no entry point '{title}'"
    line = f"""{verb} '"{title}" = "{reference}"' below [project.entry-points."{GROUP}"] in its pyproject.toml"""
    return Fault(
        status="failed",
        code="TW8008",
        package=package.name,
        version=package.version,
        cause=cause,
        fix=(f"{line}, and install it anew",),
        part=title,
    )
