# %% before all examples
from collections.abc import Mapping

from tilewright.api.deployment import Deployment
from tilewright.api.exporter import Exporter
from tilewright.api.stages import Allocated, Artifact


# %% Exporter
# Further files from the plan and the generated code, as bytes. This one makes a memory map for a linker.
def files(plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    lines = [f"tw_{pool.memory}_size = {pool.used_bytes};\n" for pool in plan.pools]
    return {"tilewright.ld": "".join(lines).encode()}


linker = Exporter(name="acme-ld", summary="sizes of all memories as linker symbols", files=files)
plan = Deployment("digits_int8.onnx", "generic")
assert b"tw_ram_size = " in linker.files(plan.allocated, plan.artifact)["tilewright.ld"]
