"""Knows how a name is shown where there is little room: by the shortest part of it that no other name has.
Does not know what is named: nodes, tensors and buffers of a network are named together.

Converters join the names of everything that became one layer: `model/act_1/Relu;model/bn_1/Fused;model/conv/BiasAdd`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_JOINED, _LEVEL = ";", "/"
_OPERAND = re.compile(r"\.\w+(?:@.+)?$")  # what a buffer of a step is called after: `.W`, `.X@l1#0`
_ADDED = re.compile(r"[_.:@#-][^/;]*")  # what makes a further name of one that is there


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Name -> the shortest of its parts, whole levels of a path, that none of the others has; no two are equal.

    Names that only add to another one, as `conv_prequant` and `conv.W` do to `conv`, add the same to its short name.
    A name stays whole where nothing shorter is its own.
    """
    whole = list(dict.fromkeys(names))
    origins = _origins(dict.fromkeys(_base(name) for name in whole))
    parts = {root: list(_parts(root)) for root in dict.fromkeys(origins.values())}
    owners = Counter(part for candidates in parts.values() for part in set(candidates))
    shorts = {
        root: next((part for part in candidates if owners[part] == 1), root) for root, candidates in parts.items()
    }
    made = {name: _again(name, origins[_base(name)], shorts) for name in whole}
    used, known = Counter(made.values()), set(whole)
    return {name: short if used[short] == 1 and short not in known else name for name, short in made.items()}


def _again(name: str, root: str, shorts: dict[str, str]) -> str:
    return shorts[root] + name[len(root) :]


def _base(name: str) -> str:
    """A name without the operand at its end."""
    base = _OPERAND.sub("", name)
    return base or name


def _origins(bases: Iterable[str]) -> dict[str, str]:
    """Name -> the shortest other name that it only adds to, or itself."""
    known: set[str] = set()
    origins: dict[str, str] = {}
    for base in sorted(bases, key=len):
        start = max(base.rfind(_LEVEL), base.rfind(_JOINED)) + 2  # something of the last level is left
        added = (base[:at] for at in range(start, len(base)) if base[:at] in known and _ADDED.fullmatch(base, at))
        origins[base] = next(added, base)
        if origins[base] == base:
            known.add(base)
    return origins


def _parts(name: str) -> Iterator[str]:
    """Every part, the shortest first, of equally many levels those of the first name first, and in it the last."""
    paths = [segment.strip(_LEVEL).split(_LEVEL) for segment in name.split(_JOINED)]
    for length in range(1, max(map(len, paths)) + 1):
        for path in paths:
            for start in range(len(path) - length, -1, -1):
                part = _LEVEL.join(path[start : start + length])
                if part:
                    yield part
