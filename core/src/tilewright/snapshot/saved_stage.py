"""Knows how a stage's value is written to a folder and read back: `state.json` beside `arrays.npz`, never pickle.
Does not know how a stage makes its value. Kernels and platforms are named, and looked up among what is installed.

What is read is verified like the result of a stage: a folder that was damaged, or edited into something impossible,
is an error that names the first thing that is wrong. Flags and messages call what is saved a state.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from tilewright.check import stages as verify
from tilewright.errors import TilewrightError, model_error, plugin_error, typed, usage_error
from tilewright.ir.codec import Codec, Json, Reference
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, MemoryHierarchy, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layer, Layers, layer_key
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.snapshot.atomic_folder import write_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

VERSION = 2
_DAMAGE = (  # what numpy, zipfile and zlib raise on bytes that are not what they should be
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    OverflowError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)
SavedStage = Graph | Bound | Scheduled | Tiled | Allocated | Decisions
_TYPES: Mapping[str, type[SavedStage]] = {
    "graph": Graph,
    "bound": Bound,
    "scheduled": Scheduled,
    "tiled": Tiled,
    "allocated": Allocated,
    "decisions": Decisions,
}


class Installed(Protocol):
    """Where kernels, platforms and operators are found by name: `plugins.Registry`, or anything like it."""

    @property
    def platforms(self) -> Mapping[str, Platform]: ...

    @property
    def kernels(self) -> Mapping[str, Kernel]: ...

    @property
    def operators(self) -> Mapping[str, Operator]: ...

    @property
    def memory_hierarchies(self) -> Mapping[str, MemoryHierarchy]: ...


def save_stage(value: SavedStage, folder: Path, model: str = "") -> None:
    """Write `value`, and the digest of the model that it is of; the same value gives the same bytes.

    TilewrightError TW1107 (exit 2) when `folder` cannot be written.
    """
    import numpy as np

    arrays: dict[str, Array] = {}

    def put(array: Array) -> Json:
        if array.dtype.hasobject:
            raise TypeError("an array of Python objects cannot be stored")
        stored = array.view(np.uint16) if array.dtype == DType.BF16.numpy else array  # npz knows no bfloat16
        name = _digest(stored)
        arrays[name] = stored
        return {"array": name} if stored is array else {"array": name, "type": DType.BF16.value}

    codec = Codec(put=put, get=_no_array, references=_references(None))
    document = {
        "format": "tilewright state",
        "version": VERSION,
        "stage": stage_name(value),
        **({"model": model} if model else {}),
        "value": codec.encode(value, type(value)),
    }
    packed = io.BytesIO()
    np.savez_compressed(packed, **dict(sorted(arrays.items())))  # type: ignore[arg-type]  # every name is an array
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    write_folder(folder, {"state.json": f"{text}\n".encode(), "arrays.npz": packed.getvalue()})


def read_stage(folder: Path, registry: Installed, model: str = "") -> SavedStage:
    """Read and verify what `save_stage` wrote; of the model with the digest `model`, where both say one.

    Raises TilewrightError TW1220 for a folder that holds no readable state, TW1221 for one of another version, TW1222
    for one that is not sound (all exit 3), TW1223 (exit 2) for one of another model, and TW8001 (exit 8) for a kernel
    or target that is not installed.
    """
    document = _document(folder)
    stage = document.get("stage")
    if not isinstance(stage, str) or stage not in _TYPES:
        raise _unreadable(folder, f"it has no stage that is known: {stage!r}")
    if model and stage != stage_name(Decisions()) and document.get("model", model) != model:
        raise _of_another_model(folder)
    arrays = _arrays(folder)

    def get(data: Json) -> Array:
        name = data.get("array") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(name, str) or name not in arrays:
            raise ValueError(f"array {name!r} is not in arrays.npz")
        return arrays[name].view(DType(data["type"]).numpy) if "type" in data else arrays[name]

    complete: Mapping[type, Callable[[Any], object]] = {Bound: lambda bound: _with_layers(bound, registry)}
    codec = Codec(put=_no_put, get=get, references=_references(registry), complete=complete)
    try:
        value = codec.decode(cast(Json, document.get("value")), _TYPES[stage])
        return _verified(value, registry)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, MemoryError) as error:
        raise _unsound(folder, str(error) or type(error).__name__) from error


PINS_FORM = (
    "without --pin, `compile --export-state allocated=FOLDER` writes the form, under `decisions` in its state.json"
)


def decisions_from_json(text: str) -> Decisions:
    """Decisions from a file that a person wrote; fields left out are open. TilewrightError TW1106 (exit 2)."""
    codec = Codec(put=_no_put, get=_no_array)
    try:
        return codec.decode(json.loads(text), Decisions)
    except (ValueError, TypeError, RecursionError) as error:
        raise usage_error(
            "TW1106",
            f"cannot read the pinned decisions: {error}",
            fix=(PINS_FORM,),
        ) from error


def stage_name(value: object) -> str:
    """The name of the stage that makes values of this type. TypeError for any other."""
    for name, kind in _TYPES.items():
        if type(value) is kind:
            return name
    raise TypeError(f"{type(value).__name__} is not the value of a stage")


def plain_codec(put: Callable[[Array], Json]) -> Codec:
    """A codec that can only write, with kernels and platforms by name: for dumps."""
    return Codec(put=put, get=_no_array, references=_references(None))


def _document(folder: Path) -> dict[str, Any]:
    try:
        document = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(folder, f"state.json: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(folder, f"state.json is damaged: {error}") from error
    if not isinstance(document, dict) or document.get("format") != "tilewright state":
        raise _unreadable(folder, "state.json was not written by tilewright")
    if document.get("version") != VERSION:
        raise model_error(
            "TW1221",
            f"the state has format version {document.get('version')!r}, this tilewright reads {VERSION}",
            where=str(folder),
            fix=("export it again with this version",),
        )
    return document


def _arrays(folder: Path) -> dict[str, Array]:
    import numpy as np

    try:
        with np.load(folder / "arrays.npz", allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise _unreadable(folder, f"arrays.npz: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise _unreadable(folder, f"arrays.npz is damaged: {error}") from error
    for name, array in arrays.items():
        if _digest(array) != name:
            raise _unreadable(folder, f"arrays.npz is damaged: the array {name} has other contents")
    return arrays


def _verified(value: SavedStage, registry: Installed) -> SavedStage:
    try:
        if isinstance(value, Graph):
            return verify.verify_graph(value)
        if isinstance(value, Bound):
            return verify.verify_bound(value)
        if isinstance(value, Scheduled):
            _verified(value.bound, registry)
            return verify.verify_scheduled(value)
        if isinstance(value, Tiled):
            _verified(value.scheduled, registry)
            return verify.verify_tiled(value, registry.operators)
        if isinstance(value, Allocated):
            _verified(value.tiled, registry)
            return verify.verify_allocated(value, registry.operators)
    except TilewrightError as error:
        raise ValueError(error.message) from error
    return value


def _with_layers(bound: Bound, registry: Installed) -> Bound:
    """What kernels find in nodes is not stored. Nodes whose kernel refuses them are left out: `check` says so."""
    _verified(bound.graph, registry)
    all_layers, layers = Layers(operators=registry.operators), dict[str, Layer]()
    for site in bound.graph.sites():
        binding = bound.bindings.get(site.node.name)
        if binding is None or binding.kernel.computes != site.node.op:
            continue
        try:
            layer = all_layers.of(binding.kernel, site, layer_key(site))
        except TilewrightError as error:
            raise ValueError(error.message) from error
        if isinstance(layer, Layer):
            layers[site.node.name] = layer
    return replace(bound, layers=layers)


def _references(registry: Installed | None) -> dict[type, Reference]:
    def kernel(data: Json) -> object:
        if registry is None or data not in registry.kernels:
            raise _not_installed("kernel", data)
        return registry.kernels[cast(str, data)]

    def platform(data: Json) -> object:
        return _platform(data, registry)

    return {
        Kernel: Reference(write=lambda value: cast(Json, value.name), find=kernel),
        Platform: Reference(write=_platform_json, find=platform),
    }


def _platform_json(platform: Platform) -> Json:
    """By name; with it what a configuration may have changed and is plain data."""
    plain = Codec(put=_no_put, get=_no_array)
    return {
        "name": platform.name,
        "settings": plain.encode(platform.settings, Mapping[str, str]),
        "memories": plain.encode(platform.memories, tuple[Memory, ...]),
        "engines": plain.encode(platform.engines, tuple[Engine, ...]),
        "buffer_align": platform.buffer_align,
        "copies": [[path.source, path.target] for path in platform.copies],
    }


def _platform(data: Json, registry: Installed | None) -> Platform:
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise ValueError("the platform has no name")
    name = cast(str, data["name"])
    if registry is None or name not in registry.platforms:
        raise _not_installed("target", name)
    plain = Codec(put=_no_put, get=_no_array)
    settings = cast(Mapping[str, str], plain.decode(data.get("settings"), cast(Any, Mapping[str, str])))
    offered = registry.platforms[name]
    configured = offered.configure(settings) if settings else offered
    hints: dict[str, Any] = {"memories": tuple[Memory, ...], "engines": tuple[Engine, ...], "buffer_align": int}
    changes: dict[str, Any] = {key: plain.decode(data.get(key), hint) for key, hint in hints.items()}
    changes["engines"] = tuple(_with_code(engine, configured) for engine in changes["engines"])
    platform = replace(configured, copies=_copies(data.get("copies"), configured, registry), **changes)
    return platform.settle(platform) if platform.settle else platform  # sizes decide what the runtime takes


def _with_code(engine: Engine, configured: Platform) -> Engine:
    """With the functions of the target's own engine of that name, which are not data."""
    for own in configured.engines:
        if own.name == engine.name:
            return replace(
                engine,
                code_cycles=own.code_cycles,
                kept_code_cycles=own.kept_code_cycles,
                portable_cycles=own.portable_cycles,
                instructions=own.instructions,
            )
    return engine


def _copies(paths: Json, configured: Platform, registry: Installed) -> tuple[CopyPath, ...]:
    """Copy paths hold code: those of the target itself, or of a memory hierarchy for it that has the same ends."""
    boards = [board for board in registry.memory_hierarchies.values() if configured.runs(board.platform)]
    for copies in (configured.copies, *(board.copies for board in boards)):
        if [[path.source, path.target] for path in copies] == paths:
            return copies
    raise ValueError(f"target '{configured.name}' has no copies between {paths}")


def _not_installed(kind: str, name: Json) -> TilewrightError:
    return plugin_error(
        "TW8001",
        f"the state uses the {kind} '{name}', which no installed package offers",
        fix=(
            typed("tilewright", "plugins", "list", gives="shows what is installed; install what it was exported with"),
        ),
    )


def _digest(array: Array) -> str:
    import numpy as np

    header = f"{array.dtype.str}{array.shape}".encode()
    return "a" + hashlib.sha256(header + np.ascontiguousarray(array).tobytes()).hexdigest()[:24]


def _no_array(data: Json) -> Array:
    raise ValueError("an array is not expected here")


def _no_put(array: Array) -> Json:
    raise TypeError("an array is not expected here")


def _unreadable(folder: Path, reason: str) -> TilewrightError:
    return model_error(
        "TW1220", f"the state cannot be read: {reason}", where=str(folder), fix=("export it again: --export-state",)
    )


def _unsound(folder: Path, reason: str) -> TilewrightError:
    return model_error(
        "TW1222",
        f"the state is not sound: {reason}",
        where=str(folder),
        fix=("undo the change that was made to it, or export it again: --export-state",),
    )


def _of_another_model(folder: Path) -> TilewrightError:
    return usage_error(
        "TW1223",
        "the saved state is of another model, or of this one before it was changed",
        where=str(folder),
        details=("a state brings its network and its constants: MODEL would only give them its name",),
        fix=(
            "name the model that the state was saved of",
            "compile without --import-state: --pin FILE.json keeps decisions that were exported",
        ),
    )
