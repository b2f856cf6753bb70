"""Where `drift serve` says that the page is."""

from __future__ import annotations

import pytest

from drift.offline.commands.work.serve import where_to_look
from drift.offline.commands.work.trial import TrialKey

URL = "http://127.0.0.1:7071"
KEYS = (TrialKey("drift_first", "mine", is_held=True), TrialKey("drift_other", "b", is_held=False))


@pytest.mark.parametrize(
    ("keys", "address"), [((), f"{URL}/rag"), (KEYS, f"{URL}/rag#key=drift_first")]
)
def test_a_key_stands_where_no_browser_sends_it(keys: tuple[TrialKey, ...], address: str) -> None:
    assert where_to_look(URL, keys) == f"The page to ask in: {address}"
