"""Text whose parts begin with a line that names them: TOML, INI, SQL, shell, Docker, make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from drift.local.ingest.formats import Read
from drift.local.ingest.formats.encodings import text_in
from drift.local.ingest.formats.key_paths import (
    comments_above,
    cut_as_it_is,
    shown,
)
from drift.local.ingest.parts import FoundDefinition

_MOST_OF_A_HEAD = 400
"""Characters of a line in which a name is looked for."""
_TOML_NAME = re.compile(r"\"[^\"]*\"|'[^']*'|[^.\s\"']+")
_OBJECT = (
    r"table|view|materialized\s+view|function|procedure|trigger|index|type|schema|sequence|domain"
    r"|policy|database|role|user|extension|package"
)


def _reader(head: str, end: str = "", *, is_dotted: bool = False) -> Callable[[bytes], Read]:
    """Return what reads files whose parts begin with such a line, and may end with one.

    The groups of the line that matched are the part's name.
    """
    begins, ends = re.compile(head), re.compile(end) if end else None

    def parts(lines: list[str]) -> Iterator[FoundDefinition]:
        heads = [
            (row, found)
            for row, line in enumerate(lines)
            if (found := begins.match(line[:_MOST_OF_A_HEAD]))
        ]
        for number, (row, found) in enumerate(heads):
            behind = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
            last = comments_above(lines, behind, row + 1) - 1
            if ends:
                last = next((n for n in range(row, behind) if ends.search(lines[n])), last)
            name = shown(" ".join(filter(None, found.groups())))
            path = [one.strip("\"'") for one in _TOML_NAME.findall(name)] if is_dotted else [name]
            yield FoundDefinition("", tuple(path) or (name,), row, row, last)

    return lambda content: cut_as_it_is(
        *text_in(content), lambda text: (parts(text.split("\n")), "")
    )


read_toml = _reader(r"\s*\[\[?([^\[\]\n]+)\]\]?\s*(?:#|$)", is_dotted=True)
read_ini = _reader(r"\s*\[([^\[\]\n]+)\]\s*(?:[#;]|$)")
read_sql = _reader(
    rf"(?i)(?:create\s+(?:(?!(?:{_OBJECT})\b)\w+\s+){{0,4}}|alter\s+)({_OBJECT})\s+"
    r"(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?([\w.\"`\[\]$-]+)"
    r"|(?:insert\s+into|copy)\s+([\w.\"`\[\]$-]+)"
)
read_shell = _reader(r"(?:function\s+)?([\w:.-]+)\s*\(\)|function\s+([\w:.-]+)", r"^\}|\}\s*$")
read_dockerfile = _reader(r"(?i)from\s+(?:--\S+\s+)?(\S+)(\s+as\s+\S+)?")
read_makefile = _reader(r"([^\s:#=.][^:#=]*):(?!=)")
