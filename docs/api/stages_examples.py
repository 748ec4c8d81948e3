# %% before all examples
from pathlib import Path

from tilewright.api import hookimpl
from tilewright.api.deployment import Deployment, Options
from tilewright.api.stages import (
    Allocated,
    Artifact,
    Binding,
    Bound,
    Buffer,
    BytesAway,
    Candidate,
    Decisions,
    Layer,
    OperandSource,
    PackageFacts,
    Placement,
    PoolUse,
    Recomputation,
    Scheduled,
    StageEvent,
    Staging,
    Step,
    Storage,
    TensorParameter,
    Tiled,
)

plan = Deployment("digits_int8.onnx", "generic")


# %% StageEvent
# What an observer is told after every stage: its name, and the value that it returned.
@hookimpl
def tilewright_stage_finished(event: StageEvent) -> None:
    if isinstance(event.value, Allocated):
        Path("used.txt").write_text("".join(f"{pool.memory} {pool.used_bytes}\n" for pool in event.value.pools))


tilewright_stage_finished(StageEvent(stage="allocate", value=plan.allocated))
assert Path("used.txt").read_text().startswith("ram ")

# %% Bound, Binding, Candidate
# Every node has a kernel, chosen among candidates.
bound: Bound = plan.bound
binding: Binding = bound.bindings[bound.graph.nodes[0].name]
best: Candidate = min(binding.candidates, key=lambda candidate: candidate.cycles)
assert best.kernel.name == binding.kernel.name

# %% Layer, OperandSource
# A node as its kernel computes it: which operands it has, and where each comes from.
layer: Layer = bound.layers[binding.node]
sources: tuple[OperandSource, ...] = layer.sources(layer.site)
assert sources[0].tensor == bound.graph.nodes[0].inputs[0]
assert layer.whole.site.node.name == binding.node

# %% Scheduled, Step, Storage
# The steps in order, and for every value the buffer that it is in; views and in-place pairs share one.
scheduled: Scheduled = plan.scheduled
step: Step = scheduled.steps[0]
assert step.nodes[-1] == step.name
where: Storage = scheduled.storage[bound.graph.inputs[0]]
assert where.offset_bytes == 0

# %% Tiled, Buffer
# Every buffer that will ever exist: its size, from which step to which it lives, and where it may be.
tiled: Tiled = plan.tiled
buffer: Buffer = next(one for one in tiled.buffers if one.kind == "activation")
assert 0 <= buffer.first <= buffer.last < len(scheduled.steps)

# %% Allocated, Placement, PoolUse, BytesAway
# Every buffer has a place, and every memory a figure; with several memories, so has what is not in its first one.
allocated: Allocated = plan.allocated
place: Placement = allocated.placements[buffer.name]
use: PoolUse = next(one for one in allocated.pools if one.memory == place.memory)
assert place.offset_bytes + buffer.size_bytes <= use.used_bytes
assert use.lower_bound_bytes <= use.used_bytes
away: tuple[BytesAway, ...] = allocated.away
assert away == ()  # `generic` has one memory of each kind

# %% Artifact
# What is written: relative path and bytes.
artifact: Artifact = plan.artifact
assert "digits_int8.c" in artifact.files

# %% PackageFacts
# What a package around the files is called: what the user says with --package.
facts: PackageFacts = artifact.package
assert (facts.name, facts.version) == ("", "0.0.0")  # nothing was said: as the network

# %% TensorParameter
# Inputs and then outputs as C has them, as an exporter needs them for a sketch or a shim.
first: TensorParameter = artifact.parameters[0]
assert artifact.simple and first.is_input and first.value == plan.imported.graph.inputs[0]

# %% Decisions, Staging, Recomputation
# Whatever is chosen rather than derived. What `pins` decides, no stage changes; the rest stays open.
pins = Decisions(kernels={binding.node: binding.kernel.name}, io={bound.graph.inputs[0]: "user"})
pinned = Deployment("digits_int8.onnx", "generic", Options(pins=pins)).allocated
assert pinned.decisions.io[bound.graph.inputs[0]] == "user"
assert bound.graph.inputs[0] not in pinned.placements  # the caller's own memory
assert Decisions(staged={"weights": Staging(memory="ram", when="use")}).staged["weights"].when == "use"
assert Decisions(recomputed=(Recomputation(value="mask"),)).recomputed[0].readers == ()  # never computed again
