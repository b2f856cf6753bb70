"""RTF in one pass: words and groups of a text that is marked by control words."""

from __future__ import annotations

import codecs
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from drift.local.ingest.formats import DamagedError, Growth, Read
from drift.local.ingest.formats.escaping import escaped
from drift.local.ingest.formats.office import comment, note_on
from drift.local.ingest.formats.tables import Cell, as_text, spread
from drift.local.ingest.formats.titles import own_title
from drift.local.ingest.front_matter import attributes_of

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,9})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])|([{}])|[\r\n]+"
    rb"|([^\\{}\r\n]+)|\\",
    re.DOTALL,
)
_UNSEEN = frozenset(
    (
        *("colortbl", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl"),
        *("footerr", "footerf", "xe", "tc", "listtext", "pntext", "nonesttables", "ftnsep", "skip"),
        *("bkmkstart", "bkmkend"),
    )
)
_HELD = frozenset({"fonttbl", "stylesheet", "title", "author", "keywords", "creatim", "revtim"})
_NOTES = ("footnote", "annotation")
_GOES = {name: name for name in (*_UNSEEN, *_HELD, *_NOTES, "atnauthor")} | {"shptxt": "text"}
_SWITCHES = {"v": "is_hidden", "deleted": "is_deleted"}
_SIGNS = {
    "line": "\n", "tab": "\t", "emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022",
    "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
    "~": "\xa0", "_": "-", "{": "{", "}": "}", "\\": "\\", "nestcell": "; ", "nestrow": "\n",
}  # fmt: skip
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "cp936", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_MARKED = re.compile(r"(?:heading ([1-6])|(title)|(list.*))", re.IGNORECASE)


@dataclass(slots=True)
class _Group:
    """What counts within one group of control words: where its words go, and how they are read."""

    goes: str = "text"
    skips: int = 1
    font: str = ""
    is_hidden: bool = False
    is_deleted: bool = False


def read_rich_text(content: bytes) -> Read:
    """Return the text of a document with its notes; pictures and heads of pages are left out."""
    if not content.startswith(b"{\\rtf"):
        raise DamagedError("is damaged, or not what its ending says (it does not begin as RTF)")
    reader = _RtfReader(content)
    reader.read()
    title = reader.title or own_title(reader.held["title"])
    told = {"author": reader.held["author"], "keywords": reader.held["keywords"].replace(";", ",")}
    for name, written in (("created", "creatim"), ("updated", "revtim")):
        told[name] = "-".join(f"{n:02}" for n in reader.times[written][:3])
    own, _ = attributes_of({name: said for name, said in told.items() if said})
    text = "\n\n".join(Growth.of(content).seen(reader.blocks))
    return Read(text, title, "\f" in text, note_on(reader.left), own)


class _RtfReader:
    def __init__(self, content: bytes) -> None:
        self.title = ""
        self.blocks: list[str] = []
        self.left: Counter[str] = Counter()
        self.held: dict[str, str] = defaultdict(str)
        self.times: dict[str, list[int]] = defaultdict(list)
        self._content = content
        self._group = _Group()
        self._above: list[_Group] = []
        self._words: dict[str, list[str]] = defaultdict(list)
        self._bytes = bytearray()
        self._skip = 0
        self._page, self._fonts, self._styles = "cp1252", dict[str, str](), dict[int, str]()
        self._style, self._level, self._in_table = 0, 0, False
        self._cells: list[str] = []
        self._rows: list[list[Cell]] = []
        self._merged: list[str] = []
        self._merge = ""

    def read(self) -> None:
        """Read all of it."""
        at, end = 0, len(self._content)
        while at < end and (found := _TOKEN.match(self._content, at)):
            at = found.end()
            word, number, code, sign, brace, plain = found.groups()
            if code or plain:
                self._take(bytes.fromhex(code.decode()) if code else plain)
                continue
            self._flush()
            if brace:
                self._nest(brace)
            elif word == b"bin":
                at += max(0, int(number or 0))
            elif word:
                self._obey(word.decode(), None if number is None else int(number))
            elif sign == b"*":
                self._group.goes = "skip"
            elif sign:
                self._say(_SIGNS.get(sign.decode("latin-1"), "\n" * (sign in b"\r\n")))
        self._flush()
        self._end_paragraph()
        self._end_table()

    def _take(self, plain: bytes) -> None:
        passed = min(self._skip, len(plain))  # what stands for a sign where Unicode is not known
        self._skip -= passed
        self._bytes += plain[passed:]

    def _flush(self) -> None:
        self._skip = 0
        if self._bytes:
            encoding = self._fonts.get(self._group.font, self._page)
            self._say(self._bytes.decode(encoding, errors="replace"))
            self._bytes.clear()

    def _say(self, words: str) -> None:
        group = self._group
        if group.goes in _UNSEEN or not words:
            return
        if group.goes in _HELD:
            self.held[group.goes] += words
            if group.goes == "stylesheet":
                self._styles.setdefault(self._style, words.strip().rstrip(";"))
        elif group.is_hidden or group.is_deleted:
            self.left["hidden or deleted passages"] += bool(words.strip())
        else:
            self._words[group.goes].append(words)

    def _nest(self, brace: bytes) -> None:
        if brace == b"{":
            self._above.append(replace(self._group))
        elif self._above:
            self._group = self._above.pop()

    def _obey(self, word: str, number: int | None) -> None:
        group = self._group
        if word in _GOES:
            group.goes = _GOES[word]
        elif word in _SWITCHES:
            setattr(group, _SWITCHES[word], number != 0)
        elif word == "plain":
            group.is_hidden = group.is_deleted = False
        elif word == "uc":
            group.skips = min(max(number or 0, 0), 9)
        elif word == "u":
            self._say(chr((number or 0) & 0xFFFF))
            self._skip = group.skips
        elif word in _SIGNS:
            self._say(_SIGNS[word])
        elif word == "s":
            self._style = number or 0
        elif group.goes in _UNSEEN or group.goes in _HELD or word in {"f", "ansicpg"}:
            self._tell(word, number or 0)
        elif not self._see_table(word):
            self._lay_out(word, number or 0)

    def _tell(self, word: str, number: int) -> None:
        if word in {"yr", "mo", "dy"}:
            self.times[self._group.goes].append(number)
        elif word == "f":
            self._group.font = str(number)
        elif word == "fcharset":
            self._fonts[self._group.font] = _CHARSETS.get(number, self._page)
        elif word == "ansicpg":
            self._page = _known(f"cp{number}")

    def _see_table(self, word: str) -> bool:
        if word == "trowd":
            self._merged, self._merge = [], ""
        elif word in {"clmrg", "clvmrg"}:
            self._merge = word
        elif word == "cellx":
            self._merged.append(self._merge)
            self._merge = ""
        elif word == "cell":
            self._cells.append(self._paragraph())
        elif word == "row":
            self._end_row()
        return word in {"trowd", "clmrg", "clvmrg", "cellx", "cell", "row"}

    def _lay_out(self, word: str, number: int) -> None:
        if word == "pard":
            self._style, self._level, self._in_table = 0, 0, False
        elif word == "outlinelevel":
            self._level = number + 1 if number in range(6) else 0
        elif word == "intbl":
            self._in_table = True
        elif word in {"par", "sect"}:
            is_inside = self._in_table or self._group.goes != "text"
            self._say("\n") if is_inside else self._end_paragraph()
        elif word == "page":
            self._say("\f")

    def _paragraph(self) -> str:
        words = "".join(self._words.pop("text", []))
        author = " ".join("".join(self._words.pop("atnauthor", [])).split())
        note, remark = (" ".join("".join(self._words.pop(name, [])).split()) for name in _NOTES)
        words += f"\nNote: {note}" * bool(note)
        words += f"\n{comment(author, remark)}" * bool(remark)
        return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _end_paragraph(self) -> None:
        said = self._paragraph()
        words = said.strip(" \t\n\f")
        if words:
            self._end_table()
        breaks = said[: said.find(words) if words else None].count("\f")
        self.blocks += ["\f" * breaks] * bool(breaks)
        named = _MARKED.fullmatch(self._styles.get(self._style, ""))
        level = self._level or (int(named[1] or bool(named[2])) if named else 0)
        if level and words:
            self.title = self.title or (words if named and named[2] else "")
            self.blocks.append(f"{'#' * level} {' '.join(words.split())}")
        elif words:
            self.blocks.append(("- " if named and named[3] else "") + escaped(words))

    def _end_row(self) -> None:
        row: list[Cell] = []
        for n, said in enumerate(self._cells):
            merge = self._merged[n] if n < len(self._merged) else ""
            above = self._rows[-1][n : n + 1] if self._rows else []
            if merge and (merge == "clvmrg" or not row):
                row.append(Cell(above[0].value if above else said))
            else:
                row.append(Cell(row[-1].value if merge else said))
        self._rows.append(row)
        self._cells = []

    def _end_table(self) -> None:
        if text := as_text(spread(self._rows)):
            self.blocks.append(text)
        self._rows = []


def _known(encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return "cp1252"
    return encoding
