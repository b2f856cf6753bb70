"""PROJECT_KEYS: what is wrong is named by its place, and nothing that stands there is repeated."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.auth.project_keys import KeysError, hash_of, parse
from drift.core.errors import UnauthenticatedError

SECRET = "drift_canary-key"
ENTRY: dict[str, Any] = {
    "name": "team a",
    "sha256": hash_of(SECRET.encode()),
    "projects": ["a", "team-*"],
    "rights": ["read", "write"],
    "requests_per_minute": 60,
    "tokens_per_day": 2_000_000,
}


def value(*entries: object) -> str:
    return json.dumps(entries)


def changed(**fields: Any) -> dict[str, Any]:
    return {**ENTRY, **fields}


def test_a_key_gives_its_projects_rights_and_limits() -> None:
    caller = parse(value(ENTRY)).caller(SECRET.encode())
    assert caller.name == "team a"
    assert caller.may("team-x", "write")
    assert not caller.may("b", "read")
    assert (caller.quota.requests_per_minute, caller.quota.tokens_per_day) == (60, 2_000_000)


def test_a_key_reads_and_has_no_limits_unless_it_is_said() -> None:
    entry = {name: ENTRY[name] for name in ("name", "sha256", "projects")}
    caller = parse(value(entry)).caller(SECRET.encode())
    assert caller.may("a", "read")
    assert not caller.may("a", "write")
    assert (caller.quota.requests_per_minute, caller.quota.tokens_per_day) == (None, None)


def test_keys_of_one_name_are_valid_side_by_side() -> None:
    keys = parse(value(ENTRY, changed(sha256=hash_of(b"new"))))
    assert keys.caller(SECRET.encode()).name == keys.caller(b"new").name == "team a"


@pytest.mark.parametrize("key", [b"", b"drift_canary-kez", hash_of(SECRET.encode()).encode()])
def test_another_key_is_nobody(key: bytes) -> None:
    with pytest.raises(UnauthenticatedError) as refused:
        parse(value(ENTRY)).caller(key)
    assert refused.value.reason == "unknown key"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "is not valid JSON"),
        ("[NaN]", "is not valid JSON"),
        ("{}", "must be a list with at least one key"),
        ("null", "must be a list with at least one key"),
        (value(ENTRY, 5), "entry 2 must be an object"),
        (value(changed(sha256=SECRET)), "entry 1, sha256: must be the SHA-256"),
        (value(changed(sha256="A" * 64)), "entry 1, sha256: must be the SHA-256"),
        (value(changed(**{SECRET: 1})), "entry 1 has a field that is none of name"),
        (value(changed(projects="a")), "entry 1, projects"),
        (value(changed(projects=["a", SECRET + "*x"])), "entry 1, projects: may have `*`"),
        (value(changed(rights=["admin"])), "entry 1, rights"),
        (value(changed(name="a\nb")), "entry 1, name: must be printable"),
        (value(changed(requests_per_minute=0)), "entry 1, requests_per_minute"),
        (value(changed(tokens_per_day="5")), "entry 1, tokens_per_day"),
        (value(ENTRY, changed(name="b")), "entries 1, 2 have the same sha256"),
        (value(ENTRY) + " " * 25_000, "is longer than 25000 bytes"),
    ],
)
def test_a_value_that_cannot_be_used_names_the_place_and_no_secret(text: str, place: str) -> None:
    with pytest.raises(KeysError) as refused:
        parse(text)
    assert place in str(refused.value)
    assert "canary" not in str(refused.value)
    assert hash_of(SECRET.encode()) not in str(refused.value)


@pytest.mark.parametrize("field", ["sha256", "projects", "rights"])
@pytest.mark.parametrize("spelled", [str, lambda field: f"\\u{ord(field[0]):04x}{field[1:]}"])
def test_a_field_that_stands_twice_is_refused_whatever_it_says(field: str, spelled: Any) -> None:
    same = json.dumps(ENTRY[field])
    entry = json.dumps(ENTRY)[:-1] + f', "{spelled(field)}": {same}}}'
    with pytest.raises(KeysError) as refused:
        parse(f"[{json.dumps(changed(sha256='0' * 64))}, {entry}]")
    assert refused.value.problems == (f"entry 2, {field}: stands there twice",)


@pytest.mark.parametrize("other", ["Projects", "project\u017f"])
def test_a_field_in_another_spelling_is_no_field(other: str) -> None:
    with pytest.raises(KeysError, match=re.escape("entry 1 has a field that is none of name")):
        parse(value(changed(**{other: ["*"]})))


@given(st.text(max_size=300) | st.from_regex(r"\[\{\"name\":.{0,80}\}\]"))
def test_no_text_raises_anything_else(text: str) -> None:
    with pytest.raises(KeysError):
        parse(text)
