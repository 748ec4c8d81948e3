"""An exporter: further files from a plan and the generated code, as bytes."""

from tilewright.api import hookimpl
from tilewright.api.exporter import Exporter


def files(plan, artifact):
    lines = [f"tw_{pool.memory}_size = {pool.used_bytes};" for pool in plan.pools]
    return {"${name}.ld": ("\n".join(lines) + "\n").encode()}


@hookimpl
def tilewright_exporters():
    return (Exporter(name="${name}", summary="sizes of all memories as linker symbols", files=files),)
