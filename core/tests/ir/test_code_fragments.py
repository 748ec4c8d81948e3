"""Sections: each once, needs first, one text for one name."""

from __future__ import annotations

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.code_fragments import CodeFragment, definitions, ordered


def section(name: str, text: str = "", *needs: CodeFragment, owner: str = "core") -> CodeFragment:
    return CodeFragment(name=name, text=text or f"/* {name} */", needs=needs, owner=owner)


def names(*sections: CodeFragment) -> list[str]:
    return [one.name for one in ordered(sections)]


def test_what_is_needed_comes_first_and_once() -> None:
    base = section("base")
    left, right = section("left", "", base), section("right", "", base)
    assert names(section("top", "", left, right), right) == ["base", "left", "right", "top"]


def test_the_order_is_that_of_first_use() -> None:
    assert names(section("b"), section("a"), section("b")) == ["b", "a"]


def test_texts_without_a_name_are_known_by_themselves() -> None:
    assert [one.text for one in ordered([section("", "int a;"), section("", "int b;"), section("", "int a;")])] == [
        "int a;",
        "int b;",
    ]


def test_two_texts_of_one_name_are_refused() -> None:
    with pytest.raises(TilewrightError, match=r"section 'matmul\.h'") as caught:
        ordered([section("matmul.h", "int a;"), section("matmul.h", "int b;", owner="acme")])
    assert (caught.value.code, caught.value.exit_code) == ("TW8060", Exit.PLUGIN)
    assert caught.value.details == ("defined by core (matmul.h)", "and by     acme (matmul.h)")


def test_two_definitions_of_one_c_name_are_refused() -> None:
    struct, other = "typedef struct {\n    int rows;\n} tw_matmul;", "typedef struct {\n    int depth;\n} tw_matmul;"
    with pytest.raises(TilewrightError, match="C name 'tw_matmul'") as caught:
        ordered([section("matmul.c", struct), section("", other, owner="acme.qmatmul")])
    assert caught.value.details == ("defined by core (matmul.c)", "and by     acme.qmatmul")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TW_KERNEL float tw_f(float x)\n{\n    return x;\n}", {"tw_f"}),
        ("static uint32_t *tw_g(int32_t a,\n        int32_t b)\n{\n    return h(a);\n}", {"tw_g"}),
        ("typedef struct { /* one (or two) */\n    int32_t a, b;\n} tw_pair;", {"tw_pair"}),
        ("typedef uint8_t tw_byte;", {"tw_byte"}),
        ("#ifdef X\n#  define TW_A(x) (x)\n#else\n#  define TW_A(x) 0\n#endif", {"TW_A"}),
        ("#ifndef TW_B\nTW_KERNEL int tw_b(void)\n{\n}\n#  define TW_B tw_b\n#endif", {"tw_b"}),
        ("void tw_prototype(int32_t a);", set()),
        ("TW_KERNEL void tw_f(void)\n{\n    if (a) {\n        tw_g(b);\n    }\n}", {"tw_f"}),
    ],
)
def test_definitions(text: str, expected: set[str]) -> None:
    assert definitions(text) == expected
