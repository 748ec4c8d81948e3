# %% before all examples
from collections.abc import Iterable

from tilewright.api import (
    Diagnostic,
    Exit,
    Refusal,
    TilewrightError,
    align_down,
    align_up,
    ceil_div,
    hookimpl,
    memory_error,
    model_error,
    plugin_error,
    toolchain_error,
    unsupported_error,
    usage_error,
)
from tilewright.api.platform import Memory, Platform


# %% hookimpl
# A function of a plugin's module that has the name of a hook, and this mark, is called by tilewright.
@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    return (Platform(name="acme", memories=(Memory(name="ram", size_bytes=64 << 10),)),)


assert [platform.name for platform in tilewright_platforms()] == ["acme"]

# %% TilewrightError
# What the user can solve. Anything else that is raised is a bug, and shown with a traceback.
try:
    raise usage_error("TW1102", "setting 'speed' cannot be 'warp'", where="target 'acme'", fix=("--set speed=fast",))
except TilewrightError as error:
    assert error.exit_code is Exit.USAGE
    assert str(error).splitlines() == [
        "error[TW1102]: setting 'speed' cannot be 'warp'",
        "  at    target 'acme'",
        "  try:  --set speed=fast",
    ]

# %% usage_error, model_error, unsupported_error, memory_error, toolchain_error, plugin_error
# One function for each exit code that a plugin may end with; all take the same arguments.
makers = (usage_error, model_error, unsupported_error, memory_error, toolchain_error, plugin_error)
assert [make("TW7002", "it failed").exit_code.value for make in makers] == [2, 3, 4, 5, 7, 8]

# %% Exit
assert Exit.DOES_NOT_FIT == 5

# %% Diagnostic
# A warning of a pass, for example: a value, which reports hold and the command line prints.
warning = Diagnostic(code="TW2010", message="the last Softmax was removed", severity="warning", where="node 'probs'")
assert warning.render() == "warning[TW2010]: the last Softmax was removed\n  at    node 'probs'"

# %% Refusal
# Why a kernel said no to a node. A kernel's `match` returns only the sentence.
refusal = Refusal(candidate="acme.conv3x3", reason="windows are (5, 5), not 3 x 3")
assert refusal.code == "TW2002"

# %% ceil_div, align_up, align_down
# Seven elements in vectors of four, and a size of 100 bytes where lines have 16. Arrays of numpy work as well.
assert ceil_div(7, 4) == 2
assert align_up(100, 16) == 112
assert align_down(100, 16) == 96
