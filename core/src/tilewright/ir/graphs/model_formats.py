"""Knows the contracts of importers, which read model files of one format, and of dialects, ONNX files that mean more
than ONNX says: within which limits, what they hand on, and who else runs such files. Does not know any format, nor how
they are found.

An importer turns bytes into ONNX operators. What it makes is read as strictly as a file: the same limits hold, the same
rules, and the same codes say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Quantization
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a file may ask for: as much as small machines can hold, so that no file takes 512 MiB here."""

    file_bytes: int = 72 * _MIB
    nodes: int = 100_000  # after functions are inlined
    unrolled: int = 2_500  # of them, those that loops make: each is imported anew
    steps: int = 10_000  # nodes that graph passes leave: each is a step that is planned and written
    initializers: int = 100_000
    nesting: int = 32  # functions and control-flow bodies inside each other
    name_length: int = 4096  # characters
    rank: int = 32
    tensor_bytes: int = 64 * _MIB  # of any value
    constant_bytes: int = 64 * _MIB  # of all constants together
    fold_bytes: int = 16 * _MIB  # of one value computed during import
    fold_total_bytes: int = 16 * _MIB  # of all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read: within which limits, and which of its networks where it has several."""

    limits: Limits = field(default_factory=Limits)
    network: str = ""  # by a name that the format gives it, as `--network` says; "": the one that comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptState:
    """An output of the model that is an input of its next run, by the file's own word: `--state` without the flag."""

    output: str
    input: str
    initial: Array | None = field(default=None, compare=False)  # of the input's shape and type; None: zeros


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedModel:
    """What a file says, in ONNX's words.

    Inputs, outputs and values have the file's own names and shapes. A node is named after what it comes from in the
    file, because errors and reports show these names. Integers stand between QuantizeLinear and DequantizeLinear.
    """

    model: Any  # an onnx.ModelProto
    states: tuple[KeptState, ...] = ()
    quantization: Mapping[str, Quantization] = field(default_factory=dict)  # of inputs and outputs, as the file says it
    arithmetic: str = "onnx"  # how the file means its integers to be rounded
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRuntime:
    """Another program that runs files of a format: `--against NAME` asks it.

    `values` gives for each set of inputs what it has computed: the outputs, and whatever it keeps beside them, by the
    names that the importer gives. The sets are the runs of one stream, in order: state of the file is its own. It may
    raise anything: the message is shown.
    """

    name: str
    package: str  # that pip installs
    module: str  # that is imported to see whether it is installed
    values: Callable[[bytes, Reading, Sequence[Mapping[str, Array]]], Sequence[Mapping[str, Array]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One format of model files.

    `recognises` looks at the bytes of a file, is quick, and raises nothing; a file that no importer recognises goes to
    the one with its suffix, so that this one can say what is wrong. `load` raises TilewrightError: `model_error` where
    the bytes break the format or exceed the limits, `unsupported_error` where they hold what cannot be taken,
    `usage_error` TW1243 where the file has no network of the name that is asked for. The bytes are a stranger's: it
    checks every offset, count and size before it uses it.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]  # of file names, with the full stop
    recognises: Callable[[bytes], bool]
    load: Callable[[bytes, Reading], ImportedModel]
    runtimes: tuple[FormatRuntime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """ONNX files in which nodes or types mean something else than ONNX says: operators of one tool, integers in floats.

    `speaks` tells whether a model is written in it, by its protobuf and the types that are asked for of its inputs and
    outputs (`--io-type`): it is quick, raises nothing and changes nothing. `translate` says in ONNX's words, and in
    operators that its package brings, what that model means; it raises TilewrightError as `Importer.load` does, and
    makes a protobuf of its own. A dialect is asked for every ONNX file, so its package imports nothing heavy before
    that.
    """

    name: str
    summary: str
    speaks: Callable[[Any, Mapping[str, DType]], bool]
    translate: Callable[[Any, Mapping[str, DType], Limits], ImportedModel]
