"""What has to be true of the models that a deployment creates, and of the place they run at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from drift.http.settings import Settings
from drift.http.settings_graph import KNOWN_EMBEDDING_DIMENSIONS
from drift.local.infra.finding import Finding
from drift.local.infra.regions import DATA_ZONES, REGIONS

RETIRED = re.compile(r"gpt-(35|3\.5|4|4o|4-32k)(-|$)")
ENDING = {
    "gpt-5": "2026-12-11",
    "gpt-5-mini": "2026-12-11",
    "gpt-4.1": "2027-01-14",
    "gpt-4.1-mini": "2027-01-14",
    "gpt-4.1-nano": "2027-01-14",
    "gpt-5.1": "2027-04-01",
    "gpt-5.4-nano": "2027-04-01",
}
"""Models with the day on which OpenAI's own platform ends them."""

# Together, these give the most that a request was measured to take.
TOKENS_A_CHUNK = 1_200
TOKENS_OF_CHUNKS = 6_000
"""The most that the chunks of one prompt take together."""
TOKENS_A_FOLLOWUP = 4_000
"""Of a follow-up besides its chunks: instructions, communities, the neighbourhood and the reply."""
TOKENS_BESIDES = 30_000
"""Of a request besides its follow-ups: hypothesis, primer and aggregation."""
ENOUGH_REQUESTS = 4


def models(values: Mapping[str, Any], settings: Mapping[str, str]) -> Iterator[Finding]:
    """Models that can still be deployed, and vectors that the embedding model can give."""
    chat = str(_of(values, "chat").get("model", ""))
    if values.get("openAiMode") == "create" and RETIRED.match(chat):
        text = (
            f"{chat} is retired and cannot be deployed any more: choose a newer one, such as "
            "gpt-5.4"
        )
        yield Finding("chat.model", "problem", text)
    elif chat in ENDING:
        text = f"OpenAI ends {chat} on {ENDING[chat]}; look up Azure's date and plan a newer one"
        yield Finding("chat.model", "note", text)

    embedding = str(_of(values, "embedding").get("model", ""))
    most = KNOWN_EMBEDDING_DIMENSIONS.get(embedding)
    dimensions = _number(settings, "VECTOR_INDEX_DIMENSIONS")
    if most and dimensions > most:
        text = (
            f"is {dimensions}, and {embedding} gives {most} floats: take the number that the graph "
            "was embedded with"
        )
        yield Finding("VECTOR_INDEX_DIMENSIONS", "problem", text)


def capacity(values: Mapping[str, Any], settings: Mapping[str, str]) -> Iterator[Finding]:
    """A chat deployment that carries a few requests a minute; provisioned units are not counted."""
    thousands = _of(values, "chat").get("capacity", "")
    standard = str(_of(values, "chat").get("sku", "")).endswith("Standard")
    if values.get("openAiMode") != "create" or not standard or not isinstance(thousands, int):
        return

    followups = _number(settings, "MAX_FOLLOWUPS")
    tokens = tokens_a_request(followups, _number(settings, "MAX_CHUNKS_FOR_PROMPT"))
    requests = 1000 * thousands / tokens
    if requests < ENOUGH_REQUESTS:
        enough = -(-ENOUGH_REQUESTS * tokens // 1000)
        text = (
            f"is {thousands},000 tokens a minute, and a request takes up to {tokens:,}: that is "
            f"{requests:.1f} requests a minute; set CHAT_CAPACITY={enough} for {ENOUGH_REQUESTS}, "
            "or lower MAX_FOLLOWUPS"
        )
        yield Finding("chat.capacity", "problem" if requests < 1 else "note", text)


def place(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the region has the data zone that requests are to be processed in."""
    sku, location = str(_of(values, "chat").get("sku", "")), values.get("location")
    created = values.get("openAiMode") == "create"
    if created and sku.startswith("DataZone") and location in REGIONS - DATA_ZONES:
        text = (
            f"{sku} is for regions of the EU and the US, and {location} is none: use GlobalStandard"
        )
        yield Finding("chat.sku", "problem", text)


def tokens_a_request(followups: int, chunks: int) -> int:
    """Return the most tokens of a request with so many follow-ups, and chunks in each."""
    shown = min(chunks * TOKENS_A_CHUNK, TOKENS_OF_CHUNKS)
    return followups * (shown + TOKENS_A_FOLLOWUP) + TOKENS_BESIDES


def _of(values: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """Return what is said of a model; nothing where it is not given."""
    return values.get(model) or {}


def _number(settings: Mapping[str, str], name: str) -> int:
    """Return a whole number of the settings; that of the code where none is given."""
    given = settings.get(name, "")
    return int(given) if given.isdecimal() else int(Settings.model_fields[name.lower()].default)
