"""What `drift serve` says: where the page is, and what to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from drift.local.cli.trial import TrialKey, how_to_ask, where_to_look

URL = "http://127.0.0.1:7071"
KEYS = (TrialKey("drift_first", "mine", is_held=True), TrialKey("drift_other", "b", is_held=False))


@pytest.mark.parametrize(
    ("keys", "address"), [((), f"{URL}/rag"), (KEYS, f"{URL}/rag#key=drift_first")]
)
def test_a_key_stands_where_no_browser_sends_it(keys: tuple[TrialKey, ...], address: str) -> None:
    assert where_to_look(URL, keys) == f"The page to ask in: {address}"


@pytest.mark.parametrize(
    ("projects", "said", "unsaid"),
    [
        ((), "drift ingest --sample --data-dir '/my data'", "QUESTION"),
        (("mine",), '"query": "QUESTION", "project_id": "mine"', "--sample"),
        (("a", "python-reference"), '"project_id": "python-reference"', "QUESTION"),
        (None, '"project_id": "PROJECT"', "--sample"),
    ],
    ids=["nothing", "another project", "the sample", "unknown"],
)
def test_the_command_that_is_printed_finds_something_or_fills_the_graph(
    projects: tuple[str, ...] | None, said: str, unsaid: str
) -> None:
    text = how_to_ask(URL, (), "function", projects, Path("/my data"))
    assert said in text
    assert unsaid not in text
