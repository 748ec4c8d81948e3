"""Knows what can be wrong with a plugin, as a value: a warning for who does not need it, an error for who does.
Does not know how a fault is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tilewright.errors import Diagnostic, TilewrightError, plugin_error, typed
from tilewright.plugins.kinds import CORE

Status = Literal["ok", "blocked", "incompatible", "failed", "clash"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a plugin, or one name it offers, cannot be used. `cause` is one line, `at` the place in its source."""

    status: Status
    code: str
    package: str
    version: str
    cause: str
    at: str = ""
    fix: tuple[str, ...] = ()
    others: tuple[str, ...] = ()  # of a clash: the packages that offer the same
    part: str = ""  # KIND.NAME of the one thing that cannot be used; "" when nothing of the plugin can

    @property
    def packages(self) -> frozenset[str]:
        """Every package that takes part."""
        return frozenset((self.package, *self.others))

    def warning(self) -> Diagnostic:
        """For somebody who does not need it: exactly one line."""
        how = f"is used without '{self.part}'" if self.part else "is not used"
        who = "" if self.status == "clash" else f"plugin {self.package} {self.version} {how}: "
        return Diagnostic(severity="warning", code=self.code, message=f"{who}{self.cause}")

    def error(self, needed: str) -> TilewrightError:
        """For somebody who needs `needed` ("target 'acme'"): exit 8, package, version, cause, what to do."""
        who = f"{needed} needs plugin {self.package} {self.version}, which cannot be used: "
        return plugin_error(
            self.code,
            self.cause if self.status == "clash" else f"{who}{self.cause}",
            where=self.at,
            fix=(*self.fix, typed("tilewright", "plugins", "doctor")),
        )


def one_line(error: BaseException) -> str:
    """An exception's type and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


def clash_fault(what: str, owners: Sequence[tuple[str, str]]) -> Fault:
    """`what` is offered several times by `owners` (name, version), of one package or of several, and nothing says which
    of them is meant.
    """
    (first, version), *others = sorted(owners)
    names = dict.fromkeys(f"{name} {version}" for name, version in sorted(owners))
    strangers = sorted({name for name, _ in owners if name != CORE})  # nothing works without the core
    cause = f"{what} is offered by {' and by '.join(names)}"
    if len({first, *(name for name, _ in others)}) == 1:
        cause += f", {len(owners)} times"
        fix = f"pip install --force-reinstall {first}     or leave one entry point of that name in its pyproject.toml"
    elif CORE in {first, *(name for name, _ in others)}:
        fix = f"set TILEWRIGHT_BLOCK={strangers[-1]}, or ask its author for another name"
    else:
        fix = f"uninstall one of them, or set TILEWRIGHT_BLOCK={strangers[-1]}"
    return Fault(
        status="clash",
        code="TW8007",
        package=first,
        version=version,
        cause=cause,
        fix=(fix,),
        others=tuple(name for name, _ in others if name != first),
    )
