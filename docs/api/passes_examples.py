# %% before all examples
from dataclasses import replace

from tilewright.api.c import Field, Foreign, FunctionCall, Name, Number, operation
from tilewright.api.deployment import Deployment, Options
from tilewright.api.graph import Graph
from tilewright.api.passes import (
    ArithmeticChoice,
    Barrier,
    ByteRange,
    Charge,
    CodePass,
    CodePassContext,
    Comment,
    CopyStart,
    CopyWait,
    Dead,
    Declare,
    For,
    GraphPass,
    Hook,
    If,
    JobStart,
    JobWait,
    KernelCall,
    KernelLicence,
    KernelWait,
    Live,
    Mark,
    NamesInFull,
    Parameter,
    Part,
    PartCall,
    PassContext,
    PassResult,
    Port,
    PortRows,
    Program,
    ProgramPool,
    Raw,
    StateInitialiser,
    Statement,
    StepCall,
    StepCode,
    Switch,
    Target,
    While,
    replaced,
    statements_in,
    touched,
)
from tilewright.api.testing import vocabulary


# %% Target, ArithmeticChoice
# What a pass sees beside the graph: the platform with its settings, and what every integer layer is to compute.
def asked_for(context: PassContext) -> tuple[str, str]:
    target: Target | None = context.platform
    choice: ArithmeticChoice | None = context.arithmetic
    return target.settings.get("fuse", "no") if target else "no", choice.own if choice else "onnx"


assert asked_for(PassContext(operators=vocabulary())) == ("no", "onnx")


# %% GraphPass, PassContext, PassResult
# A rewrite of the graph: here the last Softmax goes, for an application that only wants the largest value's place.
def without_softmax(graph: Graph, context: PassContext) -> PassResult:
    *rest, last = graph.nodes
    if last.op != "Softmax" or last.op not in context.operators:
        return PassResult(graph=graph)
    return PassResult(graph=graph.with_nodes(tuple(rest), outputs=(last.inputs[0],)))


no_softmax = GraphPass(name="acme.no-softmax", summary="drop the last Softmax", apply=without_softmax)
plan = Deployment("digits_f32.onnx", "generic")
before = plan.imported.graph
after = no_softmax.apply(before, PassContext(operators=vocabulary())).graph
assert len(after.nodes) == len(before.nodes) - (before.nodes[-1].op == "Softmax")


# %% CodePass, CodePassContext
# A rewrite of the program: the watchdog is kicked before every step. `settings` are the user's, `NAME.KEY=VALUE`.
def kick(program: Program, context: CodePassContext) -> Program:
    macro = context.settings.get("macro", "ACME_KICK")

    def with_kick(statement: Statement) -> tuple[Statement, ...]:
        return (Raw(text=f"{macro}();"), statement) if isinstance(statement, StepCall) else (statement,)

    return replace(program, body=replaced(program.body, with_kick))


watchdog = CodePass(name="acme.watchdog", summary="kick the watchdog", apply=kick, settings=("macro",))
kicked = watchdog.apply(plan.program, CodePassContext(settings={"macro": "KICK"})).verify()
assert sum(isinstance(one, Raw) for one in kicked.body) == len(kicked.steps)

# %% Program
# Everything that is printed. It is checked again after every pass: no pass can move a buffer or need more memory.
program: Program = plan.program
assert program.prefix == "digits_f32"
assert program.verify() is program

# %% StepCode, Part, Parameter
# A step is a function in C, of which parts may be functions of their own; tiled steps have them.
step: StepCode = program.steps[0]
assert step.function.startswith("digits_f32_")
base = Parameter(type="uint8_t *", name="l1", given=Field(Name("pools"), "l1", arrow=True))
fetch = Part(role="fetch", function="digits_fetch", comment=(), parameters=(base,), body=())
assert list(replace(step, body=(), parts=(fetch,)).statements) == []

# %% NamesInFull
# What comments of the generated C call `conv1`, and its name in the model, once at the end of the source file.
assert NamesInFull(of="conv1", names=("/body/conv1/Conv",)).names == ("/body/conv1/Conv",)

# %% ProgramPool, Port, PortRows
# The memories that the program uses, and where inputs and outputs are.
pool: ProgramPool = program.pools[0]
port: Port = program.inputs[0]
assert port.rows is None and PortRows(count=8, blocks=3, piece_bytes=8, step=0).size_bytes == 24
assert port.pool == pool.base
assert port.offset_bytes + port.tensor.size_bytes <= pool.size_bytes

# %% KernelLicence, StateInitialiser
# Kernels of other packages with their licences, and bytes that a state begins with; this program has neither.
assert program.licences == ()
assert KernelLicence(kernel="acme.relu_f32", licence="MIT").licence == "MIT"
assert program.state_initialisers == ()
assert StateInitialiser(offset=Number(0), size_bytes=64, pool="flash", source=Number(16)).size_bytes == 64

# %% Statement, StepCall, Hook
# The run function calls every step once, in order; with `on_step` the application is called around each.
run: tuple[Statement, ...] = (Hook(step=0, phase="begin"), StepCall(step=0), Hook(step=0, phase="end"))
assert [one.step for one in program.body if isinstance(one, StepCall)] == [*range(len(program.steps))]

# %% For, While, If, Switch, Declare, Comment, Raw
# Structure is a tree, and so are expressions; only what authors of kernels, platforms and passes write is text.
loop = For(variable="i", start=Number(0), stop=Name("n"), step=Number(1), body=(Raw(text="sum += x[i];"),))
sums = (
    Comment(lines=("The sum of all n elements.",)),
    Declare(type="int32_t", name="sum", value=Number(0)),
    If(condition=operation(">", Name("n"), 0), body=(loop,), otherwise=(Raw(text="sum = -1;"),)),
)

by_kind = Switch(value=Name("kind"), bodies=(sums, (Raw(text="sum = 0;"),)))
assert len(by_kind.bodies) == 2
forever = While(condition=Number(1), body=(by_kind,))
assert [type(one).__name__ for one in statements_in((forever,))][:2] == ["While", "Switch"]

# %% statements_in
# All statements, those inside loops and branches included, in the order of the text.
assert [type(one).__name__ for one in statements_in(sums)] == ["Comment", "Declare", "If", "For", "Raw", "Raw"]

# %% replaced
# Every statement replaced by what a function makes of it; several, one, or none.
bare = replaced(sums, lambda one: () if isinstance(one, Comment) else (one,))
assert len(bare) == 2

# %% KernelCall, KernelWait, ByteRange
# A kernel on one tile, with the bytes that it reads and writes. An asynchronous one is waited for.
tile_in = ByteRange(buffer="x.tile", offset_bytes=0, size_bytes=64)
tile_out = ByteRange(buffer="y.tile", offset_bytes=0, size_bytes=32)
compute = KernelCall(
    kernel="acme.relu_f32", code=Foreign(text="acme_relu(16, x, y);"), reads=(tile_in,), writes=(tile_out,)
)
ready = KernelWait(kernel="acme.relu_f32", code=Foreign(text="acme_wait();"))

# %% JobStart, JobWait
# What a program for several cores tells its runtime of an asynchronous kernel: its job has begun, has ended.
begun = JobStart(
    kernel="acme.relu_f32", code=Foreign(text='tw_rt_engine_start(1u, "acme.relu_f32", 40u, 1, 1, w, 2u);')
)
ended = JobWait(kernel="acme.relu_f32", code=Foreign(text="tw_rt_engine_wait(1u, 0);"))
assert begun.kernel == ended.kernel

# %% CopyStart, CopyWait
# A transfer between two memories. Until the wait of that name the source must stay as it is.
whole_in = ByteRange(buffer="x", offset_bytes=0, size_bytes=640)
start = CopyStart(transfer="x in", code=Foreign(text="c0 = tw_rt_copy(l1, l2, 64u);"), source=whole_in, target=tile_in)
arrived = CopyWait(transfer="x in", code=Foreign(text="tw_rt_wait(c0);"))
tiled = (start, arrived, compute, ready)

# %% touched
# Which bytes statements touch, and whether they are written: what `Program.verify` compares with the memory map.
assert [(place.buffer, written) for place, written in touched(tiled)] == [
    ("x", False),
    ("x.tile", True),
    ("x.tile", False),
    ("y.tile", True),
]

# %% PartCall, Barrier
# A step of several cores calls its parts; between them no core goes on before all are there.
pipeline = (PartCall(role="fetch", function="digits_fetch", arguments=(Name("l1"),), tile=Number(0)), Barrier())
assert pipeline[0].function == fetch.function

# %% Live, Dead, Mark
# From where to where a buffer's bytes mean something: what the pass `lifetimes` writes, and marks in tiled steps.
born = Live(buffer="x", pointer=Name("ram") + 64, size_bytes=640)
gone = Dead(buffer="x", pointer=Name("ram") + 64, size_bytes=640)
mark = Mark(event="live", buffer="x.tile", pointer=Name("l1"), size_bytes=64)
checked = Deployment("digits_f32.onnx", "generic", Options(code_passes={"lifetimes": {}})).program
assert any(isinstance(one, Live) for one in checked.body)

# %% Charge
# Estimated cycles for a virtual clock, as the twin counts them.
clock = Charge(code=FunctionCall("twin_charge", (Number(300),)))
