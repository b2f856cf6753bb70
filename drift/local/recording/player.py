"""Gives the replies of a recording to whoever asks the same, at the moments of the recording.

A loop whose time jumps to the next timer waits for nothing, and lets calls end in their order.
"""

from __future__ import annotations

import asyncio
import json
import selectors
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import SequenceMatcher, unified_diff
from typing import NoReturn, TypeVar

import httpx2

from drift.core import errors
from drift.core.errors import DriftError, GraphMisconfiguredError
from drift.local.recording.tape import (
    Exchange,
    Json,
    Kind,
    Recording,
    RecordingError,
    Request,
    asking,
    digest,
)

T = TypeVar("T")
_NEVER_S = 86_400.0
_UNKNOWN: Json = {"status": 404, "json": {"error": {"message": "This is not in the recording."}}}


@dataclass(slots=True)
class Player:
    """Gives the recorded replies; `notes` says what was asked that the recording does not hold."""

    recording: Recording
    notes: list[str] = field(default_factory=list)
    answers: dict[str, Request] = field(default_factory=dict)
    _now: float = 0.0
    _waiting: defaultdict[str, list[Exchange]] = field(default_factory=lambda: defaultdict(list))
    _last: dict[str, Exchange] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort the calls by what was asked."""
        for call in self.recording.calls:
            self._waiting[_key(call.kind, call.asked)].append(call)

    def monotonic(self) -> float:
        """Return the seconds of the recording."""
        return self._now

    def time(self) -> float:
        """Return the seconds since 1970, as they were."""
        return float(self.recording.head["moment"]) + self._now

    async def call(self, kind: Kind, asked: Json, _ask: object) -> Json:
        """Return the recorded reply, or raise its error; no server is asked."""
        call = self._take(kind, asked) or self._in_its_place(kind, asked)
        if call is None:
            if kind == "graph":
                raise GraphMisconfiguredError("This statement is not in the recording.")
            return _UNKNOWN

        try:
            await self._until(call.begin)
            await self._until(call.end)
            if call.reply is None and call.error is None:  # it was given up, and will be again
                await asyncio.sleep(_NEVER_S)
        except asyncio.CancelledError:
            self._now = max(self._now, call.end)
            raise
        if call.error is not None:
            _fail(call.error)
        return call.reply

    async def begin(self, request: Request) -> None:
        """Wait for the moment at which a request began."""
        await self._until(request.begin)

    def end(self, request: Request) -> None:
        """Keep an answer."""
        self.answers[request.id] = request

    async def _until(self, moment: float) -> None:
        """Return at a moment, at once where it has passed."""
        if (left := moment - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)
        self._now = max(self._now, moment)

    def _take(self, kind: Kind, asked: Json) -> Exchange | None:
        """Return the next call that asks this, best of the same request, and the last one again."""
        key = _key(kind, asked)
        if waiting := self._waiting[key]:
            own = (one for one in waiting if one.request == asking.get())
            self._last[key] = next(own, waiting[0])
            waiting.remove(self._last[key])
        return self._last.get(key)

    def _in_its_place(self, kind: Kind, asked: Json) -> Exchange | None:
        """Say what is asked anew; a prompt gets the reply to the one that is most like it."""
        others = [call for calls in self._waiting.values() for call in calls if call.kind == kind]
        if kind == "graph":
            self._note(_about_statement(asked, others))
            return None
        lines = _lines(asked)
        others = [one for one in others if _step(one.asked) == _step(asked)]
        if kind != "chat" or not others:
            self._note(f"Not recorded, {kind}:\n  " + "\n  ".join(lines[:12]))
            return None

        nearest = max(
            others, key=lambda one: SequenceMatcher(None, _lines(one.asked), lines).ratio()
        )
        self._waiting[_key(kind, nearest.asked)].remove(nearest)
        name = _step(asked) or "chat"
        diff = unified_diff(
            _lines(nearest.asked), lines, f"recorded {name}", f"present {name}", lineterm="", n=1
        )
        self._note("\n".join(diff))
        return nearest

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _key(kind: Kind, asked: Json) -> str:
    """Return what a call is found by."""
    return digest([kind, asked])


def _lines(asked: Json) -> list[str]:
    return json.dumps(asked, indent=1, ensure_ascii=False).replace("\\n", "\n").splitlines()


def _step(asked: Json) -> str:
    """Return the name of the reply that a prompt asks for; empty where it names none."""
    form = asked["body"].get("response_format") or {}
    return str(form.get("json_schema", {}).get("name", ""))


def _about_statement(asked: Json, others: list[Exchange]) -> str:
    begins = f"Not recorded, a statement that begins {asked['begins']!r}"
    statement, now = asked["statement"], asked["parameters"]
    recorded = [one.asked["parameters"] for one in others if one.asked["statement"] == statement]
    changed = [[n for n in {**old, **now} if old.get(n) != now.get(n)] for old in recorded]
    if not changed:
        return f"{begins}: its text, or what it is asked with, is another."
    fewest = min(changed, key=len)
    return f"{begins}: other values of {', '.join(fewest)}."


def _fail(error: Json) -> NoReturn:
    name, detail = str(error.get("type")), str(error.get("detail"))
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, DriftError):
        raised = kind.__new__(kind)
        DriftError.__init__(raised, detail)
        raise raised
    kind = getattr(httpx2, name, None)
    if isinstance(kind, type) and issubclass(kind, httpx2.TransportError):
        raise kind("as it was recorded")
    raise DriftError(f"A call ended with {name}, as it was recorded.")


# ---------------------------------------------------------------------------------------- the loop
class _Jumps(selectors.DefaultSelector):
    """Waits for nothing: the time that the loop would sleep is added to its clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RecordingError(
                "The recording does not fit: nothing in it ends what is waited for."
            )
        self.now += max(timeout, 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes as soon as nothing else is left to do; threads end at once."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._jumps = _Jumps()
        super().__init__(self._jumps)

    def time(self) -> float:
        """Return the seconds since the loop was made."""
        return self._jumps.now

    def run_in_executor(
        self, _executor: object, func: Callable[..., T], *args: object
    ) -> asyncio.Future[T]:
        """Run a function now."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whoever waits for it is told
            done.set_exception(error)
        return done
