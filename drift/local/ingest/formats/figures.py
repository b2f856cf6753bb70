"""Pure: what stands in the drawings and equations of office documents, as text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from drift.local.ingest.formats.packages import Element, every, local, said_of
from drift.local.ingest.formats.tables import as_text
from drift.local.ingest.formats.titles import own_title

_AROUND = {
    **dict.fromkeys(("num", "fName", "mr"), ("(", ")")),
    "den": ("/(", ")"),
    "sup": ("^(", ")"),
    "sub": ("_(", ")"),
    "deg": ("[", "]"),
    "rad": ("\u221a(", ")"),
    "d": ("(", ")"),
}
"""Elements of an equation with the signs around what is in them."""
_NEEDLESS = re.compile(r"\(([\w.,]+)\)")
_BY_PROGRAM = re.compile(
    r"(?:automatisch generierte beschreibung|description automatically generated.*|"
    r"ai-generated content may be incorrect\.?)\s*$",
    re.IGNORECASE,
)
_DATE = re.compile(r'(?!.*[0#])(?:[^"\[]*)[dmy]', re.IGNORECASE)
_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - the day 0 of sheets


def linear(math: Element) -> str:
    """Return an equation on one line: `(a+b)/c`, `x^2`."""
    parts: list[str] = []
    waiting = [math]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        name = local(one)
        if name == "t":
            parts.append(one.text or "")
        elif name == "chr":
            parts.append(said_of(one, "val"))
        before, after = _AROUND.get(name, ("", ""))
        parts.append(before)
        waiting += [after, *reversed(one)]
    return " ".join(_NEEDLESS.sub(r"\1", "".join(parts)).replace("[]", "").split())


def picture(told: Element) -> str:
    """Return what is told of a picture to who cannot see it; nothing for the name of its file."""
    words = " ".join(_BY_PROGRAM.sub("", said_of(told, "descr").strip()).split())
    return f"Picture: {words}" if own_title(words) else ""


def diagram(root: Element) -> str:
    """Return the words of a diagram, those of each of its boxes on a line."""
    boxes = (
        " ".join("".join(words.text or "" for words in box.iter("{*}t")).split())
        for box in every(root, "pt")
    )
    return "\n".join(f"- {words}" for words in boxes if words)


def chart(root: Element) -> Iterator[str]:
    """Yield the title of a chart and a table of its values, by what it was drawn from."""
    if root is None:
        return
    titles = root.findall("{*}chart/{*}title")
    if title := " ".join("".join(one.text or "" for t in titles for one in t.iter("{*}t")).split()):
        yield f"Chart: {title}"
    drawn: dict[tuple[tuple[str, str], ...], list[tuple[str, dict[str, str]]]] = defaultdict(list)
    for series in root.iter("{*}ser"):
        named = _points(series, "tx")
        of = {**_points(series, "cat"), **_points(series, "xVal")}
        values = {**_points(series, "val"), **_points(series, "yVal")}
        of = of or {place: str(int(place) + 1) for place in values if place.isdecimal()}
        drawn[tuple(of.items())].append((" ".join(named.values()) or "Value", values))
    for places, lines in drawn.items():
        head = ["Category", *(name for name, _ in lines)]
        rows = [[of, *(values.get(n, "") for _, values in lines)] for n, of in places]
        yield as_text([head, *rows])


def _points(series: Element, name: str) -> dict[str, str]:
    """Return the values of a series by their places, as far as they were stored with it."""
    held = series.find(f"{{*}}{name}")
    if held is None:
        return {}
    form = "".join(one.text or "" for one in held.iter("{*}formatCode"))
    found: dict[str, str] = {}
    for point in held.iter("{*}pt"):
        value = point.findtext("{*}v") or ""
        found.setdefault(point.get("idx", ""), _as_shown(value, form))
    return found or dict.fromkeys("0", held.findtext("{*}v") or "")


def _as_shown(value: str, form: str) -> str:
    try:
        number = float(value)
        if "%" in form:
            return f"{100 * number:.6g}%"
        if _DATE.match(form) and form != "General":
            return f"{_ZERO + timedelta(number):%Y-%m-%d}"
    except (ValueError, OverflowError):
        return value
    return f"{number:.12g}" if form else value
