"""What every test may ask for, whichever package it belongs to; how many examples hypothesis draws, and which."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ("browser", "benchmark_script", "c_compiler", "compiler_cache", "sampled")  # of tests/kit

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "same")
settings.register_profile("same", derandomize=True, deadline=None)  # the same examples in every run
settings.register_profile("nightly", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(PROFILE)
settings.register_profile(  # of properties whose examples are built, each as a C program; to shrink one builds hundreds
    "programs",
    max_examples=50 if PROFILE == "nightly" else 8,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture),
)
