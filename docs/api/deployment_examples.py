# %% before all examples
from tilewright.api.deployment import Deployment, Options

# %% Deployment
# Every stage is an attribute, worked out when it is asked for.
plan = Deployment("digits_int8.onnx", "generic")
assert [tensor.shape for tensor in plan.inputs.values()]
assert plan.graph.nodes
assert plan.allocated.pools[0].used_bytes <= sum(buffer.size_bytes for buffer in plan.tiled.buffers)
assert "digits_int8.c" in plan.artifact.files

# %% Options
# What the command line can ask for, as one value: another memory size, another allocator, further files.
smaller = Deployment(
    "digits_int8.onnx", "generic", Options(name="digits", memory={"ram": 4096}, allocator="best-fit", emit=("make",))
)
assert "digits.c" in smaller.files
assert smaller.platform.memory("ram").size_bytes == 4096
