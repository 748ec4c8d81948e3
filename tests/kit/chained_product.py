"""A kernel of a chain: a product of two matrices and what is added to it."""

from __future__ import annotations

from tilewright.ir.graphs.chains import chain_operator
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.testing.one_step import vocabulary


def _match(site: Site) -> str | None:
    if any({"clip_low", "clip_high"}.intersection(member.node.attributes) for member in site.members()):
        return "no limits"
    if len(site.output.shape) != 2:
        return "two axes only"
    return None if site.has_input(3) else "the product must be the first addend"


MATMUL_ADD = Kernel(
    name="test.matmul_add",
    op="Add",
    pattern=("MatMul", "Add"),
    match=_match,
    parallel=("*",),
    cycles=lambda tile: 0.5 * tile.extent("m") * tile.extent("n") * tile.extent("k"),
    source="""
static void t_matmul_add(const float *a, const float *b, const float *c, float *y, const int32_t *n, const int32_t *s)
{
  for (int32_t i = 0; i < n[0]; ++i)
    for (int32_t j = 0; j < n[1]; ++j) {
      float sum = 0.0f;
      for (int32_t l = 0; l < n[2]; ++l)
        sum += a[i * s[0] + l * s[1]] * b[l * s[2] + j * s[3]];
      y[i * s[6] + j * s[7]] = sum + c[i * s[4] + j * s[5]];
    }
}
""",
    call="""\
<% steps = ", ".join(str(step) for operand in (A, B, add_B, add_Y) for step in operand.strides) %>\
t_matmul_add(${A}, ${B}, ${add_B}, ${add_Y}, (const int32_t[]){${loops["m"]}, ${loops["n"]}, ${loops["k"]}},
  (const int32_t[]){${steps}});""",
)
CHAIN = chain_operator([vocabulary()[name] for name in MATMUL_ADD.pattern])
