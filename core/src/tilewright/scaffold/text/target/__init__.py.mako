"""${title}, a target of tilewright: its hooks, which take nothing and return frozen values."""

from tilewright.api import hookimpl

% if engine:
from ${module}.engine import FULLY_CONNECTED
% endif
from ${module}.kernels import RELU
from ${module}.machine import MACHINE
% if simulator:
from ${module}.simulator import SIMULATOR
% endif


@hookimpl
def tilewright_platforms():
    return (MACHINE,)


@hookimpl
def tilewright_kernels():
    return (${"RELU, FULLY_CONNECTED" if engine else "RELU,"})
% if simulator:


@hookimpl
def tilewright_runners():
    return (SIMULATOR,)
% endif
