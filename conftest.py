"""What every test may ask for, whichever package it belongs to; how many examples hypothesis draws, and which."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest
from hypothesis import settings

pytest_plugins = ("browser",)  # of tests/kit

settings.register_profile("ci", derandomize=True, deadline=None)  # the same examples in every run
settings.register_profile("nightly", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session", name="tool")
def _tool() -> Callable[[str], str]:
    """`tool("clang")` is its path. Where it is missing the test is skipped, or fails when CI is set."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None and os.environ.get("CI"):
            pytest.fail(f"{name} is not on PATH, and CI is set")
        if path is None:
            pytest.skip(f"{name} is not on PATH")
        return str(path)

    return find
