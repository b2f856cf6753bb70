"""The log: every record of the logger `drift` becomes one line of JSON, for any handler.

The platform's worker forwards a record's formatted message alone, so the message holds the fields:
the event, what is bound to the running request, and what was given as `extra`. JSON escapes control
characters, so that no text can forge a line. An exception becomes names and codes; its own words
may hold addresses, keys or a prompt.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath

from drift.core.errors import DriftError

Fields = Mapping[str, object]

MAX_CHARACTERS = 300
REQUEST_ENDED = "request_ended"
"""The line of each request that came."""

_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


@dataclass(frozen=True, slots=True)
class _Bound:
    fields: Fields
    words: bool = False


_bound: ContextVar[_Bound] = ContextVar("drift_log_fields", default=_Bound({}))  # noqa: B039 - frozen


@contextmanager
def bound(*, words: bool | None = None, **fields: object) -> Iterator[None]:
    """Add fields that are not None to every line of the block and of the tasks started in it.

    `words` allows or forbids the words of text fields.
    """
    before = _bound.get()
    known = {name: value for name, value in fields.items() if value is not None}
    allowed = before.words if words is None else words
    token = _bound.set(_Bound({**before.fields, **known}, allowed))
    try:
        yield
    finally:
        _bound.reset(token)


class OneLine(logging.Filter):
    """Turns a record into one line of JSON; its fields become attributes of the record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record."""
        if hasattr(record, "event"):  # a handler may send a record round again
            return True

        context = _bound.get()
        given = {name: value for name, value in vars(record).items() if name not in _OWN_ATTRIBUTES}
        for name in given:
            delattr(record, name)

        if record.exc_info and isinstance(record.exc_info[1], BaseException):
            given |= described(record.exc_info[1])

        record.exc_info = record.exc_text = record.stack_info = None
        event = _shown(record.getMessage())
        fields = dict(_written({**context.fields, **given}, words=context.words))
        record.msg = json.dumps({"event": event, **fields}, separators=(",", ":"))
        record.args = ()
        vars(record).update({**fields, "event": event})

        return True


log = logging.getLogger("drift")
log.addFilter(OneLine())


def _written(fields: Fields, *, words: bool) -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        # Words of a caller, a document or the model are written as length and hash, unless
        # words are allowed.
        if name in {"query", "question", "span", "fact", "text"} and not words:
            text = str(value)
            yield f"{name}_characters", len(text)
            sha256 = hashlib.sha256(text.encode(errors="backslashreplace"))
            yield f"{name}_sha256", sha256.hexdigest()[:16]
        else:
            yield name, _shown(value)


def _shown(value: object) -> object:
    """Return a value that JSON can hold; of an unknown object its type alone."""
    if isinstance(value, str):
        return value if len(value) <= MAX_CHARACTERS else value[:MAX_CHARACTERS] + "…"
    if isinstance(value, float):
        # What one question costs is small.
        return round(value, 4 if abs(value) >= 0.01 else 6) if math.isfinite(value) else str(value)  # noqa: PLR2004
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {str(key)[:MAX_CHARACTERS]: _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]

    return type(value).__name__


def described(error: BaseException) -> dict[str, object]:
    """Return the public facts of an exception: classes, codes, our own sentence, its place.

    Our sentences about a request are left out, because they repeat names of the caller.
    """
    fields: dict[str, object] = {"error": type(error).__name__}
    if isinstance(error, DriftError):
        fields["code"] = error.code
        if error.status >= DriftError.status:
            fields["detail"] = error.detail
    else:
        # `extract_tb` would read the source files.
        frames = list(traceback.walk_tb(error.__traceback__))[-8:]
        fields["at"] = [
            f"{PurePath(f.f_code.co_filename).name}:{line} {f.f_code.co_name}" for f, line in frames
        ]

    if below := _below(error):
        fields["cause"] = chain(below)
    return fields


def chain(error: BaseException) -> str:
    """Name an error and what caused it, `RateLimitError 429 rate_limit_exceeded <- ...`."""
    return " <- ".join(_identified(link) for link in causes(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and what caused it, the outermost first, five at most."""
    link: BaseException | None = error
    for _ in range(5):
        if link is not None:
            yield link
            link = _below(link)


def _below(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _identified(error: BaseException) -> str:
    """Name an error by its class and by the numbers and codes that it carries."""
    found = (getattr(error, name, None) for name in ("status_code", "code", "errno"))
    # The shape of an error code; letters next to digits may be a key, and are left out.
    codes = (
        str(code)
        for code in found
        if isinstance(code, int | str)
        and re.fullmatch(r"[A-Za-z_]{1,64}|[0-9]{1,5}|Neo(\.[A-Za-z]{1,64}){1,4}", str(code))
    )

    return " ".join(dict.fromkeys([type(error).__name__, *codes]))
