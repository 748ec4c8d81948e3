"""A tiler: it cuts steps into groups, and groups into tiles. Its answer is checked."""

from dataclasses import dataclass

from tilewright.api import hookimpl
from tilewright.api.tiler import Group, Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    name: str = "${name}"
    summary: str = "every layer in one piece, one multiply-accumulate a cycle"

    def plan(self, request):
        sites = {site.node.name: site for site in request.scheduled.bound.graph.sites()}
        return tuple(
            Group(region=Region(steps=(step.name,)), cycles=float(self.macs(request, sites[step.name])))
            for step in request.scheduled.steps
        )

    def macs(self, request, site):
        return request.operators[site.node.op].macs(site)


@hookimpl
def tilewright_tilers():
    return (Strategy(),)
