# `tox` tests the wheel on every Python that is here; `tox -e next` with the core that is to be released next.
[tox]
min_version = 4.11
env_list = py311, py312, py313, lint

[testenv]
extras = test
pass_env = CC
commands = ${pytest}

[testenv:next]
pip_pre = true
commands_pre = python -m pip install --pre --upgrade --no-deps tilewright
commands = ${pytest}

[testenv:lint]
skip_install = true
deps = ruff>=0.9
commands =
    ruff check
    ruff format --check
