"""Pure: an answer's Markdown, in pieces, without what loads or leads elsewhere.

Markup, pictures and links that came with a document stay words; form and code stay as they are.
Where readers of Markdown disagree on what is code, what is written leaves them no choice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKUP = re.compile(r"(\\[!-/:-@\[-`{-~])|(<(?=[A-Za-z/!?])|&(?=#?[0-9A-Za-z]{1,32};))|(!\[|\]\()")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
"""A backslash would be part of an address before it, and escape nothing."""


@dataclass(frozen=True, slots=True)
class _Fence:
    indent: int
    run: str


class MarkdownWords:
    """Takes a text in pieces; what is given together is the same for any pieces."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._held = ""
        self._fence: _Fence | None = None
        self._begins_line = True
        self._word = ""  # the end of the last word
        self._is_address = False  # whether that word is one
        self._is_doubtful = False  # a cell of a table may have ended inside of code

    def take(self, text: str) -> str:
        """Return the part that is certain; the rest waits for more text."""
        self._held += text.replace("\r", " ")
        return self._given(is_end=False)

    def end(self) -> str:
        """Return the rest, with the end of code that was left open."""
        given = self._given(is_end=True)
        if self._fence is None:
            return given
        end = "" if self._begins_line else "\n"
        return f"{given}{end}{self._closing()}"

    def _given(self, *, is_end: bool) -> str:
        given = []
        while self._held:
            piece = self._next(is_end=is_end)
            if piece is None:
                break
            given.append(piece)
        return "".join(given)

    def _next(self, *, is_end: bool) -> str | None:
        """Return the next piece and hold the rest; None where more has to be known."""
        if self._fence is not None:
            return self._line_of_code(self._fence, is_end=is_end)
        if self._begins_line:
            return self._beginning(is_end=is_end)
        if plain := re.match(r"[^\\`<&!\]\n]+", self._held):
            return self._passed(plain[0])
        if self._held[0] == "\n":
            self._is_doubtful, self._begins_line = False, True
            return self._passed("\n")
        if self._held[0] == "`":
            return self._code(is_end=is_end)
        return self._sign(is_end=is_end)

    def _passed(self, text: str, given: str | None = None) -> str:
        """Leave a text behind, and return its replacement."""
        self._held = self._held[len(text) :]
        word = re.sub(r"^.*\s", "", text, flags=re.DOTALL)
        if len(word) < len(text):
            self._word, self._is_address = "", False
        self._word += word
        self._is_address |= bool(re.search(r"(?:https?|ftp)://|www\.", self._word, re.IGNORECASE))
        self._word = self._word[-len("https://") :]
        return text if given is None else given

    # -------------------------------------------------------------------------------------- lines
    def _line(self, *, is_end: bool) -> str | None:
        """Return the line that is held, with its end; None where that has not come."""
        line, end, _ = self._held.partition("\n")
        return f"{line}{end}" if end or is_end else None

    def _beginning(self, *, is_end: bool) -> str | None:
        """Begin a line: open code, and let nothing be the definition of a link."""
        found, line = re.match(r"[ \t>*+\-\d.)]+", self._held), self._line(is_end=is_end)
        lead = found[0] if found else ""
        rest = self._held[len(lead) :]
        is_run = rest.startswith(("```", "~~~"))
        is_short = rest.startswith("[") and len(rest) < len("[x] ")
        may_be_fence = re.fullmatch(r"[ \t>*+\-\d.)]*(?:`{1,2}|~{0,2})", self._held)
        if line is None and (is_run or is_short or may_be_fence):
            return None
        if line and is_run and (fence := _fence_of(line)):
            self._fence = fence
            return self._left(line)

        self._begins_line = False
        if rest.startswith("[") and not re.match(r"\[[ xX]\] ", rest):
            return self._passed(f"{lead}[", f"{lead}\\[")
        tildes = len(rest) - len(rest.lstrip("~")) if is_run else 0
        return self._passed(lead + "~" * tildes, lead + "\\~" * tildes)

    def _left(self, line: str) -> str:
        """Leave a whole line of code behind."""
        self._held = self._held[len(line) :]
        self._begins_line = line.endswith("\n")
        return line

    def _line_of_code(self, fence: _Fence, *, is_end: bool) -> str | None:
        line = self._line(is_end=is_end)
        if line is None:
            return None
        code = line.strip(" \t\n")
        indent = _columns(line)
        # code that stands in a list ends with its item, where readers see one
        if code and set(code) == {fence.run[0]} and len(code) >= len(fence.run):
            if fence.indent or indent < 4:  # noqa: PLR2004 - what is further in is code
                self._fence = None
                self._left(line)
                end = "\n" if line.endswith("\n") else ""
                return f"{' ' * fence.indent}{code}{end}"
        elif code and indent < fence.indent:
            closing = self._closing()
            self._fence, self._begins_line = None, True
            return f"{closing}\n"
        return self._left(line)

    def _closing(self) -> str:
        return f"{' ' * self._fence.indent}{self._fence.run}" if self._fence else ""

    # -------------------------------------------------------------------------------- in the line
    def _code(self, *, is_end: bool) -> str | None:
        """Give code as it is, and backticks that enclose none as signs."""
        line, end, _ = self._held.partition("\n")
        run = "`" * (len(line) - len(line.lstrip("`")))
        is_whole = bool(end) or is_end
        if len(run) == len(line) and not is_whole:
            return None
        closing = re.search(rf"(?<!`){run}(?!`)", line[len(run) :])
        reaches_end = closing is not None and len(run) + closing.end() == len(line)
        if (closing is None or reaches_end) and not is_whole:
            return None
        if closing is None or self._is_address:
            return self._passed(run, "\\`" * len(run))
        code = line[len(run) : len(run) + closing.start()]
        self._is_doubtful |= "|" in code
        given = _MARKUP.sub(_as_words, code) if self._is_doubtful else code
        return self._passed(f"{run}{code}{run}", f"{run}{given}{run}")

    def _sign(self, *, is_end: bool) -> str | None:
        """Give a sign, escaped where it would begin markup, a picture or a link."""
        sign, after = self._held[0], self._held[1:2]
        pair = sign + after
        is_open = not after or (sign == "&" and re.fullmatch(r"&#?[0-9A-Za-z]{0,32}", self._held))
        if is_open and not is_end:
            return None
        if re.match(r"\\[!-/:-@\[-`{-~]", pair):
            return self._passed(pair, _ENTITIES.get(after, pair))
        if pair in {"![", "]("}:
            return self._passed(pair, f"{sign}\\{after}")
        begins = _MARKUP.match(self._held)
        return self._passed(sign, _ENTITIES[sign] if begins else sign)


def as_words(text: str) -> str:
    """Return a whole text as MarkdownWords gives it."""
    words = MarkdownWords()
    return words.take(text) + words.end()


def _fence_of(line: str) -> _Fence | None:
    found = re.fullmatch(
        r"(?P<lead> {0,3}(?:(?:[-+*]|1[.)]) {1,4})?)(?P<run>`{3,}|~{3,})(?P<info>.*)",
        line.rstrip("\n"),
    )
    if found is None or (found["run"][0] == "`" and "`" in found["info"]):
        return None
    return _Fence(len(found["lead"]), found["run"])


def _as_words(found: re.Match[str]) -> str:
    escaped, one, two = found.groups()
    if two:
        return f"{two[0]}\\{two[1]}"
    return _ENTITIES.get(one or escaped[1], escaped)


def _columns(line: str) -> int:
    """Return how far in a line begins."""
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blank.expandtabs(4))
