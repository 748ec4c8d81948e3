"""Knows C expressions as values: what they refer to, what they become with others in them, how they are written.
Does not know statements, where variables are declared, nor what is computed.

    Number(8), Name("t")                  8, t
    Field(Name("box"), "low")             box.low
    Element(Name("x"), remainder(t, 2))     x[t % 2]
    FunctionCall("tw_steps", (a, Number(2)))      tw_steps(a, 2)
    a * 4 - b + 3                         4 * a - b + 3       a Sum: numbers are added up, equal terms joined
    a * b                                 a * b               a Product
    less(a, b), equal(a, 0)               a < b, a == 0       an Operation, or 1 or 0 where the answer is known
    Choice(less(a, b), a, b)              a < b ? a : b
    Cast("uint8_t *", a), Reference(a)    (uint8_t *)a, &a
    Struct("tw_range", (a, b))            (tw_range){a, b}
    Verbatim("(t *)x + 4", {"t", "x"})    as others wrote it

Numbers are int32_t. Expressions are equal where they are built in the same way. `str` writes C, with parentheses only
where C needs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import eq, ge, gt, lt


class Expression:
    """Any of the kinds below."""

    __slots__ = ()

    @property
    def number(self) -> int | None:
        """The value where it is known now."""
        return None

    def __add__(self, other: Expression | int) -> Expression:
        return _moved(self, 1, other)

    def __sub__(self, other: Expression | int) -> Expression:
        return _moved(self, -1, other)

    def __mul__(self, other: Expression | int) -> Expression:
        factor = other if isinstance(other, int) else other.number
        return multiplied((self, as_expression(other))) if factor is None else _moved(NEVER, factor, self)

    def __str__(self) -> str:
        return _written(self)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An integer. `unsigned`: written with the suffix, where it is an argument of that type."""

    value: int
    unsigned: bool = False

    @property
    def number(self) -> int | None:
        return self.value


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable, a parameter, an enumerator or a macro."""

    text: str


@dataclass(frozen=True, slots=True)
class Field(Expression):
    """`of.member`; of a pointer, with `arrow`, `of->member`."""

    of: Expression
    member: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class Element(Expression):
    """`of[at]`."""

    of: Expression
    at: Expression


@dataclass(frozen=True, slots=True)
class FunctionCall(Expression):
    """`function(arguments)`."""

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum(Expression):
    """`constant + factor * term + ...`, as `added` makes it: no term is a number or a sum, none is there twice."""

    constant: int
    terms: tuple[tuple[int, Expression], ...]


@dataclass(frozen=True, slots=True)
class Product(Expression):
    """`factor * factor * ...`, as `multiplied` makes it: no factor is a number or a product."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """`left operator right`, as `operation` makes it."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice(Expression):
    """`condition ? yes : no`."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """`(type)value`."""

    type: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Reference(Expression):
    """`&value`."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Struct(Expression):
    """`(type){values}`; a declaration needs no type. `members` name the values, where they are given."""

    type: str
    values: tuple[Expression, ...]
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verbatim(Expression):
    """What an author of a kernel or platform wrote, as an argument; `names` are the identifiers in it."""

    text: str
    names: frozenset[str] = frozenset()


NEVER, ALWAYS = Number(0), Number(1)  # conditions whose answer is known

# how tightly C binds
_PRIMARY, _UNARY, _PRODUCT, _SUM, _ORDER, _EQUALITY, _AND, _CHOICE = 9, 8, 7, 6, 5, 4, 3, 2
_LEVELS = {"/": _PRODUCT, "%": _PRODUCT, "<": _ORDER, ">": _ORDER, ">=": _ORDER, "==": _EQUALITY, "&&": _AND}
_COMPARISONS = {"<": lt, ">": gt, ">=": ge, "==": eq}


def as_expression(value: Expression | int) -> Expression:
    """A number as an expression."""
    return Number(value) if isinstance(value, int) else value


def _moved(left: Expression, factor: int, right: Expression | int) -> Expression:
    """`one + factor * other`: numbers and ones, which are most of what is added, need no table of terms."""
    if isinstance(right, int):
        number = right
    elif isinstance(right, Number):
        number = right.value
    elif factor == 1 and isinstance(left, Number) and not left.value:
        return right
    else:
        return added((1, left), (factor, right))
    if not number:
        return left
    return (
        Number(left.value + factor * number) if isinstance(left, Number) else added((1, left), (factor, Number(number)))
    )


def added(*products: tuple[int, Expression]) -> Expression:
    """The sum of factor * expression."""
    constant, factors = 0, dict[Expression, int]()
    for factor, one in products:
        if isinstance(one, Number):
            constant += factor * one.value
        elif isinstance(one, Sum):
            constant += factor * one.constant
            for times, term in one.terms:
                factors[term] = factors.get(term, 0) + factor * times
        else:
            factors[one] = factors.get(one, 0) + factor
    kept = tuple((factor, term) for term, factor in factors.items() if factor)
    if not kept:
        return Number(constant)
    return kept[0][1] if constant == 0 and len(kept) == 1 and kept[0][0] == 1 else Sum(constant, kept)


def multiplied(factors: Iterable[Expression]) -> Expression:
    """The product of all, numbers multiplied now. No factors: 1."""
    number, others = 1, list[Expression]()
    for factor in factors:
        match factor:
            case Number(value=value):
                number *= value
            case Product(factors=more):
                others.extend(more)
            case _:
                others.append(factor)
    if not others:
        return Number(number)
    return added((number, others[0] if len(others) == 1 else Product(tuple(others))))


def operation(operator: str, left: Expression, right: Expression | int) -> Expression:
    """`/`, `%`, `<`, `>`, `>=` or `==`; a number where C's answer is known."""
    by = as_expression(right)
    if left.number is not None and by.number is not None and (by.number or operator not in ("/", "%")):
        return Number(_known(operator, left.number, by.number))
    if by.number == 1 and operator in ("/", "%"):
        return left if operator == "/" else Number(0)
    return Operation(operator, left, by)


def quotient(value: Expression, by: Expression | int) -> Expression:
    """C's division: towards zero."""
    return operation("/", value, by)


def remainder(value: Expression, by: Expression | int) -> Expression:
    """What C's division leaves."""
    return operation("%", value, by)


def less(left: Expression, right: Expression | int) -> Expression:
    """A condition."""
    return operation("<", left, right)


def equal(left: Expression, right: Expression | int) -> Expression:
    """A condition."""
    return operation("==", left, right)


def all_of(*conditions: Expression) -> Expression:
    """That all of these conditions hold."""
    joined: Expression = ALWAYS
    for condition in conditions:
        if NEVER in (condition, joined):
            return NEVER
        if condition != ALWAYS:
            joined = condition if joined == ALWAYS else Operation("&&", joined, condition)
    return joined


def folded(function: str, values: Iterable[Expression]) -> Expression:
    """`function(function(a, b), c)`: one value of several, equal ones taken once."""
    first, *rest = dict.fromkeys(values)
    for other in rest:
        first = FunctionCall(function, (first, other))
    return first


def pieces(expression: Expression) -> tuple[str, ...]:
    """The operands of the outermost operators, each but the first with its operator; the whole where there is none."""
    match expression:
        case Sum():
            return _sum(expression)
        case Product(factors=factors):
            return _joined(" * ", [_beside(factor, _PRODUCT + 1) for factor in factors])
        case Operation(operator="&&", left=left, right=right):
            before = pieces(left) if isinstance(left, Operation) and left.operator == "&&" else (_alone(left),)
            return *before, f"&& {_alone(right)}"
        case Operation(operator=operator, left=left, right=right):
            return _alone(left), f"{operator} {_alone(right)}"
        case Choice(condition=condition, yes=yes, no=no):
            return _alone(condition), f"? {_alone(yes)}", f": {no if isinstance(no, Choice) else _alone(no)}"
        case _:
            return (_written(expression),)


def _written(expression: Expression) -> str:
    match expression:
        case Name(text=text) | Verbatim(text=text):
            return text
        case Number(value=value, unsigned=unsigned):
            return f"{value}u" if unsigned else str(value)
        case Field(of=of, member=member, arrow=arrow):
            return f"{_beside(of, _PRIMARY)}{'->' if arrow else '.'}{member}"
        case FunctionCall(function=function, arguments=arguments):
            return f"{function}({', '.join(map(str, arguments))})"
        case Element(of=of, at=at):
            return f"{_beside(of, _PRIMARY)}[{at}]"
        case Cast(type=kind, value=value):
            return f"({kind}){_beside(value, _UNARY)}"
        case Reference(value=value):
            return f"&{_beside(value, _UNARY)}"
        case Struct(type=kind, values=values, members=members):
            named = [f".{member} = {value}" for member, value in zip(members, values, strict=False)]
            return f"{f'({kind})' if kind else ''}{{{', '.join(named or map(str, values))}}}"
        case Sum() | Product() | Operation() | Choice():
            return " ".join(pieces(expression))
    raise TypeError(type(expression).__name__)


def _joined(operator: str, texts: list[str]) -> tuple[str, ...]:
    return texts[0], *(f"{operator.strip()} {text}" for text in texts[1:])


def _alone(expression: Expression) -> str:
    """Beside an operator of any kind: what has one itself stands in parentheses (MISRA C:2012, 12.1)."""
    return _beside(expression, _UNARY)


def _beside(expression: Expression, level: int) -> str:
    """Beside an operator that binds like `level`."""
    return str(expression) if _level(expression) >= level else f"({expression})"


def _level(expression: Expression) -> int:
    match expression:
        case Number(value=value):
            return _PRIMARY if value >= 0 else _SUM
        case Verbatim(text=text):
            return _PRIMARY if text.isidentifier() or text.isdigit() else _CHOICE
        case Sum(constant=constant, terms=terms):
            return _PRODUCT if not constant and len(terms) == 1 and terms[0][0] > 0 else _SUM
        case Operation(operator=operator):
            return _LEVELS[operator]
        case Product():
            return _PRODUCT
        case Cast() | Reference():
            return _UNARY
        case Choice():
            return _CHOICE
        case _:
            return _PRIMARY


def _sum(total: Sum) -> tuple[str, ...]:
    """What is subtracted follows something, where there is anything."""
    alone = not total.constant and len(total.terms) == 1
    texts = [(factor, _times(abs(factor), term, alone)) for factor, term in total.terms]
    texts.sort(key=lambda text: text[0] < 0)
    if total.constant:
        texts.insert(0 if texts[0][0] < 0 < total.constant else len(texts), (total.constant, str(abs(total.constant))))
    (factor, first), *rest = texts
    return f"-{first}" if factor < 0 else first, *(f"{'-' if factor < 0 else '+'} {text}" for factor, text in rest)


def _times(factor: int, term: Expression, alone: bool) -> str:
    if factor == 1:
        return _alone(term)
    text = f"{factor} * {term if isinstance(term, Product) else _beside(term, _PRODUCT + 1)}"
    return text if alone else f"({text})"


def _known(name: str, left: int, right: int) -> int:
    if name == "/":
        return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return left - right * _known("/", left, right) if name == "%" else int(_COMPARISONS[name](left, right))
