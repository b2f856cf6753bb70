"""JSON as models write it: what has one meaning is read, and what was cut never is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from drift.core.lenient_json import read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"""{'a': 'It\'s', "b": "It's", 'c': [True, False, None, 1.5,],}""",
         {"a": "It's", "b": "It's", "c": [True, False, None, 1.5]}),
        ('{"a": 1, // c, }\n/* } */ "b": "http://x # no", # y\n}', {"a": 1, "b": "http://x # no"}),
        ('{a: "x", b_1 : 2e5, c: -1.5E+3}', {"a": "x", "b_1": 2e5, "c": -1500.0}),
        ('{“a”: “x "y"”}', {"a": 'x "y"'}),
        (r'{"a": "It\'s \_x \alpha \u00e9"}', {"a": "It's \\_x \\alpha é"}),
        (r"""{'a': 'say "hi" \\ \x41'}""", {"a": 'say "hi" \\ A'}),
        ("{'a': 'one\ntwo'}", {"a": "one\ntwo"}),
        ("{'a': '\ud83d'}", {"a": "\ud83d"}),
        ('{"a": "True, None,} // \'x\'",}', {"a": "True, None,} // 'x'"}),
    ],
)  # fmt: skip
def test_what_has_one_meaning_is_read(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    "whole", ["{'a': ['b', {'c': True}], 'd': 'e'}", '{"a": [1, /* x */ 2,], b: "c",}']
)
def test_no_beginning_of_an_object_is_read(whole: str) -> None:
    for end in range(len(whole)):
        with pytest.raises(json.JSONDecodeError):
            read(whole[:end])


@pytest.mark.parametrize("text", ["{'a': 'It's'}", "{'a' 'b'}", "{'a': tru}", "{'a': 1} b", "a"])
def test_what_is_not_plain_is_not_guessed(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        read(text)


@pytest.mark.parametrize(
    "piece",
    ["'", "\\'", '\\"', "/*", "a :", "“", ", ", "'a':", "a" + " " * 99, "," + " " * 99, "["],
)
def test_reading_is_linear(piece: str) -> None:
    for begun in ("{", "{'", '{"'):
        with pytest.raises((ValueError, RecursionError)):
            read(begun + piece * (40_000 // len(piece)))
