__pycache__/
*.egg-info/
.pytest_cache/
.ruff_cache/
.tox/
build/
dist/
