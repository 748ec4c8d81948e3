# %% before all examples
from tilewright.api.c import (
    Cast,
    Choice,
    Code,
    Element,
    Expression,
    Field,
    Foreign,
    FunctionCall,
    Name,
    Number,
    Operation,
    Product,
    Reference,
    Struct,
    Sum,
    operation,
)

# %% Expression, Name, Number
# Expressions are made with the operators of Python. Numbers are added up at once; printed, an expression is C.
row: Expression = Name("row")
offset = (row + 2) * 16 + 8
assert str(offset) == "(16 * row) + 40"
assert (Number(3) + 4).number == 7

# %% Sum, Product
# What the operators make: nothing stands in a sum twice, and nothing that is multiplied by 0 at all.
assert isinstance(offset, Sum) and offset.constant == 40
assert str(row - row) == "0"
area = Name("width") * Name("height")
assert isinstance(area, Product) and str(area + 1) == "(width * height) + 1"

# %% Operation, operation, Choice
# All other operators, and conditions. What is known now is a number.
below = operation("<", row, Name("rows"))
assert isinstance(below, Operation) and str(below) == "row < rows"
assert operation("<", Number(1), 2).number == 1
assert str(Choice(below, row, Number(0))) == "(row < rows) ? row : 0"

# %% Field, Element, Reference, Cast
# Places in memory and what points to them.
assert str(Field(Name("ctx"), "l1", arrow=True)) == "ctx->l1"
assert str(Reference(Element(Name("x"), row + 1))) == "&x[row + 1]"
assert str(Cast("const int8_t *", Name("ram") + 64)) == "(const int8_t *)(ram + 64)"

# %% FunctionCall, Struct
# Calls and compound literals.
assert str(FunctionCall("tw_share", (row, Number(8)))) == "tw_share(row, 8)"
assert str(Struct("tw_range", (Number(0), row))) == "(tw_range){0, row}"

# %% Foreign, Code
# Statements that a kernel's or a platform's author wrote stay text; `names` are the identifiers in it.
wait: Code = Foreign(text="acme_wait(channel);", names=frozenset({"acme_wait", "channel"}))
assert str(wait) == "acme_wait(channel);"
