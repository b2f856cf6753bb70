"""The one way out to the terminal, which no control character of others' texts ever reaches.

`open_streams` puts both standard streams behind it, so that typer, logging and tracebacks go
through it too. The console of rich writes control sequences of its own; its texts are cleaned
before it styles them.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
from collections.abc import Iterable
from typing import IO, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_SHOWN = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"} | {
    0x7F: "\u2421"
}
"""C0 controls and DEL as the pictures that Unicode has for them: `␛` stands for escape."""

_INVISIBLE = re.compile(
    "[\x80-\x9f\u2028\u2029\ud800-\udfff]"
    "|[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""C1 controls, separators of lines, halves of surrogate pairs; bidi marks and whatever else Unicode
draws nothing for."""


def clean(text: str) -> str:
    """Return the text with signs for what would steer a terminal or cannot be seen."""
    return _INVISIBLE.sub(_sign, text.translate(_SHOWN))


def on_one_line(text: str) -> str:
    """Return clean text without line feeds and tabs: a name with one in it forges no line."""
    return clean(text).replace("\n", "\u240a").replace("\t", " ")


def escaped(json_text: str) -> str:
    r"""Return JSON in which whatever `clean` would touch stands as `\uXXXX`.

    It is the same document for every reader.
    """
    return re.sub(rf"[\x7f]|{_INVISIBLE.pattern}", _as_reference, json_text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte of a name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return "\ufffd" if code in range(0x80, 0xA0) or code in range(0xD800, 0xE000) else ""


def _as_reference(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class OutputError(Exception):
    """Standard output takes no more; a `broken_pipe` is a reader that has left, no failure."""

    def __init__(self, error: OSError) -> None:
        """Take the reason from the system's error."""
        super().__init__(f"Standard output cannot be written: {error.strerror}.")
        self.broken_pipe = error.errno == errno.EPIPE


class _Stream(io.TextIOBase):
    """A standard stream whose errors are ours, and whose text is cleaned where it `cleans`."""

    def __init__(self, inner: TextIO, *, cleans: bool) -> None:
        self.inner = inner
        self.cleans = cleans

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only, as the stream's own is
        """As the stream has it."""
        return self.inner.encoding

    def fileno(self) -> int:
        """Return the descriptor."""
        return self.inner.fileno()

    def isatty(self) -> bool:
        """Say no where text is cleaned: nobody shall style it."""
        return not self.cleans and self.inner.isatty()

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, text: str) -> int:
        """Write; lines leave at once."""
        try:
            self.inner.write(clean(text) if self.cleans else text)
            if "\n" in text:
                self.inner.flush()
        except OSError as error:
            self._failed(error)
        return len(text)

    def flush(self) -> None:
        """Let go of what is held."""
        try:
            self.inner.flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        # what is still held would be tried again at the end of the process, which has nobody left
        # to tell
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.inner.fileno())
        if self.inner.fileno() == 1:
            raise OutputError(error) from error


class CleanConsole(Console):
    """A console of rich that cleans every text before it is styled."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the segments that make up what is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)

    @property
    def file(self) -> IO[str]:
        """The stream itself, past the one that cleans what others print."""
        stream = sys.stderr if self.stderr else sys.stdout
        return (
            cast("IO[str]", _Stream(stream.inner, cleans=False))
            if isinstance(stream, _Stream)
            else super().file
        )

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file


def open_streams() -> None:
    """Put the standard streams behind this module.

    A closed one is opened to nowhere, so that no file takes its number.

    Raises:
        OutputError: standard output is closed.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for _ in closed:
        os.open(os.devnull, os.O_RDWR)

    sys.stderr = _opened(sys.stderr)
    sys.stdout = _opened(sys.stdout)
    if 1 in closed:
        raise OutputError(OSError(errno.EBADF, "it is closed"))


def _opened(stream: TextIO | None) -> TextIO:
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the process runs
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # what LANG=C cannot show is spelled out
    return cast("TextIO", _Stream(stream, cleans=True))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
