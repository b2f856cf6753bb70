"""Tables that are text: how their values are told apart, and what a stray quotation mark costs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import islice

from drift.local.ingest.formats import Growth, NoDocumentError, Read
from drift.local.ingest.formats.column_heads import is_number
from drift.local.ingest.formats.encodings import text_in
from drift.local.ingest.formats.tables import as_text

MOST_ROWS = 5_000_000
_DELIMITERS = ",;\t|"
_SAID = re.compile(rf"sep=([{_DELIMITERS}])[\r\n]+")
_SIGN = re.compile(rf"[{_DELIMITERS}](?!\s)")
_SAMPLE_CHARACTERS = 65_536
_SAMPLE_ROWS = 20
_READ_AGAIN = 10
"""Times that all of a file may be read in search of where quotations end."""

# The limit counts for all who read CSV in this process, so it is never a single file's.
csv.field_size_limit(2**31 - 1)


def read_csv(content: bytes) -> Read:
    """Return the rows of a table that is text, however it is delimited."""
    text, note = text_in(content)
    if (count := text.count("\n")) > MOST_ROWS:
        raise NoDocumentError(f"has {count:,} rows, more than {MOST_ROWS:,}: keep it in a database")
    said = _SAID.match(text)
    text = text[said.end() :] if said else text
    table = _Rows(text, said[1] if said else _delimiter(text))
    read = as_text(table.read(), Growth.of(content))
    remark = f"quotations that nothing ends, and that stand as one line each: {table.unclosed:,}"
    return Read(read, note="; ".join(filter(None, (note, remark if table.unclosed else ""))))


class _Rows:
    """The rows of a text; `unclosed` counts those whose quotation marks were taken as signs."""

    def __init__(self, text: str, delimiter: str) -> None:
        self._text, self._delimiter = StringIO(text, newline=""), delimiter
        self._left = _READ_AGAIN * len(text)
        self.unclosed = 0

    def read(self) -> Iterator[Sequence[str]]:
        """Yield each row; one with a quotation that does not end as it should is one line."""
        text, begin, is_whole = self._text, 0, False
        while not is_whole:
            has_marks = self._left > 0
            try:
                for row in self._parsed(iter(text.readline, ""), has_marks=has_marks):
                    yield row
                    begin = text.tell()
                is_whole = True
            except csv.Error:
                self._left -= text.tell() - begin
                text.seek(begin)
                yield self._alone(text.readline())
                begin = text.tell()

    def _alone(self, line: str) -> Sequence[str]:
        lenient = csv.reader((line, ""), delimiter=self._delimiter, skipinitialspace=True)
        row = next(lenient)
        if lenient.line_num == 1:
            return row
        self.unclosed += 1
        return next(iter(self._parsed(iter((line,)), has_marks=False)))

    def _parsed(self, lines: Iterator[str], *, has_marks: bool) -> Iterator[Sequence[str]]:
        return csv.reader(
            lines,
            delimiter=self._delimiter,
            quoting=csv.QUOTE_MINIMAL if has_marks else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=has_marks,
        )


def _delimiter(text: str) -> str:
    """Return the sign that cuts the most of the first lines into the same number of values.

    Of several such, the values of the right one are whole: numbers, and words without the others.
    """
    sample = text[:_SAMPLE_CHARACTERS]

    def agreeing(delimiter: str) -> tuple[int, float, int]:
        rows = list(islice(_Rows(sample, delimiter).read(), _SAMPLE_ROWS))
        widths = [len(row) for row in rows]
        wide = max((width for width in widths if width > 1), key=widths.count, default=1)
        values = [value for row in rows for value in row]
        whole = sum(is_number(one) or not _SIGN.search(one) for one in values)
        return widths.count(wide) if wide > 1 else 0, whole / max(1, len(values)), wide

    return max(_DELIMITERS, key=agreeing)
