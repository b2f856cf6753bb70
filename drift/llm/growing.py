"""A text that comes in pieces, and who is told of it."""

from __future__ import annotations

from drift.core.errors import DriftError, UnusableReplyError
from drift.model.calls import TextCallback

MAX_CHARACTERS = 200_000
"""A reply that is longer is taken for one that would not end; no reply of a search comes near."""
_FIRST_HALVES = "".join(map(chr, range(0xD800, 0xDC00)))


class ListenerError(RuntimeError):
    """The listener of a growing reply has failed: a fault of ours, none of the model's server."""


class GrowingText:
    """The text so far; `hear` is told of a short text at every piece, of a long one seldom.

    Whoever needs the end of it reads `text`.
    """

    def __init__(self, hear: TextCallback) -> None:
        """Begin with nothing."""
        self._hear = hear
        self._pieces: list[str] = []
        self._length = 0
        self._look_at = 0

    def add(self, piece: str) -> None:
        """Add a piece.

        Raises:
            UnusableReplyError: the reply does not end.
            ListenerError: `hear` failed.
        """
        if not piece:
            return

        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > MAX_CHARACTERS:
            raise UnusableReplyError("length")
        if self._length >= self._look_at:
            self._tell()

    def _tell(self) -> None:
        """Tell of the text; a long one again only when it has grown by a share of itself.

        So all looks at it together cost no more than some at the whole.
        """
        most_at_every_piece = 1_000
        if self._length >= most_at_every_piece:
            self._look_at = self._length + self._length // 32

        try:
            self._hear(whole_characters(self.text.rstrip(_FIRST_HALVES)))
        except DriftError:
            raise
        except Exception as error:
            raise ListenerError from error

    @property
    def text(self) -> str:
        """All of it."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


def whole_characters(text: str) -> str:
    """Return a text with halves of a character joined, and U+FFFD for a half that stands alone.

    A half could neither be parsed nor be sent in the next prompt.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
