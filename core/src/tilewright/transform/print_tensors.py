"""Knows the pass `print-tensors`: values as they are when a step reads or has written them, in any memory.
Does not know where the text goes: TW_PRINT is `printf` unless the application defines it.

Settings: `tensors` and `memory`, patterns with `*` and `?` on names (default: all); `what`, some of
inputs+outputs+constants (default: inputs+outputs). Values are printed in the order in which they are stored. A tile
buffer is printed whole, when its window has arrived or is complete: a smaller window is followed by what was there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import files

from tilewright.c_text.identifiers import comment_text
from tilewright.errors import typed, usage_error
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.programs.expressions import (
    Cast,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Reference,
    equal,
)
from tilewright.ir.programs.program import CodePass, CodePassContext, Program, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    Code,
    CopyStart,
    CopyWait,
    If,
    PartCall,
    Raw,
    Statement,
    StepCall,
    replaced,
    statements_in,
)
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import Elements, conversions

KINDS = ("inputs", "outputs", "constants")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """What is asked for."""

    tensors: str
    memory: str
    what: tuple[str, ...]

    def take(self, tensor: _Tensor, memory: str) -> bool:
        """Whether a tensor in a memory is printed."""
        named = fnmatchcase(tensor.name, self.tensors) and fnmatchcase(memory, self.memory)
        return tensor.kind in self.what and named


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tensor:
    """An operand of a step in the memory where it lives."""

    name: str
    kind: str
    dtype: DType
    region: ByteRange

    def print(self, pointer: Expression, size_bytes: int, where: str) -> Raw:
        """The statement that prints it. `where` is safe text."""
        title = f"{comment_text(self.name)} {where}"
        count = size_bytes // self.dtype.size_bytes
        values = Cast(f"const {self.dtype.c_type} *", pointer)
        return Raw(text=f'{_function(self.dtype)}("{title}", {values}, {count}u);')


def _apply(program: Program, context: CodePassContext) -> Program:
    settings = _settings(context.settings)
    operands = _by_function(program)
    steps = tuple(_with_tiles(program, *pair, settings) for pair in zip(program.steps, operands, strict=True))
    body: list[Statement] = []
    for statement in program.body:
        if not isinstance(statement, StepCall):
            body.append(statement)
            continue
        own = operands[statement.step]
        before = _prints(program, (tensor for tensor in own if tensor.kind != "outputs"), settings, statement.step)
        after = _prints(program, (tensor for tensor in own if tensor.kind == "outputs"), settings, statement.step)
        body.extend((*before, statement, *after))
    kinds = dict.fromkeys(tensor.dtype for own in operands for tensor in own)
    used = [kind for kind in kinds if _mentions((*body, *(inner for step in steps for inner in step.statements)), kind)]
    if not used:
        raise usage_error(
            "TW1112",
            f"code pass 'print-tensors' finds nothing to print: no {' or '.join(settings.what)} named like "
            f"'{settings.tensors}' in a memory named like '{settings.memory}'",
            details=(f"memories in use: {', '.join(pool.memory for pool in (*program.pools, *program.constants))}",),
            fix=(typed("--code-pass", "print-tensors", gives="prints what every step reads and has written"),),
        )
    header = (files("tilewright.transform") / "print_tensors.c").read_text(encoding="utf-8").strip("\n")
    text = "\n\n".join((header, *(_printer(kind) for kind in used)))
    section = CodeFragment(name="tilewright/print_tensors", text=text, needs=conversions(*used))
    return replace(program, steps=steps, body=tuple(body), sources=ordered((section, *program.sources)))


def _settings(settings: Mapping[str, str]) -> _Settings:
    what = tuple(settings.get("what", "inputs+outputs").split("+"))
    wrong = [*(name for name in settings if name not in ("tensors", "memory", "what")), *(set(what) - set(KINDS))]
    if wrong:
        raise usage_error(
            "TW1112",
            f"code pass 'print-tensors' does not know '{min(wrong)}'",
            fix=("write it as --code-pass 'print-tensors:tensors=conv*,memory=l1,what=inputs+outputs+constants'",),
        )
    return _Settings(tensors=settings.get("tensors", "*"), memory=settings.get("memory", "*"), what=what)


def _by_function(program: Program) -> list[tuple[_Tensor, ...]]:
    """For each step's function what is read before it and written by it, of all the steps that it computes."""
    tiled, result = program.allocated.tiled, [dict[_Tensor, None]() for _ in program.steps]
    executed, completed = tiled.executed, tiled.completed
    for step in program.steps:
        for tensor in _operands(program, step):
            result[(completed if tensor.kind == "outputs" else executed)[step.step]][tensor] = None
    written = [{tensor.name for tensor in own if tensor.kind == "outputs"} for own in result]
    return [
        tuple(tensor for tensor in own if tensor.kind == "outputs" or tensor.name not in names)
        for own, names in zip(result, written, strict=True)
    ]


def _operands(program: Program, step: StepCode) -> Iterator[_Tensor]:
    """Inputs, constants, outputs."""
    scheduled = program.allocated.tiled.scheduled
    node = next(node for node in scheduled.bound.graph.nodes if node.name == step.step)
    for kind, values in (("inputs", node.inputs), ("outputs", node.outputs)):
        for value in dict.fromkeys(values):
            storage = scheduled.storage.get(value)
            if storage is not None:
                tensor = program.graph_tensors[value]
                region = ByteRange(
                    buffer=storage.buffer, offset_bytes=storage.offset_bytes, size_bytes=tensor.size_bytes
                )
                yield _Tensor(name=value, kind=kind, dtype=tensor.dtype, region=region)
    for name in scheduled.bound.bindings[step.step].constants.values():
        array = scheduled.bound.constants[name]
        region = ByteRange(buffer=name, offset_bytes=0, size_bytes=array.nbytes)
        yield _Tensor(name=name, kind="constants", dtype=DType.from_numpy(array.dtype), region=region)


def _prints(program: Program, tensors: Iterator[_Tensor], settings: _Settings, number: int) -> tuple[Statement, ...]:
    """By core 0, while the others wait."""
    prints = []
    for tensor in tensors:
        place = program.allocated.placements.get(tensor.region.buffer)
        memory = place.memory if place else "caller"
        pointer = _address(program, tensor)
        if pointer is not None and tensor.region.size_bytes and settings.take(tensor, memory):
            where = f"{tensor.kind} of step {number} in {comment_text(memory)}"
            prints.append(tensor.print(pointer, tensor.region.size_bytes, where))
    if not prints or not program.team:
        return tuple(prints)
    return (
        Barrier(),
        If(condition=equal(FunctionCall("tw_rt_core"), Number(0, unsigned=True)), body=tuple(prints)),
        Barrier(),
    )


def _address(program: Program, tensor: _Tensor) -> Expression | None:
    """Where the tensor is, in the run function; None where no expression there leads to it."""
    if tensor.region.buffer in program.allocated.placements:
        return program.address(tensor.region.buffer) + tensor.region.offset_bytes
    for struct, ports in (("inputs", program.inputs), ("outputs", program.outputs)):
        for port in ports:
            if port.value == tensor.name and not port.copied_from and port.rows is None:
                return Field(Name(struct), port.member, arrow=True)
    return None


def _with_tiles(program: Program, step: StepCode, operands: Sequence[_Tensor], settings: _Settings) -> StepCode:
    """The step with tile buffers printed: inputs when they have arrived, outputs before they leave."""
    slots = {name: result for part in step.parts for name, result in _slots(part.body, operands)}
    memories = program.allocated.placements

    def changed(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, CopyWait) and not statement.outgoing:
            return (statement, *printed(statement.code, "of a tile that arrived"))
        if isinstance(statement, PartCall) and statement.role == "store":
            call = FunctionCall(statement.function, statement.arguments)
            return (*printed(call, "of a tile that is complete"), statement)
        return (statement,)

    def printed(call: Code, what: str) -> Iterator[Statement]:
        for name, slot in _slots_given(call):
            if name in slots:
                tensor, near = slots[name]
                memory = memories[near.buffer].memory
                if settings.take(tensor, memory):
                    yield tensor.print(Field(slot, "bytes"), near.size_bytes, f"{what} in {comment_text(memory)}")

    parts = tuple(replace(part, body=replaced(part.body, changed)) for part in step.parts)
    return replace(step, parts=parts, body=replaced(step.body, changed))


def _slots(body: tuple[Statement, ...], operands: Sequence[_Tensor]) -> Iterator[tuple[str, tuple[_Tensor, ByteRange]]]:
    """Transfer -> the operand it carries from or to where it lives, and its tile buffer."""
    for statement in statements_in(body):
        if isinstance(statement, CopyStart):
            for tensor in operands:
                if tensor.kind != "outputs" and statement.source == tensor.region:
                    yield statement.transfer, (tensor, statement.target)
                if tensor.kind == "outputs" and statement.target == tensor.region:
                    yield statement.transfer, (tensor, statement.source)


def _slots_given(call: Code) -> Iterator[tuple[str, Expression]]:
    """The slots that a call is given the addresses of, and the arrays that they are in."""
    for argument in call.arguments if isinstance(call, FunctionCall) else ():
        match argument:
            case Reference(value=Element(of=Name(text=array)) as slot):
                yield array, slot


def _mentions(statements: Sequence[Statement], kind: DType) -> bool:
    call = f"{_function(kind)}("
    return any(
        isinstance(statement, Raw) and statement.text.startswith(call) for statement in statements_in(tuple(statements))
    )


def _function(kind: DType) -> str:
    return f"tw_print_{kind.value}"


def _printer(kind: DType) -> str:
    """A C function that prints `count` elements of one type on a line."""
    wide, form = ("double", "%.9g") if kind.is_float else ("long long", "%lld")
    return f"""\
static void {_function(kind)}(const char *title, const {kind.c_type} *values, uint32_t count)
{{
    (void)TW_PRINT("%s:", title);
    for (uint32_t i = 0; i < count; ++i) {{
        (void)TW_PRINT(" {form}", ({wide}){Elements(dtype=kind).load("values[i]")});
    }}
    (void)TW_PRINT("\\n");
}}"""


PRINT_TENSORS = CodePass(
    name="print-tensors",
    summary="print inputs, outputs and constants of steps, in any memory, by patterns on names",
    apply=_apply,
    before=("hooks", "lifetimes"),
)
