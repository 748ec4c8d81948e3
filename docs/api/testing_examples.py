# %% before all examples
import random
from pathlib import Path

import numpy as np

from tilewright.api.allocator import lower_bounds, stack
from tilewright.api.deployment import Deployment
from tilewright.api.graph import DType
from tilewright.api.operator import parse_map
from tilewright.api.passes import GraphPass, PassResult
from tilewright.api.runner import find_compiler
from tilewright.api.testing import (
    CLUSTER,
    KINDS,
    RUNTIME_BYTES,
    STRICT,
    UBSAN,
    RandomNetwork,
    Sample,
    SideBySide,
    Sketch,
    SmallWorld,
    block,
    byte_array,
    cluster,
    copy_path,
    every_layer,
    joined_problem,
    kernel_errors,
    kernel_faults,
    layers_taken,
    make_requant,
    one_step,
    pass_faults,
    points,
    portable_kernels,
    position,
    ram,
    random_cuts,
    random_graph,
    random_layouts,
    random_network,
    random_parts,
    random_problem,
    refusal,
    registry_for,
    result_errors,
    run_kernel,
    run_tiled,
    side_by_side,
    site_of,
    small_world,
    tile_boxes,
    vocabulary,
    window_errors,
    with_kernel,
)

rng = np.random.default_rng(1)

# %% vocabulary, portable_kernels
# Every operator of tilewright, and its kernels in portable C, by name.
operators = vocabulary()
relu_op = operators["Clip"]
relu = next(kernel for kernel in portable_kernels().values() if kernel.op == "Clip" and kernel.target == "*")
assert find_compiler()  # the examples that run a kernel need a C compiler

# %% site_of
# A site from arrays, without a graph; shapes and types of outputs are inferred.
x = rng.standard_normal((4, 6)).astype(np.float32)
site = site_of(relu_op, [x], {"min": 0.0, "max": 1.0})
assert site.output.shape == (4, 6)

# %% refusal
# Why a kernel refuses a site, or None.
assert refusal(relu, site) is None

# %% run_kernel, STRICT, UBSAN
# The kernel compiled for this machine, with warnings as errors, and run once over whole operands. With the flags
# `UBSAN`, undefined behaviour ends the run.
found = run_kernel(relu_op, relu, site, [x], folder=Path(), flags=(*STRICT, "-O2"))
assert set(STRICT) < set(UBSAN)

# %% result_errors
# What differs from the operator's reference, by more than its tolerance: nothing.
assert result_errors(relu_op, site, [x], found) == []

# %% run_tiled
# The same tile by tile, every number of a tile known at run time only. What no tile writes is poison.
tiled = run_tiled(relu_op, relu, site, [x], cuts={loop.name: 3 for loop in relu_op.access(site).loops}, folder=Path())
assert result_errors(relu_op, site, [x], tiled) == []

# %% kernel_errors
# Both at once, in random tiles and layouts: what a kernel's test usually is.
assert kernel_errors(relu_op, relu, site, [x], rng, Path()) == []

# %% kernel_faults
# The same and more: in place, in parts of sums, with poison, no better aligned than it must be, out of reach of what is
# beside operands. `pytest --tilewright-target NAME` asks this of every kernel of a package.
assert kernel_faults(relu_op, relu, site, [x], folder=Path(), flags=STRICT) == []

# %% layers_taken
# Which layers of `every_layer` kernels take, and that they are right on them: what a kernel's test begins with.
assert layers_taken([relu], Path()) == {relu.name: {""}}

# %% random_layouts, random_cuts, random_parts
# What `kernel_errors` draws, for tests that need more; `random_parts` cuts reductions of a kernel that can do that.
scheduled = one_step("Add", [x, x], CLUSTER)
layer = scheduled.bound.layers[scheduled.steps[0].name]
assert sorted(random_layouts(relu_op, site, rng)) == ["X", "Y"]
assert set(random_cuts(layer.access, rng)) <= {loop.name for loop in layer.access.loops}
assert random_parts(layer, rng) == {}

# %% points, position, window_errors
# An access map point by point: every trip of all loops, the element that it touches, and windows that hold it.
shifted = parse_map("i : X[i+1?] -> Y[i]").bind({"X": (4,), "Y": (4,)})
assert len(list(points(shifted))) == 4
assert [position(shifted, "X", point) for point in points(shifted)] == [(1,), (2,), (3,), None]
assert window_errors(shifted, {"i": (0, 4)}) == []

# %% tile_boxes
# The boxes that cover all trips: two tiles of at most three.
assert list(tile_boxes(shifted, {"i": 3})) == [{"i": (0, 3)}, {"i": (3, 4)}]

# %% byte_array, make_requant
# Bytes and requantisations that find mistakes: only the ends of the type, and scales whose results fall on halves.
ends = byte_array(rng, DType.I8, (2, 8), saturated=True)
assert set(ends.flat) <= {-128, 127}
assert make_requant(rng, channels=4, dtype=DType.I8, reach=1e4, kind="ties").scales(4)

# %% every_layer, Sample
# One layer or several for every operator, too large for a small scratchpad: a target's own tests begin here.
sample: Sample = every_layer()[0]
assert sample.op in operators
assert {layer.op for layer in every_layer()} >= {"Conv", "QConv", "Softmax"}

# %% CLUSTER, cluster, copy_path, RUNTIME_BYTES
# A made-up machine with eight cores around a scratchpad, of any size; its networks run on the twin.
small = cluster(scratchpad_bytes=4 << 10)
assert small.plan_bytes("l1") == (4 << 10) - RUNTIME_BYTES
assert CLUSTER.memory("l1").size_bytes == 64 << 10
assert copy_path("l2", "l1") in small.copies

# %% registry_for
# What a compilation for a machine that no package offers needs: nothing but the core has to be installed.
registry = registry_for(small, tiler="min")
assert registry.platforms == {small.name: small} and "Conv" in registry.operators

# %% one_step
# One node on a platform, up to the question that a tiler is asked.
alone = one_step("Softmax", [x], small, {"axis": 1})
assert [step.name for step in alone.steps] == [alone.bound.graph.nodes[0].name]

# %% with_kernel
# The same with a field of a node's kernel changed: here its tiles have whole pairs of rows.
paired = with_kernel(alone.bound, alone.steps[0].name, multiples={"i": 2})
assert paired.bindings[alone.steps[0].name].kernel.multiples == {"i": 2}

# %% Sketch
# A graph in a few lines, shapes and types inferred.
sketch = Sketch(operators=operators)
y = sketch.node("Clip", (sketch.input("x", DType.F32, (4, 6)),), {"min": 0.0, "max": 1.0})
assert sketch.finish(y).outputs == (y,)

# %% pass_faults
# What is wrong with a graph pass: it must leave its graph alone, answer the same twice, and compute the same.
drawn_graph = sketch.finish(y)
idle = GraphPass(name="acme.idle", summary="nothing", apply=lambda graph, context: PassResult(graph=graph))
assert pass_faults(idle, drawn_graph, operators, {"x": np.zeros((4, 6), np.float32)}) == []

# %% block, ram
# An allocation problem by hand: two blocks that are alive together, in one pool.
problem = ram(block("a", 64, 0, 1), block("b", 20, 1, 2, align=4))
assert lower_bounds(problem) == {"ram": 84}

# %% random_problem, joined_problem
# Any small problem over two pools; `joined_problem` has views, pairs in place and engines as well.
some = random_problem(random.Random(1), capacities=False, extras=False)
assert stack(some).places.keys() == {one.name for one in some.blocks}
assert joined_problem(random.Random(1)).pools

# %% small_world, SmallWorld, random_graph
# Small graphs full of views and shared values, and a machine, operators and kernels for them.
world: SmallWorld = small_world(ram_bytes=4096)
drawn = random_graph(random.Random(1), world.operators, most_nodes=5)
assert 1 <= len(drawn.nodes) <= 5
assert world.platform.memory("sram").size_bytes == 4096

# %% random_network, RandomNetwork, KINDS
# A whole quantised network as quantisers write them, with values for its inputs; the same for the same seed.
network: RandomNetwork = random_network(sorted(KINDS)[0], 7, operators)
assert network.feeds.keys() == set(network.graph.inputs)

# %% side_by_side, SideBySide
# Many sites in one graph, compiled once: what a slow simulator's tests start from.
both: SideBySide = side_by_side([(site, [x]), (site, [x + 1])])
plan: Deployment = both.deployment("generic")
assert len(plan.scheduled.steps) == 2
