"""What people see: progress and answers, in colour on a terminal only."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.markup import escape

from drift.core.folding import whole_words
from drift.core.logs import REQUEST_ENDED, log
from drift.core.names import without_name
from drift.local.cli.terminal import CleanConsole, escaped, on_one_line

stderr = CleanConsole(stderr=True, highlight=False, soft_wrap=True)
"""Progress, and what is said to people."""
stdout = CleanConsole(highlight=False, soft_wrap=True)
"""Answers: what a program may read."""

NEAR = "What stands near, but does not answer:"
NOTHING_FOUND = "Nothing was found in this project. Is the name right, and was it ingested?"
_PLAIN = re.compile(r"[\w.:/-]+")


class LogLine(logging.Formatter):
    """An event with its fields on one line: `followup_failed code=model_unavailable followup=1`."""

    hidden = frozenset(vars(logging.makeLogRecord({}))) | {
        *("message", "taskName", "event", "invocation_id", "trace_id"),
    }

    def format(self, record: logging.LogRecord) -> str:
        """Write a record for people; what is no plain word is quoted, so that it forges no line."""
        words = [
            f"{name}={value if _PLAIN.fullmatch(str(value)) else json.dumps(value)}"
            for name, value in self.fields(record).items()
        ]
        return " ".join([getattr(record, "event", None) or super().format(record), *words])

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return what a record says beside its event."""
        return {name: value for name, value in vars(record).items() if name not in self.hidden}


class InWords(LogLine):
    """The same in words: `Retrying: attempt 1, wait s 2.4, cause APIConnectionError`."""

    hidden = LogLine.hidden | {
        *("retrieval_id", "project_id", "caller", "text_characters", "text_sha256"),
    }

    def format(self, record: logging.LogRecord) -> str:
        """Write a record for who runs a command, who knows which question it is about."""
        event = str(getattr(record, "event", None) or logging.Formatter.format(self, record))
        said = [f"{name.replace('_', ' ')} {value}" for name, value in self.fields(record).items()]
        words = event.replace("_", " ").capitalize()
        return on_one_line(f"{words}: {', '.join(said)}" if said else words)


class ServedLine(LogLine):
    """A request on one short line, for who looks on while a server runs; the rest as LogLine."""

    def format(self, record: logging.LogRecord) -> str:
        """Write `12:00:07 POST /retrieve 200 3.2 s, caller anybody, project_id notes, ...`."""
        if getattr(record, "event", "") != REQUEST_ENDED:
            return super().format(record)
        told = self.fields(record)
        first = f"{told.pop('method')} {told.pop('route')} {told.pop('status')}"
        seconds = f"{told.pop('duration_s'):.3g} s"
        phases = {name: f"{spent:.3g} s" for name, spent in told.pop("phases", {}).items()}
        rest = {**told, **phases}
        for name in ("retrieval_id", "request_id"):
            rest.pop(name, None)
        said = [f"{name.replace('_', ' ')} {value}" for name, value in rest.items()]
        return on_one_line(
            f"{time.strftime('%H:%M:%S')} {', '.join([f'{first} in {seconds}', *said])}"
        )


def _is_news(record: logging.LogRecord) -> bool:
    """Say whether a command does not tell it itself: it ends with what failed, or goes on to it."""
    return not (hasattr(record, "code") and str(getattr(record, "event", "")).endswith("_failed"))


_handler = logging.StreamHandler()


def log_to_stderr() -> None:
    """Show warnings and errors of the service that a command does not tell itself, in words."""
    _handler.setStream(sys.stderr)
    _handler.setFormatter(InWords("%(message)s"))
    _handler.setLevel(logging.WARNING)
    _handler.addFilter(_is_news)
    log.addHandler(_handler)
    # the driver's retries: whether they helped is said by the command
    logging.getLogger("neo4j").setLevel(logging.ERROR)


def log_requests() -> None:
    """Show each request, and each warning and error; as JSON where no terminal is."""
    _handler.removeFilter(_is_news)
    _handler.addFilter(_is_served)
    _handler.setLevel(logging.INFO)
    log.setLevel(logging.INFO)
    _handler.setFormatter(ServedLine() if stderr.file.isatty() else logging.Formatter())


def _is_served(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or getattr(record, "event", "") == REQUEST_ENDED


def say(line: str) -> None:
    """Write one line to standard error; a line feed in a name begins no other line."""
    stderr.print(on_one_line(line), markup=False)


def show_line(line: str) -> None:
    """Write one line to standard output, likewise."""
    stdout.print(on_one_line(line), markup=False)


def show_error(detail: str) -> None:
    """Say on one line of standard error what went wrong."""
    stderr.print("[red]error:[/] ", end="")
    say(detail)


def listed(names: Sequence[str], most: int, kind: str = "more") -> str:
    """Return the first of many names, and how many others there are."""
    more = f" and {len(names) - most} {kind}" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def print_json(document: Any) -> None:  # noqa: ANN401 - any JSON value
    """Write one JSON document on one line to standard output."""
    only_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(escaped(json.dumps(document, ensure_ascii=only_ascii)) + "\n")
    sys.stdout.flush()


def problem_in_words(problem: dict[str, Any], status: str = "") -> str:
    """Return an error of the function on one line."""
    fields = "".join(f" {e['field']}: {e['message']}." for e in problem.get("errors") or ())
    return f"{problem['code']}{status}: {problem['detail']}{fields}"


def show_progress(message: dict[str, Any]) -> None:
    """Show one progress message as it arrives; why a request failed is said at its end."""
    stderr.print(
        f"[dim]{message['progress_pct']:>3}%[/]  [cyan]{message['phase']:<22}[/] "
        f"{escape(_unescaped(message['thought_summary']))}"
    )
    details = "" if message["phase"] == "error" else message.get("details_md") or ""
    for line in details.splitlines():
        stderr.print(f"        [dim]{escape(_shortened(_unescaped(line)))}[/]")


def show_answer(question: str, response: dict[str, Any]) -> None:
    """Show an answer with its facts and the evidence of each."""
    stdout.print(f"\n[bold]{escape(question)}[/]\n")
    if response.get("no_data_found"):
        stdout.print(NOTHING_FOUND)
        return
    if "references" in response:
        _show_references(response)
        return

    stdout.print(f"{escape(response['final_answer'])}\n")
    for number, fact in enumerate(response["key_facts"], start=1):
        stdout.print(f"[bold]{number}.[/] {escape(fact['fact'])}")
        for citation in fact["citations"]:
            stdout.print(f"   [green]{escape(_evidence(citation))}[/]")

    _show_what_is_left(response)


def _show_references(response: dict[str, Any]) -> None:
    """Show an answer with the numbers of its references, and what each is made of."""
    references = response["references"]
    stdout.print(f"{escape(references['answer'])}\n")
    if references["items"]:
        stdout.print(f"[bold]Confidence: {references['confidence']:.0%}[/]")

    for item in references["items"]:
        signals = ", ".join(f"{name} {value:.0%}" for name, value in item["signals"].items())
        stdout.print(escape(f"[{item['number']}] {item['confidence']:.0%}: {signals}"))
        stdout.print(f"   [green]└ {escape(_quoted(item))}[/]")

    _show_what_is_left(response)


def _show_what_is_left(response: dict[str, Any]) -> None:
    """Show what stands near where nothing answers, and what is uncertain."""
    heading, *near = _near(response) or [""]
    if near:
        stdout.print(f"[bold]{heading}[/]")

    for line in near:
        stdout.print(f"   {escape(line)}")

    if response["residual_uncertainty"]:
        stdout.print(f"\n[yellow]Uncertain:[/] {escape(response['residual_uncertainty'])}")


def references(response: dict[str, Any]) -> str:
    """Return a line for each reference of an answer, or what stands near where there is none."""
    sentences: dict[int, list[int]] = {}
    for place, fact in enumerate(response["key_facts"], start=1):
        for number in fact["references"]:
            sentences.setdefault(number, []).append(place)

    items = response["references"]["items"]
    rows = [_reference(item, sentences[item["number"]]) for item in items]
    limits = [f"Limit: {limit}" for limit in response["references"]["limits"]] if rows else []
    uncertain = response["residual_uncertainty"]
    heading = ["References:"] if rows else []
    said = [f"Uncertain: {uncertain}"] if uncertain else []

    return "\n".join([*heading, *rows, *limits, *_near(response), *said, ""])


def _near(response: dict[str, Any]) -> list[str]:
    """Return the passages nearest to an answer that was not found, below their heading."""
    near = (response.get("verdict") or {}).get("near")
    return [NEAR, *map(_evidence, near)] if near else []


def _reference(item: dict[str, Any], sentences: list[int]) -> str:
    """Return a reference as seed 004 writes it, with the sentences it bears out and its words."""
    match = f" ({item['match']:.0%} match)" if "match" in item else ""
    label = f"[{item['number']}] {on_one_line(item['label'])}{match}"
    return f"{label}, for sentence {', '.join(map(str, sentences))}: {_quoted(item)}"


def _evidence(citation: dict[str, Any] | str) -> str:
    if isinstance(citation, str):
        return f"└ {citation}"
    name = on_one_line(citation["document_name"])
    return f"└ [{name}{_where(citation)}] {_quoted(citation)}"


def _quoted(citation: dict[str, Any]) -> str:
    """Return the beginning of a citation's words in quotes, on one line."""
    return f'"{_shortened(" ".join(whole_words(citation["span"]).split()))}"'


def _where(citation: dict[str, Any]) -> str:
    """Return where in its document a citation stands, with a comma before each word about it."""
    named = (("page {}", "page"), ("{}", "heading"), ("{}", "place"))
    known = [form.format(citation[name]) for form, name in named if name in citation]
    known = [without_name(words, citation["document_name"]) for words in known]
    return "".join(f", {on_one_line(words)}" for words in known if words)


def _shortened(text: str, most: int = 160) -> str:
    return text if len(text) <= most else text[:most].rstrip() + "…"


def _unescaped(markdown: str) -> str:
    """Return escaped Markdown as plain text for a terminal."""
    return "".join(
        character
        for position, character in enumerate(markdown)
        if character != "\\" or (position and markdown[position - 1] == "\\")
    )
