"""The `transform` stage: code passes over a Program."""

from tilewright.transform.code_pass import CodePass, CodePassContext
from tilewright.transform.hooks import HOOKS
from tilewright.transform.lifetimes import LIFETIMES
from tilewright.transform.stage import transform

__all__ = ["HOOKS", "LIFETIMES", "CodePass", "CodePassContext", "transform"]
