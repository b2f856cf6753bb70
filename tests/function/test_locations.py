"""Where each citation stands, for who asks for it, and the shape of seed 000 for who does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.function.calling import Caller, citations
from tests.function.corpus import ADDRESS, Corpus

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CITED = ["chunk_id", "span", "document_name"]
PLACED = ["document_id", "heading", "place", "start", "end", "source_uri"]


def assert_located(document: dict[str, Any], corpus: Corpus) -> None:
    """Check that each citation can be looked up in its document."""
    cited = citations(document)
    assert cited
    for citation in cited:
        name = citation["document_name"]
        assert list(citation) == [*CITED, *PLACED]
        assert corpus.texts[name][citation["start"] : citation["end"]] == citation["span"]
        assert citation["source_uri"] == f"{ADDRESS}/{name.replace(' ', '%20')}.md"
        assert citation["heading"].startswith(name)
        place, _, places = citation["place"].partition(" of ")
        assert 1 <= int(place) <= int(places)


async def test_without_the_wish_the_answer_is_the_same_bytes_with_nothing_more(
    function: Caller, corpus: Corpus
) -> None:
    plain = (await function.ask()).content
    located = await function.answer(include=["locations"])
    assert_located(located, corpus)
    for citation in citations(located):
        for name in PLACED:
            del citation[name]
    written = json.dumps(located, ensure_ascii=False, separators=(",", ":"))
    assert plain == written.encode()
    assert list(json.loads(plain)) == ["final_answer", "key_facts", "residual_uncertainty"]
    assert {tuple(citation) for citation in citations(json.loads(plain))} == {tuple(CITED)}
