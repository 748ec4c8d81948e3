name: test
on:
  push:
  pull_request:
  schedule:
    - cron: "17 4 * * 1" # every Monday: what a new tilewright changes is seen before users see it

jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        python: ["3.11", "3.13"]
        core: ["", "--pre"] # what is released, and what is to be released next
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: <%text>${{ matrix.python }}</%text>
      - run: pip install <%text>${{ matrix.core }}</%text> ".[test]"
      - run: ruff check
      - run: ruff format --check
      - run: tilewright plugins doctor
      - run: ${pytest}
