# %% before all examples
import numpy as np

from tilewright.api.graph import DType, Requant, Site
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    ChannelRange,
    CodeFragment,
    CodeFragments,
    Finish,
    FragmentTemplate,
    Groups,
    Kernel,
    Matched,
    Nest,
    Operand,
    OperandPlace,
    PartialSums,
    PlacedTile,
    RequantForm,
    Rows,
    Sharing,
    ShiftUnit,
    Stored,
    StoredValue,
    SumForm,
    TileShape,
    UnitProof,
    Walk,
    Windows,
    broadcast_steps,
    c_element,
    c_functions,
    centred_weights,
    elementwise_walk,
    fragment_file,
    gemm_access,
    image_fields,
    matmul_access,
    nest,
    pack_gemm,
    pack_matmul,
    pack_rows,
    refused_products,
    refused_softmax,
    scaled_sum_form,
    softmax_table,
    sum_bounds,
    sum_requant,
    tap_fields,
    template_file,
    walk,
    weight_bits,
    windows_of,
    zero_points,
)
from tilewright.api.testing import site_of, vocabulary


# %% Kernel
# C for ONNX's Relu, which tilewright holds as a Clip. `match` refuses with a sentence; all else it returns accepts.
def match(site: Site) -> str | None:
    if site.input(0).dtype is not DType.F32:
        return f"X must be f32, found {site.input(0).dtype.value}"
    return None if site.node.number("min") == 0.0 else "only Relu: min 0"


relu = Kernel(
    name="acme.relu_f32",
    op="Clip",
    match=match,
    cycles=lambda tile: 0.5 * tile.site.output.elements,
    values=lambda call: {"count": call.operands["Y"].extents[0]},
    source="TW_KERNEL void acme_relu_f32(int32_t count, const float *x, float *y);",
    call="acme_relu_f32(${count}, ${X}, ${Y});",
    licence="MIT",
)
clip = site_of(vocabulary()["Clip"], [np.zeros(100, np.float32)], {"min": 0.0, "max": float("inf")})
assert relu.match(clip) is None


# %% Matched
# What `match` worked out is found by everything else in the kernel, as `site.analysis`.
def match_3x3(site: Site) -> object:
    windows = windows_of(site.node)
    return windows if windows.kernel == (3, 3) else f"windows are {windows.kernel}, not 3 x 3"


attributes = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
pool = site_of(vocabulary()["MaxPool"], [np.zeros((1, 4, 8, 8), np.float32)], attributes)
accepted = Matched.of(pool, match_3x3(pool))
assert accepted.analysis.strides == (1, 1)

# %% TileShape
# What costs and scratch are asked about: the largest box of loops that one call computes.
access = vocabulary()["MaxPool"].access(pool)
tile = TileShape(site=accepted, access=access, box={loop.name: (0, min(loop.extent, 4)) for loop in access.loops})
assert (tile.extent("h"), tile.extent("c")) == (4, 4)

# %% PlacedTile, OperandPlace
# What `Kernel.pack_placed` is asked about: the same, and where operands are, as bytes behind base 0 of `Call.bases`.
place = OperandPlace(base=0, offset_bytes=256, memory="sram")
placed = PlacedTile(site=accepted, access=access, box=tile.box, places={"X": place})
assert placed.places["X"].offset_bytes == 256 and placed.extent("h") == 4

# %% Operand, Call
# What a call is written from. Printed, an operand is the pointer to the tile's first element.
common = {"dtype": DType.F32, "shape": (6, 8), "origin": ("0", "0"), "before": ("0", "0"), "after": ("0", "0")}
x = Operand(name="X", pointer="x", strides=(8, 1), extents=("6", "8"), **common)
y = Operand(name="Y", pointer="y", strides=(8, 1), extents=("6", "8"), **common)
call = Call(site=Matched.of(clip, None), operands={"X": x, "Y": y}, extents={"i": "48"}, name="step_1")
assert f"f({call.operands['X']}, {call.operands['Y']});" == "f(x, y);"

# %% PartialSums
# What `Kernel.accumulates` returns: the loop `k` may be cut, and sums are kept as int32 from one part to the next.
assert PartialSums(loops=("k",), dtype=DType.I32).loops == ("k",)

# %% Finish
# What the cores do with what a job of an engine has left in scratch, each for its share along `i`.
limited = Finish(call="acme_limit(${scratch}, ${Y});", parallel=("i",), cycles=lambda tile: 2.0 * tile.extent("i"))
assert limited.parallel == ("i",)

# %% Sharing
# Layers that this kernel computes may share its code, but where they differ in `taps`, whose loop is unrolled. Without
# the other numbers its code takes 0.1 % more.
shared = Sharing(folds=("taps",), slowdown=0.001)
assert "width" not in shared.folds

# %% Groups, Rows, Stored, StoredValue
# What `Kernel.stored` says of an operand: 20 channels in groups of 16, the last filled up with a zero point; rows of
# pixels, each of them at a multiple of 16 bytes.
lanes = Stored(form=Groups(axis=1, size=16), fill=-5)
assert lanes.form.shape((1, 20, 8, 8), item_bytes=1) == (1, 2, 8, 8, 16)
assert Rows(axes=(3, 1), multiple_bytes=16).shape((1, 3, 8, 10), item_bytes=1) == (1, 8, 32)
# An attribute of nodes whose value is stored so, ToStored and FromStored among them: it puts and takes arrays.
value = StoredValue(stored=lanes, shape=(1, 20, 8, 8))
assert value.put(np.zeros(value.shape, np.int8)).shape == (1, 2, 8, 8, 16)

# %% Windows, windows_of
# Kernel, strides, dilations and pads of a Conv or a pool, and the shapes that follow.
windows: Windows = windows_of(pool.node)
assert windows.reach == (3, 3)
assert windows.outputs((8, 8)) == (8, 8)

# %% image_fields, tap_fields
# What a function in C must know of an image and of its windows; an image of one axis is a single row.
padded = {"origin": ("0",) * 4, "before": ("0", "0", "1", "1"), "after": ("0", "0", "1", "1")}
image = {
    "dtype": DType.F32,
    "shape": (1, 4, 8, 8),
    "strides": (256, 1, 32, 4),
    "extents": ("1", "4", "8", "8"),
    **padded,
}
pooled = Call(
    site=accepted,
    operands={name: Operand(name=name, pointer=name.lower(), **image) for name in "XY"},
    extents={},
    name="step_2",
)
fields = {**image_fields(pooled), **tap_fields(windows)}
assert (fields["rows"], fields["top"], fields["x_row"], fields["row_taps"]) == ("8", "1", 32, 3)

# %% Walk, elementwise_walk
# Loops over all elements, joined where no operand has a gap: here the whole tile is one loop.
flat: Walk = elementwise_walk(call.operands, "Y", ["X"])
assert flat.extents == ("48",)
assert flat.arguments(call.operands) == "48, x, 1, y, 1"

# %% walk, broadcast_steps
# The same by hand, for an operand with one row that is read again and again.
row = Operand(
    name="B",
    pointer="b",
    dtype=DType.F32,
    shape=(8,),
    strides=(1,),
    extents=("8",),
    origin=("0",),
    before=("0",),
    after=("0",),
)
assert broadcast_steps(row, y) == (0, 1)
loops = walk(y.extents, {"B": broadcast_steps(row, y), "Y": y.strides}, leader="Y")
assert loops.extents == ("6", "8")

# %% Nest, nest
# The loops that a function in C does not run itself, as text around its call.
around: Nest = nest(loops, inner=1)
assert around.headers == ("for (int32_t tw_i0 = 0; tw_i0 < 6; ++tw_i0)",)
assert around.offsets["Y"] == " + (tw_i0 * 8)"

# %% c_functions
# The C of tilewright's own functions that a text calls, such as the exponential that all targets agree on.
(exponential,) = c_functions("y[i] = tw_expf(x[i]);")
assert "tw_expf(" in exponential.text

# %% c_element
# A number as C for an element of a type, to the bit: rounded to float32 here.
assert c_element(0.1, DType.F32) == "0x1.99999a0000000p-4f"
assert c_element(-128, DType.I8) == "-128"

# %% CodeFragment, FragmentTemplate, CodeFragments
# C that several kernels share: a program has each text once, and what it needs before it. A template sees
# `values(call)`; its name says what each text defines.
clamp = CodeFragment(name="acme_clamp", text="TW_KERNEL float acme_clamp(float x) { return x < 0.0f ? 0.0f : x; }")
row = FragmentTemplate(
    name="acme_row_${width}",
    text="TW_KERNEL void acme_row_${width}(float *y) { for (int i = 0; i < ${width}; ++i) y[i] = acme_clamp(y[i]); }",
    needs=(clamp,),
)
source: CodeFragments = (row,)
shared = Kernel(name="acme.rows", op="Clip", source=source, call="acme_row_${width}(${Y});")
assert shared.source == (row,)

# %% fragment_file, template_file
# The same from files of a package, which editors understand and a compiler checks alone. `#include "x.h"` in them is a
# need.
window = fragment_file("tilewright.operators.c_code", "window.h")
assert window.name and window.owner == "tilewright"
cast = template_file("tilewright.operators.c_code", "cast.c.mako", "cast")
assert cast.owner == "tilewright"

# %% AccumulatorBounds, sum_bounds
# How large a sum can become with these weights: 2 * 127 and less, so 32 bits are enough.
weights, bias = np.array([[1], [1]], np.int8), np.array([0], np.int32)
requant = Requant(scale=(0.017,), zero_point=0, low=-128, high=127)
numbers = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant, "output_type": "i8"}
gemm = site_of(vocabulary()["QGemm"], [np.zeros((1, 2), np.int8), weights, bias], numbers, constants=(1, 2))
bounds: AccumulatorBounds = sum_bounds(gemm)
assert (bounds.lowest, bounds.highest, bounds.bits) == ((-256,), (254,), 32)

# %% refused_products
# Why a QConv or QGemm is no sum of products of bytes with constant weights: what most kernels for integers ask first.
assert refused_products(gemm) is None

# %% zero_points, centred_weights
# One zero point or one for each output, as a tuple; and constant weights without them, in int64.
assert zero_points(gemm.node, "b_zero_point") == (0,)
assert centred_weights(gemm).tolist() == [[1], [1]]

# %% weight_bits, pack_rows
# Bits of a weight that the model file says, where all weights fit them; and rows of such, the first in the lowest bits.
assert weight_bits(gemm) == 8
assert pack_rows(np.array([[1, -2, 7]]), bits=4).tolist() == [[0xE1, 0x07]]

# %% gemm_access, pack_gemm, matmul_access, pack_matmul
# Constant matrices as [N, K], so that the products of a sum are neighbours: how they are read, and how they are stored.
values, matrix = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
dense = site_of(vocabulary()["Gemm"], [values, matrix], {"alpha": 2.0}, constants=(1,))
assert (gemm_access(dense).inputs, pack_gemm(dense)["B"].shape) == (("A", "B"), (4, 3))
plain = site_of(vocabulary()["MatMul"], [values, matrix], {}, constants=(1,))
assert (matmul_access(plain).inputs, pack_matmul(plain)["B"].shape) == (("A", "B"), (4, 3))

# %% RequantForm, ChannelRange, sum_requant
# How a sum becomes a byte: by a multiplication and a shift where they are proved to give the same, else in float.
form: RequantForm = sum_requant(gemm)
assert form.proved == (True,)
assert list(form.ranges()) == [ChannelRange(first=0, last=0, proved=True)]

# %% ShiftUnit, UnitProof
# What a unit of the machine can do behind a sum, and what of a layer it can compute exactly: whichever way that rounds.
unit = ShiftUnit(multiplier_bits=16, addend_bits=32, largest_shift=31, bits=40)
proof: UnitProof = sum_requant(gemm, unit)
assert proof.whole, proof.reasons
assert unit.holds(proof.multipliers[0], proof.addends[0], proof.shifts[0], (-256, 254))

# %% SumForm, scaled_sum_form
# The addition of two quantised tensors in integers, exact for every pair of bytes.
scales = {"a_scale": 0.5, "b_scale": 0.25, "a_zero_point": 0, "b_zero_point": 0}
limits = {"zero_point": 0, "low": -128, "high": 127}
bytes_in = [np.zeros(8, np.int8), np.zeros(8, np.int8)]
addition: SumForm | None = scaled_sum_form(site_of(vocabulary()["QAdd"], bytes_in, {**scales, **limits}))
assert addition is not None
assert addition.a_factor == 2 * addition.b_factor

# %% softmax_table, refused_softmax
# The exponentials that a QSoftmax looks up, and why its integers would not be exact enough, if they are not.
row_of_bytes = np.zeros((1, 10), np.int8)
softmax = {"axis": 1, "x_scale": 0.05, "y_scale": 1 / 256, "zero_point": -128, "low": -128, "high": 127}
probabilities = site_of(vocabulary()["QSoftmax"], [row_of_bytes], softmax)
assert refused_softmax(probabilities) is None
table = softmax_table(probabilities)
assert table[0] == max(table)  # of the largest element, whose difference to the largest is 0
