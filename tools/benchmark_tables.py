"""Keeps the tables of docs/benchmarks.md as JSON in benchmarks/results, and writes them into the page.

    python benchmarks/SCRIPT.py ... | python tools/benchmark_tables.py take NAME "python benchmarks/SCRIPT.py ..."
    python tools/benchmark_tables.py

The first takes the table that a script prints: the file has its columns and rows, and the command. The second writes
each table between its marks, whole or a part: `<!-- table NAME columns="A; B" where="C: 1; 2" -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
MARKED = re.compile(r"(<!-- table (.*?) -->\n).*?(<!-- end -->\n)", re.DOTALL)
RULES = {"l": "---", "r": "---:"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a script printed; cells are its words."""

    command: str
    columns: tuple[str, ...]
    align: str  # of each column, l or r
    rows: tuple[tuple[str, ...], ...]

    def markdown(self, columns: Sequence[str] = (), where: Mapping[str, Sequence[str]] | None = None) -> str:
        """These columns of the rows that have one of the values given; all of them where nothing is said.

        ValueError for a column or a value that the table does not have.
        """
        at = [self._column(name) for name in columns] or range(len(self.columns))
        chosen = {self._column(name): tuple(values) for name, values in (where or {}).items()}
        for column, values in chosen.items():
            if missing := set(values) - {row[column] for row in self.rows}:
                raise ValueError(f"no row has {sorted(missing)} in column {self.columns[column]!r}")
        rows = [row for row in self.rows if all(row[column] in values for column, values in chosen.items())]
        lines = [self.columns, *rows]
        head, *body = ("| " + " | ".join(line[column] for column in at) + " |\n" for line in lines)
        return head + "|" + "|".join(RULES[self.align[column]] for column in at) + "|\n" + "".join(body)

    def _column(self, name: str) -> int:
        if name not in self.columns:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns.index(name)


def taken(text: str, command: str) -> Table:
    """The first table of a text in Markdown. ValueError where there is none."""
    match = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    if match is None:
        raise ValueError("there is no table in what was printed")
    head, rule, *body = (_cells(line) for line in match[0].splitlines())
    align = "".join("r" if cell.endswith(":") else "l" for cell in rule)
    rows = tuple((*row, *[""] * (len(head) - len(row))) for row in body)  # a refusal ends its line
    return Table(command=command, columns=head, align=align, rows=rows)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def read(name: str) -> Table:
    """A table that is kept."""
    result = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return Table(
        command=result["command"],
        columns=tuple(result["columns"]),
        align=result["align"],
        rows=tuple(map(tuple, result["rows"])),
    )


def text_of(table: Table) -> str:
    """The file of a table: a line for each row."""
    shown = {"command": table.command, "columns": table.columns, "align": table.align}
    head = "".join(f' "{key}": {json.dumps(value, ensure_ascii=False)},\n' for key, value in shown.items())
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in table.rows)
    return f'{{\n{head} "rows": [\n{rows}\n ]\n}}\n'


def rendered(page: str) -> str:
    """`page` with every table as it is kept, below the command that it is from."""
    return MARKED.sub(lambda result: result[1] + _shown(result[2]) + result[3], page)


def _shown(mark: str) -> str:
    name, *words = shlex.split(mark)
    options = dict(word.split("=", 1) for word in words)
    columns = [column.strip() for column in options.pop("columns", "").split(";") if column]
    where = dict(_condition(options.pop("where"))) if "where" in options else None
    if options:
        raise ValueError(f"a mark has columns and where, not {', '.join(options)}")
    table = read(name)
    return f"\n`{table.command}`\n\n{table.markdown(columns, where)}\n"


def _condition(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    column, _, values = text.partition(":")
    yield column.strip(), tuple(value.strip() for value in values.split(";"))


def rewrite_page() -> None:
    """Write the tables into docs/benchmarks.md."""
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action")
    take = actions.add_parser("take", help="keep the table on standard input")
    take.add_argument("name", metavar="NAME")
    take.add_argument("command", metavar="COMMAND", help="what printed it, for whoever repeats it")
    words = parser.parse_args()
    if words.action == "take":
        (RESULTS / f"{words.name}.json").write_text(text_of(taken(sys.stdin.read(), words.command)), "utf-8")
    rewrite_page()
