"""What has to be true of the models that a deployment creates, and of the place they run at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote

from drift.http.settings import Settings
from drift.http.settings_graph import KNOWN_EMBEDDING_DIMENSIONS
from drift.local.infra.finding import Said, Values, settings_of
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

STANDARD = {"GlobalStandard", "DataZoneStandard", "Standard"}
"""Kinds of deployment whose capacity is in thousands of tokens a minute.

That of the others is in provisioned units.
"""

# Together, these give the most that a request was measured to take.
TOKENS_A_CHUNK = 1_200
TOKENS_OF_CHUNKS = 6_000
"""The most that the chunks of one prompt take together."""
TOKENS_A_FOLLOWUP = 4_000
"""Of a follow-up besides its chunks: instructions, communities, the neighbourhood and the reply."""
TOKENS_BESIDES = 30_000
"""Of a request besides its follow-ups: hypothesis, primer and aggregation."""
ENOUGH_REQUESTS = 4
DEFAULT_CAPACITY = 520
"""In thousands of tokens a minute; the template refuses as many provisioned units."""


def models(values: Values) -> Iterator[Said]:
    """Models that can still be deployed, and vectors that the embedding model can give."""
    chat = str(values.get("chatModelName", ""))
    if values.get("openAiMode") == "create" and RETIRED.match(chat):
        text = (
            f"{chat} is retired and cannot be deployed any more: choose a newer one, such as "
            "gpt-5.4"
        )
        yield "chatModelName", "problem", text
    elif chat in ENDING:
        text = f"OpenAI ends {chat} on {ENDING[chat]}; look up Azure's date and plan a newer one"
        yield "chatModelName", "note", text

    embedding = str(values.get("embeddingModelName", ""))
    most = KNOWN_EMBEDDING_DIMENSIONS.get(embedding)
    dimensions = setting(values, "VECTOR_INDEX_DIMENSIONS")
    if most and dimensions > most:
        text = (
            f"is {dimensions}, and {embedding} gives {most} floats: take the number that the graph "
            "was embedded with"
        )
        yield "VECTOR_INDEX_DIMENSIONS", "problem", text


def capacity(values: Values) -> Iterator[Said]:
    """A chat deployment that carries a few requests a minute, in units that were meant."""
    followups, chunks = (
        setting(values, f"MAX_{name}") for name in ("FOLLOWUPS", "CHUNKS_FOR_PROMPT")
    )
    thousands = values.get("chatCapacity")
    if values.get("openAiMode") != "create" or not isinstance(thousands, int) or thousands < 1:
        return

    tokens = tokens_a_request(followups, chunks)

    sku = values.get("chatSkuName")
    if sku not in STANDARD:
        if thousands == DEFAULT_CAPACITY and str(sku).endswith("ProvisionedManaged"):
            text = (
                f"is the default of {thousands}, which would be provisioned units of "
                f"{sku}, paid by the hour: set CHAT_CAPACITY too"
            )
            yield "chatCapacity", "problem", text
            return

        text = (
            f"is {thousands} provisioned units of {sku}, paid by the hour "
            "whether used or not: compare with what Azure's calculator says for "
            f"{tokens} tokens a request"
        )
        yield "chatCapacity", "note", text
        return

    requests = 1000 * thousands / tokens
    if requests < ENOUGH_REQUESTS:
        enough = -(-ENOUGH_REQUESTS * tokens // 1000)
        text = (
            f"is {thousands},000 tokens a minute, and a request takes up to {tokens:,}: that is "
            f"{requests:.1f} requests a minute; set CHAT_CAPACITY={enough} for {ENOUGH_REQUESTS}, "
            "or lower MAX_FOLLOWUPS"
        )
        yield "chatCapacity", "problem" if requests < 1 else "note", text


def setting(values: Values, name: str) -> int:
    """Return a whole number of the settings; that of the code where none is given."""
    given = str(settings_of(values).get(name) or "")
    return int(given) if given.isdecimal() else int(Settings.model_fields[name.lower()].default)


def tokens_a_request(followups: int, chunks: int) -> int:
    """Return the most tokens of a request with so many follow-ups, and chunks in each."""
    shown = min(chunks * TOKENS_A_CHUNK, TOKENS_OF_CHUNKS)
    return followups * (shown + TOKENS_A_FOLLOWUP) + TOKENS_BESIDES


def place(values: Values) -> Iterator[Said]:
    """Where the chat model's requests are processed, and whether the region has that."""
    sku, location = values.get("chatSkuName"), values.get("location")
    if values.get("openAiMode") != "create":
        return

    if isinstance(sku, str) and sku.startswith("DataZone") and location in REGIONS - DATA_ZONES:
        text = (
            f"{sku} is for regions of the EU and the US, and {location} is none: use GlobalStandard"
        )
        yield "chatSkuName", "problem", text

    if sku in {"Standard", "ProvisionedManaged"}:
        text = (
            f"{sku} is offered for few models: compare with `az cognitiveservices model list "
            f"--location {quote(str(location))}`"
        )
        yield "chatSkuName", "note", text
