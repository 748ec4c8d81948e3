# %% before all examples
from dataclasses import replace

import numpy as np

from tilewright.api.graph import (
    Attribute,
    DoubleRounding,
    DType,
    Float32HalfEven,
    Graph,
    Layout,
    Link,
    MultiplyShift,
    Node,
    Quantization,
    Rational,
    Requant,
    Rounding,
    Site,
    StoredScales,
    Tensor,
    channels_last,
    requantise,
    row_major,
    strides,
)

# %% DType
assert DType.I8.limits == (-128, 127)
assert DType.I8.c_type == "int8_t"
assert DType.from_numpy(np.dtype(np.float32)) is DType.F32

# %% Tensor, Quantization
# A quantised image. Its scale is documentation: an operator carries the numbers that it computes with.
pixels = Quantization(scale=(1 / 255,), zero_point=(-128,))
image = Tensor(name="image", dtype=DType.I8, shape=(1, 3, 8, 8), quantization=pixels)
assert (image.elements, image.size_bytes) == (192, 192)

# %% Node, Attribute
# Attributes are plain values, read by type: what is absent or of another type is an error or the default.
window: Attribute = (2, 2)
pool = Node(name="pool", op="MaxPool", inputs=("image",), outputs=("small",), attributes={"kernel_shape": window})
assert pool.integers("kernel_shape") == (2, 2)
assert pool.integer("ceil_mode", default=0) == 0

# %% Link
# A chain, two nodes that a kernel computes as one: `match` finds their sites in order.
flat = Tensor(name="flat", dtype=DType.I8, shape=(1, 48))
reshape = Node(name="flatten", op="Reshape", inputs=("small",), outputs=("flat",))
between = Tensor(name="small", dtype=DType.I8, shape=(1, 3, 4, 4))
chain = Node(
    name="flatten",
    op="MaxPool+Reshape",
    inputs=("image", ""),
    outputs=("flat",),
    links=(Link(node=pool, output=between), Link(node=reshape, output=flat)),
)
first, last = Site(node=chain, inputs=(image, None), outputs=(flat,), constants={}).members()
assert (first.node.op, last.node.op) == ("MaxPool", "Reshape")
assert last.input(0) == between

# %% Site
# A node with the tensors that it touches. Kernels and operators are asked about sites, never about names.
small = Tensor(name="small", dtype=DType.I8, shape=(1, 3, 4, 4))
site = Site(node=pool, inputs=(image,), outputs=(small,), constants={})
assert site.input(0).shape == (1, 3, 8, 8)
assert site.output.dtype is DType.I8
assert site.constant(0) is None  # only known when the network runs

# %% Graph
tensors = {tensor.name: tensor for tensor in (image, small)}
graph = Graph(name="net", inputs=("image",), outputs=("small",), nodes=(pool,), tensors=tensors, constants={}).verify()
assert [site.node.op for site in graph.sites()] == ["MaxPool"]
assert [node.name for node in graph.consumers()["image"]] == ["pool"]

# %% Layout, row_major, channels_last, strides
# The order in which axes are stored, outermost first; strides follow from it.
plain: Layout = row_major(4)
packed = channels_last(4)
assert (plain, packed) == ((0, 1, 2, 3), (0, 2, 3, 1))
assert strides(image.shape, plain) == (192, 64, 8, 1)
assert strides(image.shape, packed) == (192, 1, 24, 3)

# %% Requant, requantise
# From a sum to eight bits, by the formula that is the definition: kernels must give the same for every sum.
to_bytes = Requant(scale=(0.5,), zero_point=3, low=-128, high=127)
sums = np.array([[-5, 1, 3, 1000]], dtype=np.int64)
assert requantise(sums, to_bytes, axis=1).tolist() == [[1, 3, 5, 127]]

# %% Rounding, Float32HalfEven, DoubleRounding, MultiplyShift, Rational
# How a scaled sum becomes a whole number: part of a `Requant`. What is not said is the float32 formula of ONNX.
assert to_bytes.rounding == Float32HalfEven()
half = np.array([[1, 3, -1]])
roundings: dict[str, Rounding] = {
    "tflm": DoubleRounding(),
    "halves up": MultiplyShift(multiplier=(1,), shift=(1,)),
    "exact": Rational(numerator=(1,), denominator=(2,)),
}
results = {
    name: requantise(half, replace(to_bytes, rounding=each), axis=1).tolist() for name, each in roundings.items()
}
assert results == {"tflm": [[4, 5, 3]], "halves up": [[4, 5, 3]], "exact": [[3, 5, 3]]}

# %% StoredScales
# What the file stores, where a scale is made of it: x * w / y. Another arithmetic begins with these, not with a ratio
# that was rounded; an importer records them in `Requant.stored`.
stored = StoredScales(x=0.5, w=(0.25, 0.5), y=0.125)
assert stored.ratios() == (1, 2)
