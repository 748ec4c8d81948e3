"""Knows from which package a kernel of a program comes: whose author is to be asked about a fault.
Does not know what a fault is.
"""

from __future__ import annotations

from dataclasses import fields
from importlib.metadata import packages_distributions

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.runner import Job


def packages_of(job: Job, message: str) -> str:
    """The end of a sentence: the packages of the kernels that `message` names in quotes; "" where none is known."""
    kernels = {binding.kernel.name: binding.kernel for binding in job.plan.tiled.scheduled.bound.bindings.values()}
    named = [kernel for name, kernel in sorted(kernels.items()) if f"kernel '{name}'" in message]
    return "".join(f", kernel '{kernel.name}' of package '{package_of(kernel)}'" for kernel in named)


def package_of(kernel: Kernel) -> str:
    """The distribution whose functions the kernel has, or their module where no distribution brings it; the core's own
    kernels are of `tilewright`.
    """
    functions = (getattr(kernel, field.name) for field in fields(kernel))
    modules = (getattr(function, "__module__", "") or "" for function in functions if callable(function))
    packages = dict.fromkeys(module.partition(".")[0] for module in modules)
    result = next((package for package in packages if package not in ("", "tilewright")), "tilewright")
    return next(iter(packages_distributions().get(result, ())), result)
