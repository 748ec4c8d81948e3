[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "${name}"
version = "0.1.0"
description = "${summary}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["tilewright>=${core},<${next_core}"]

[project.optional-dependencies]
test = [${", ".join(f'"{one}"' for one in ("pytest>=8.2", "ruff>=0.9", *needs))}]

# What tilewright finds without importing anything: KIND.NAME, and the module whose hooks have it.
[project.entry-points."tilewright.v1"]
% for announced in announces:
"${announced}" = "${module}"
% endfor

[tool.setuptools.packages.find]
where = ["src"]
% if data:

[tool.setuptools.package-data]
${module} = ["*.c", "*.h", "*.mako"]
% endif

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
line-length = 120
target-version = "py311"

[tool.ruff.lint]
select = ["E", "F", "I", "B", "UP", "SIM", "RUF"]
