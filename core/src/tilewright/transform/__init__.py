"""The `transform` stage: code passes over a Program."""

from tilewright.ir.programs.program import CodePass, CodePassContext
from tilewright.transform.hooks import HOOKS
from tilewright.transform.lifetimes import LIFETIMES
from tilewright.transform.passthrough import PASSTHROUGH
from tilewright.transform.print_tensors import PRINT_TENSORS
from tilewright.transform.profile import PROFILE
from tilewright.transform.transform import transform

__all__ = ["HOOKS", "LIFETIMES", "PASSTHROUGH", "PRINT_TENSORS", "PROFILE", "CodePass", "CodePassContext", "transform"]
