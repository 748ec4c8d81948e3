"""TensorFlow Lite files for tests, written byte by byte: FlatBuffers of nested values, tensors and operators.

Nothing is shared with the reader: places are chosen from front to back, tables stand before what they lead to.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CODES = {
    name: number
    for number, name in {
        0: "ADD", 1: "AVERAGE_POOL_2D", 2: "CONCATENATION", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D", 5: "DEPTH_TO_SPACE",
        6: "DEQUANTIZE", 7: "EMBEDDING_LOOKUP", 8: "FLOOR", 9: "FULLY_CONNECTED", 11: "L2_NORMALIZATION",
        12: "L2_POOL_2D", 14: "LOGISTIC", 17: "MAX_POOL_2D", 18: "MUL", 19: "RELU", 20: "RELU_N1_TO_1", 21: "RELU6",
        22: "RESHAPE", 23: "RESIZE_BILINEAR", 25: "SOFTMAX", 26: "SPACE_TO_DEPTH", 27: "SVDF", 28: "TANH",
        32: "CUSTOM", 34: "PAD", 36: "GATHER", 37: "BATCH_TO_SPACE_ND", 38: "SPACE_TO_BATCH_ND", 39: "TRANSPOSE",
        40: "MEAN", 41: "SUB", 42: "DIV", 43: "SQUEEZE", 44: "UNIDIRECTIONAL_SEQUENCE_LSTM", 45: "STRIDED_SLICE",
        47: "EXP", 48: "TOPK_V2", 49: "SPLIT", 50: "LOG_SOFTMAX", 53: "CAST", 54: "PRELU", 55: "MAXIMUM",
        56: "ARG_MAX", 57: "MINIMUM", 58: "LESS", 59: "NEG", 60: "PADV2", 61: "GREATER", 65: "SLICE",
        67: "TRANSPOSE_CONV", 69: "TILE", 70: "EXPAND_DIMS", 72: "NOT_EQUAL", 74: "SUM", 76: "RSQRT", 77: "SHAPE",
        82: "REDUCE_MAX", 83: "PACK", 88: "UNPACK", 90: "FLOOR_DIV", 91: "REDUCE_ANY", 92: "SQUARE", 93: "ZEROS_LIKE",
        94: "FILL", 95: "FLOOR_MOD", 97: "RESIZE_NEAREST_NEIGHBOR", 98: "LEAKY_RELU", 99: "SQUARED_DIFFERENCE",
        100: "MIRROR_PAD", 101: "ABS", 102: "SPLIT_V", 105: "REVERSE_V2", 106: "ADD_N", 107: "GATHER_ND", 111: "ELU",
        103: "UNIQUE", 110: "RANK", 114: "QUANTIZE", 117: "HARD_SWISH", 118: "IF", 119: "WHILE", 122: "SCATTER_ND",
        123: "SELECT_V2", 126: "BATCH_MATMUL", 128: "CUMSUM", 129: "CALL_ONCE", 130: "BROADCAST_TO",
        142: "VAR_HANDLE", 143: "READ_VARIABLE", 144: "ASSIGN_VARIABLE", 145: "BROADCAST_ARGS", 150: "GELU",
        151: "DYNAMIC_UPDATE_SLICE", 152: "RELU_0_TO_1",
    }.items()
}  # fmt: skip
TYPES = {
    "float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "int8": 9,
    "uint64": 12, "resource": 13, "uint32": 15, "int4": 17,
}  # fmt: skip
Fields = Mapping[int, Any]  # number of a field -> ("<i", 3), a text, an array, a table, or a list of tables


def flatbuffer(root: Fields, identifier: bytes = b"TFL3") -> bytes:
    """The bytes of a table and of all that it leads to."""
    data = bytearray(struct.pack("<I", 0) + identifier)
    _patch(data, 0, _table(data, root))
    return bytes(data)


def flexbuffer(numbers: Mapping[str, int]) -> bytes:
    """A map from names to whole numbers: its names, where they are, the numbers and their types, and the map."""
    data, names, count = bytearray(), {}, len(numbers)
    for name in sorted(numbers):
        names[name] = len(data)
        data += name.encode() + b"\0"
    _align(data, 8)
    data += struct.pack("<Q", count)
    keys = len(data)
    for place, name in enumerate(sorted(numbers)):
        data += struct.pack("<Q", keys + 8 * place - names[name])
    data += struct.pack("<QQQ", len(data) - keys, 8, count)
    values = len(data)
    data += struct.pack(f"<{count}q", *(numbers[name] for name in sorted(numbers)))
    data += bytes([1 << 2 | 3] * count)
    return bytes(data + bytes([len(data) - values, 9 << 2 | 3, 1]))


def _patch(data: bytearray, at: int, target: int) -> None:
    struct.pack_into("<I", data, at, target - at)


def _align(data: bytearray, size: int, before: int = 0) -> None:
    data.extend(b"\0" * (-(len(data) + before) % size))


def _table(data: bytearray, fields: Fields) -> int:
    """Write a table behind `data`, then what it leads to; its place."""
    places, extent = {}, 4
    for number, value in sorted(fields.items()):
        size = struct.calcsize(value[0]) if isinstance(value, tuple) else 4
        extent += -extent % size
        places[number], extent = extent, extent + size
    count = max(fields, default=-1) + 1
    _align(data, 8, before=4 + 2 * count)
    vtable = len(data)
    data += struct.pack(f"<HH{count}H", 4 + 2 * count, extent, *(places.get(number, 0) for number in range(count)))
    table = len(data)
    data += struct.pack("<i", table - vtable) + b"\0" * (extent - 4)
    for number, value in sorted(fields.items()):
        at = table + places[number]
        if isinstance(value, tuple):
            struct.pack_into(value[0], data, at, value[1])
        else:
            _patch(data, at, _child(data, value))
    return table


def _child(data: bytearray, value: Any) -> int:
    if isinstance(value, Mapping):
        return _table(data, value)
    if isinstance(value, list):
        _align(data, 4)
        vector = len(data)
        data += struct.pack("<I", len(value)) + b"\0" * (4 * len(value))
        for index, each in enumerate(value):
            _patch(data, vector + 4 + 4 * index, _table(data, each))
        return vector
    content = np.frombuffer(value.encode(), np.uint8) if isinstance(value, str) else np.asarray(value)
    _align(data, max(4, content.itemsize), before=4)
    vector = len(data)
    data += struct.pack("<I", len(content)) + content.tobytes() + (b"\0" if isinstance(value, str) else b"")
    return vector


@dataclass(frozen=True, slots=True, kw_only=True)
class T:
    """A tensor; `data` an array makes it constant, bytes are taken as they are."""

    name: str = ""
    type: str = "int8"
    shape: tuple[int, ...] = ()
    scale: tuple[float, ...] = ()
    zero: tuple[int, ...] = ()
    axis: int = 0
    data: Any = None
    variable: bool = False
    more: Fields = field(default_factory=dict)  # further fields of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An operator by its name, or by a number; `options` are fields, `kind` the number of their type in the union."""

    code: str | int
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Fields | None = None
    kind: int = 0
    version: int = 1
    numbers: Mapping[str, int] = field(default_factory=dict)  # options of a custom one, as a FlexBuffer


@dataclass(frozen=True, slots=True, kw_only=True)
class G:
    """A graph."""

    tensors: Sequence[T]
    ops: Sequence[Op]
    inputs: Sequence[int]
    outputs: Sequence[int]


def constant(array: Any, name: str = "c", **more: Any) -> T:
    """A tensor with these elements."""
    found = np.asarray(array)
    return T(name=name, type=str(found.dtype), shape=found.shape, data=found, **more)


def file_of(*graphs: G, **root: Any) -> bytes:
    """A whole file. `root` are further fields, `f9=...` the tenth."""
    codes: list[tuple[str | int, int]] = []
    buffers: list[Fields] = [{}]
    tables = [_graph(graph, codes, buffers) for graph in graphs]
    fields = {0: ("<I", 3), 1: [_code(*code) for code in codes], 2: tables, 3: "made for a test", 4: buffers}
    return flatbuffer({**fields, **{int(name[1:]): value for name, value in root.items()}})


def _graph(graph: G, codes: list[tuple[str | int, int]], buffers: list[Fields]) -> Fields:
    operators = []
    for op in graph.ops:
        if (op.code, op.version) not in codes:
            codes.append((op.code, op.version))
        made: dict[int, Any] = {0: ("<I", codes.index((op.code, op.version)))}
        made |= {1: np.array(op.inputs, "<i4"), 2: np.array(op.outputs, "<i4")}
        if op.options is not None:
            made |= {3: ("<B", op.kind), 4: op.options}
        if op.numbers:
            made[5] = np.frombuffer(flexbuffer(op.numbers), np.uint8)
        operators.append(made)
    tensors = [_tensor(tensor, buffers) for tensor in graph.tensors]
    ends = {1: np.array(graph.inputs, "<i4"), 2: np.array(graph.outputs, "<i4")}
    return {0: tensors, **ends, 3: operators, 4: "main"}


def _code(code: str | int, version: int) -> Fields:
    number = code if isinstance(code, int) else CODES.get(code, CODES["CUSTOM"])
    own = {1: code} if isinstance(code, str) and code not in CODES else {}
    return {0: ("<b", min(number, 127)), **own, 2: ("<i", version), 3: ("<i", number)}


def _tensor(tensor: T, buffers: list[Fields]) -> Fields:
    place = 0
    if tensor.data is not None:
        raw = tensor.data if isinstance(tensor.data, bytes) else np.ascontiguousarray(tensor.data).tobytes()
        place = len(buffers)
        buffers.append({0: np.frombuffer(raw, np.uint8)})
    made: dict[int, Any] = {0: np.array(tensor.shape, "<i4"), 1: ("<b", TYPES[tensor.type]), 2: ("<I", place)}
    made[3] = tensor.name
    if tensor.scale:
        made[4] = {2: np.array(tensor.scale, "<f4"), 3: np.array(tensor.zero, "<i8"), 6: ("<i", tensor.axis)}
    if tensor.variable:
        made[5] = ("<B", 1)
    return {**made, **tensor.more}


def one_operator(op: str, tensors: Sequence[T], *, inputs: Sequence[int] = (0,), outputs: int = 1, **options: Any) -> G:
    """A graph of one operator that reads all tensors but the last `outputs`; `inputs` are the graph's."""
    count = len(tensors)
    places = range(count - outputs, count)
    node = Op(code=op, inputs=range(count - outputs), outputs=places, **options)
    return G(tensors=tensors, ops=[node], inputs=inputs, outputs=places)


def wide_network() -> G:
    """Layers of 16-bit values and 8-bit weights: a convolution, LeakyRelu, a sum, and what is rescaled to 8 bits."""
    words: dict[str, Any] = {"type": "int16", "zero": (0,)}
    random = np.random.default_rng(2)
    image, scales = (1, 5, 6, 4), (0.004, 0.009, 0.002, 0.007)
    tensors = [
        T(name="image", shape=image, scale=(3e-4,), **words),
        constant(random.integers(-127, 128, (4, 3, 3, 4)).astype(np.int8), "w", scale=scales, zero=(0,) * 4, axis=0),
        constant(random.integers(-90000, 90000, 4), "b"),
        T(name="features", shape=image, scale=(8e-4,), **words),
        T(name="leaky", shape=image, scale=(7e-4,), **words),
        T(name="sum", shape=image, scale=(9e-4,), **words),
        T(name="bytes", shape=image, scale=(0.21,), zero=(-3,)),
    ]
    conv = {0: ("<b", 0), 1: ("<i", 1), 2: ("<i", 1), 3: ("<b", 0)}
    ops = [
        Op(code="CONV_2D", inputs=(0, 1, 2), outputs=(3,), kind=1, options=conv, version=4),
        Op(code="LEAKY_RELU", inputs=(3,), outputs=(4,), kind=75, options={0: ("<f", 0.2)}),
        Op(code="ADD", inputs=(4, 0), outputs=(5,), kind=11, options={0: ("<b", 0)}),
        Op(code="QUANTIZE", inputs=(5,), outputs=(6,)),
    ]
    return G(tensors=tensors, ops=ops, inputs=(0,), outputs=(5, 6))


def small_network() -> G:
    """A convolution, a pool, a dense layer and a softmax, in integers of 8 bits."""
    quantised: dict[str, Any] = {"scale": (0.5,), "zero": (1,)}
    random = np.random.default_rng(1)
    w = random.integers(-127, 128, (2, 3, 3, 1)).astype(np.int8)
    tensors = [
        T(name="image", shape=(1, 6, 6, 1), **quantised),
        constant(w, "w", scale=(0.1, 0.2), zero=(0, 0), axis=0),
        constant(np.int32([5, -5]), "b"),
        T(name="features", shape=(1, 6, 6, 2), **quantised),
        T(name="pooled", shape=(1, 3, 3, 2), **quantised),
        constant(np.int32([1, 18]), "shape"),
        T(name="flat", shape=(1, 18), **quantised),
        constant(random.integers(-127, 128, (3, 18)).astype(np.int8), "dense", scale=(0.1,), zero=(0,)),
        T(name="logits", shape=(1, 3), **quantised),
        T(name="scores", shape=(1, 3), scale=(1 / 256,), zero=(-128,)),
    ]
    size: dict[int, Any] = dict.fromkeys((1, 2, 3, 4), ("<i", 2))
    ops = [
        Op(code="CONV_2D", inputs=(0, 1, 2), outputs=(3,), options={1: ("<i", 1), 2: ("<i", 1), 3: ("<b", 1)}, kind=1),
        Op(code="MAX_POOL_2D", inputs=(3,), outputs=(4,), options={**size, 0: ("<b", 1)}, kind=5),
        Op(code="RESHAPE", inputs=(4, 5), outputs=(6,)),
        Op(code="FULLY_CONNECTED", inputs=(6, 7, -1), outputs=(8,), options={}, kind=8),
        Op(code="SOFTMAX", inputs=(8,), outputs=(9,), options={0: ("<f", 1.0)}, kind=9),
    ]
    return G(tensors=tensors, ops=ops, inputs=(0,), outputs=(9,))


def remembering_network() -> bytes:
    """y = the last three frames, in integers of 8 bits: a variable that begins with [[1, 2, 3]]."""
    handle = T(name="handle", type="resource")
    quantised: dict[str, Any] = {"scale": (0.5,), "zero": (-2,)}
    ring = {"shape": (1, 3), **quantised}
    tensors = [
        T(name="x", **{**ring, "shape": (1, 1)}),
        handle,
        T(name="before", **ring),
        constant(np.int32([0, 1])),
        constant(np.int32([1, 2])),
        T(name="older", **{**ring, "shape": (1, 2)}),
        T(name="y", **ring),
    ]
    ops = [
        Op(code="CALL_ONCE", inputs=(), outputs=(), options={0: ("<i", 1)}, kind=103),
        Op(code="VAR_HANDLE", inputs=(), outputs=(1,), options={1: "ring"}, kind=111),
        Op(code="READ_VARIABLE", inputs=(1,), outputs=(2,)),
        Op(code="SLICE", inputs=(2, 3, 4), outputs=(5,)),
        Op(code="CONCATENATION", inputs=(5, 0), outputs=(6,), options={0: ("<i", 1)}, kind=10),
        Op(code="ASSIGN_VARIABLE", inputs=(1, 6), outputs=()),
    ]
    first = [
        Op(code="VAR_HANDLE", inputs=(), outputs=(0,), options={1: "ring"}, kind=111),
        Op(code="ASSIGN_VARIABLE", inputs=(0, 1), outputs=()),
    ]
    once = G(tensors=[handle, constant(np.int8([[1, 2, 3]]), **quantised)], ops=first, inputs=(), outputs=())
    return file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(6,)), once)


def branching_network() -> bytes:
    """y = -|x| + w, twice: a branch that is known, a loop of two iterations, compressed weights, and a signature."""
    form: dict[str, Any] = {"type": "float32", "shape": (1, 4)}
    tensors = [
        T(name="x", **form),
        constant(np.array(True), "condition"),
        T(name="size", **form),
        constant(np.int32(0), "zero"),
        T(name="i", type="int32"),
        T(name="y", **form),
    ]
    ops = [
        Op(code="IF", inputs=(1, 0), outputs=(2,), options={0: ("<i", 1), 1: ("<i", 1)}, kind=92),
        Op(code="WHILE", inputs=(3, 2), outputs=(4, 5), options={0: ("<i", 2), 1: ("<i", 3)}, kind=93),
    ]
    main = G(tensors=tensors, ops=ops, inputs=(0,), outputs=(5,))
    size = Op(code="ABS", inputs=(0,), outputs=(1,))
    branch = G(tensors=[T(name="a", **form), T(name="b", **form)], ops=[size], inputs=(0,), outputs=(1,))
    held = [T(name="i", type="int32"), T(name="v", **form), constant(np.int32(2), "two"), T(name="going", type="bool")]
    less = Op(code="LESS", inputs=(0, 2), outputs=(3,))
    asked = G(tensors=held, ops=[less], inputs=(0, 1), outputs=(3,))
    return file_of(main, branch, asked, _repeated(form), f7=[{2: "serve", 4: ("<I", 0)}])


def _repeated(form: Mapping[str, Any]) -> G:
    """i + 1, and -v + w, where w is stored compressed."""
    how = np.zeros(16 + 8, np.uint8)
    how[[1, 4, 5, 6]], how[16:] = (1, 1, 1, 2), np.float32([0.5, -2]).view(np.uint8)
    tensors = [
        T(name="i", type="int32"),
        T(name="v", **form),
        constant(np.int32(1), "one"),
        T(name="next", type="int32"),
        constant(np.uint8([0b01100000]), "bits"),
        constant(how, "how"),
        T(name="w", **form),
        T(name="back", **form),
        T(name="more", **form),
    ]
    ops = [
        Op(code="ADD", inputs=(0, 2), outputs=(3,), options={}, kind=11),
        Op(code="TFLM_DECODE", inputs=(4, 5), outputs=(6,)),
        Op(code="NEG", inputs=(1,), outputs=(7,)),
        Op(code="ADD", inputs=(7, 6), outputs=(8,), options={}, kind=11),
    ]
    return G(tensors=tensors, ops=ops, inputs=(0, 1), outputs=(3, 8))


def _front_end_tensors() -> list[T]:
    random = np.random.default_rng(8)
    widths, count = np.int16([3, 6, 8, 8, 5]), 30
    firsts, places = np.cumsum([2, 3, 6, 8, 8], dtype=np.int16), np.cumsum([0, 3, 6, 8, 8], dtype=np.int16)
    weights = random.integers(0, 4097, count).astype(np.int16)
    gains = np.sort(random.integers(1, 2000, 128))[::-1].astype(np.int16)
    u32: dict[str, Any] = {"type": "uint32", "shape": (4,)}
    return [
        T(name="frame", type="int16", shape=(1, 60)),
        constant(random.integers(0, 4096, 60).astype(np.int16), "window"),
        T(name="windowed", type="int16", shape=(1, 60)),
        constant(np.int32([60]), "flat"),
        T(name="samples", type="int16", shape=(60,)),
        T(name="scaled", type="int16", shape=(60,)),
        T(name="bits", type="int32"),
        T(name="spectrum", type="int16", shape=(66,)),
        T(name="energy", type="uint32", shape=(33,)),
        *(constant(table, f"table{at}") for at, table in enumerate((weights, 4096 - weights, firsts, places, widths))),
        T(name="channels", type="uint64", shape=(4,)),
        T(name="roots", **u32),
        T(name="clean", **u32),
        T(name="noise", **u32),
        constant(gains, "gains"),
        T(name="gained", **u32),
        T(name="log", type="int16", shape=(4,)),
    ]


def front_end() -> G:
    """From 60 samples to the logarithms of 4 channels, as the signal library of that runtime does it."""
    tensors = _front_end_tensors()
    at = {tensor.name: place for place, tensor in enumerate(tensors)}
    smoothing = {
        "smoothing": 655, "one_minus_smoothing": 15729, "alternate_smoothing": 983,
        "alternate_one_minus_smoothing": 15401, "min_signal_remaining": 819, "num_channels": 4, "smoothing_bits": 10,
        "spectral_subtraction_bits": 14, "clamping": 0,
    }  # fmt: skip

    def op(code: str, inputs: str, outputs: str, **numbers: int) -> Op:
        places = ([at[name] for name in names.split()] for names in (inputs, outputs))
        return Op(code=code, inputs=next(places), outputs=next(places), numbers=numbers)

    tables = " ".join(f"table{place}" for place in range(5))
    ops = [
        op("SignalWindow", "frame window", "windowed", shift=12),
        op("RESHAPE", "windowed flat", "samples"),
        op("SignalFftAutoScale", "samples", "scaled bits"),
        op("SignalRfft", "scaled", "spectrum", T=7, fft_length=64),
        op("SignalEnergy", "spectrum", "energy", start_index=2, end_index=32),
        op("SignalFilterBank", f"energy {tables}", "channels", num_channels=4),
        op("SignalFilterBankSquareRoot", "channels bits", "roots"),
        op("SignalFilterBankSpectralSubtraction", "roots", "clean noise", **smoothing),
        op("SignalPCAN", "clean noise gains", "gained", snr_shift=6),
        op("SignalFilterBankLog", "gained", "log", output_scale=1600, input_correction_bits=3),
    ]
    return G(tensors=tensors, ops=ops, inputs=(0,), outputs=(at["log"], at["gained"], at["noise"]))


def sound(count: int) -> list[Any]:
    """Frames of 60 samples: silence, noise, tones, the loudest there are."""
    random, time = np.random.default_rng(3), np.arange(60)
    kinds = [
        np.zeros(60), random.integers(-3, 4, 60), random.integers(-3000, 3000, 60),
        np.where(random.random(60) < 0.5, -32768, 32767), *(9000 * np.sin(time * each) for each in (0.3, 1.1, 2.4)),
    ]  # fmt: skip
    return [kinds[place % len(kinds)].astype(np.int16)[None] for place in range(count)]
