"""The grammar of filters: what is read, what is refused, and whose filters hold together."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from drift.auth.caller import Caller, Grant
from drift.auth.project_keys import KeysError, hash_of, parse
from drift.contracts.chat_completions import CompletionRequest
from drift.contracts.dify import DifyRequest
from drift.contracts.filter import LEVELS, MAX_LEAVES, Filter, combined, equal_to
from drift.contracts.request import RetrieveRequest
from drift.core.errors import ForbiddenError, InvalidRequestError
from drift.http import http
from drift.integrations import chat_completions, dify
from tests.unit.test_principal import somebody

SCHEMA = Draft202012Validator(json.loads(json.dumps(Filter.model_json_schema())))


def where(type_: str, key: str, value: Any) -> dict[str, Any]:
    return {"type": type_, "key": key, "value": value}


def every(*filters: Any, how: str = "and") -> dict[str, Any]:
    return {"type": how, "filters": [*filters]}


def nested(depth: int) -> dict[str, Any]:
    return every(nested(depth - 1)) if depth else HR


HR = where("eq", "tag", "hr")


def asked(given: Any) -> Filter:
    request = http.parse(json.dumps({"query": "x", "filter": given}).encode(), RetrieveRequest)
    assert request.filter is not None
    return request.filter


GOOD = [
    HR,
    where("nin", "document_id", ["a", "b"]),
    where("prefix", "path", "hr/"),
    where("gte", "created_at", "2024-02-29"),
    where("in", "updated_at", ["2024-01-01T00:00:00z", "2024-01-01T00:00:00.5+05:30"]),
    where("lt", "metadata.size.of-it_1", 3.5),
    where("eq", "metadata.final", True),
    where("in", "metadata.size", [3, "3", False]),
    where("eq", "metadata.__proto__", ""),
    nested(3),
    every(*[HR] * MAX_LEAVES, how="or"),
]


@pytest.mark.parametrize("given", GOOD)
def test_what_is_read_is_as_the_schema_says(given: dict[str, Any]) -> None:
    assert asked(given).model_dump(mode="json", exclude_none=True) == given
    SCHEMA.validate(given)


UNKNOWN = "must have a known `key`: document_id, path, source, media_type, tag, created_at"
BAD = [
    (nested(50), "goes deeper than 3 levels"),
    (nested(4), "goes deeper than 3 levels"),
    (where("in", "tag", ["x"] * 10_000), "compares with 10000 values; 1 to 100 are read"),
    (where("in", "tag", []), "compares with 0 values"),
    (where("eq", "tag", ""), "must compare `tag` with text that is not empty"),
    (where("in", "tag", ["a", ""]), "must compare `tag` with text that is not empty"),
    (where("eq", "tag", 3), "must compare `tag` with text"),
    (where("eq", "tag", None), "must have a `value`, for `eq` one value"),
    (where("eq", "tag", ["hr"]), "must have a `value`, for `eq` one value"),
    (where("in", "tag", "hr"), "must have a `value`, for `in` a list of 1 to 100 values"),
    (where("gt", "tag", "hr"), "cannot order by `tag`"),
    (where("prefix", "source", "a"), "may ask for a `prefix` of `path` alone"),
    (where("eq", "__proto__", "x"), UNKNOWN),
    (where("eq", "tag.of", "x"), UNKNOWN),
    (where("eq", "metadata.", "x"), UNKNOWN),
    (where("eq", "metadata.a`b", "x"), UNKNOWN),
    (where("eq", "metadata.a'b\"]", "x"), UNKNOWN),
    (where("eq", "metadata." + "a" * 65, "x"), UNKNOWN),
    (where("eq", "metadata.a", "x" * 1001), "more than 1000 characters"),
    (where("eq", "metadata.a", "a\0"), "must not contain NUL"),
    (where("eq", "metadata.a", 10**19), "compares with a number beyond"),
    (where("eq", "metadata.a", -1e300), "compares with a number beyond"),
    (where("eq", "metadata.a", {"b": 1}), ""),
    (where("like", "tag", "hr"), "must be 'eq'"),
    ({**HR, "filters": [HR]}, "has `filters`, which only and and or have"),
    (every(), "must have `filters`, at least one"),
    ({"type": "or"}, "must have `filters`, at least one"),
    ({**every(HR), "key": "tag"}, "has `key` or `value`"),
    ({**HR, "op": 1}, "is not a field of this request"),
    ({"key": "tag", "value": "hr"}, "is required"),
    ([HR], "must be an object"),
    ("tag=hr", "must be an object"),
]
UNSAID = [  # what the schema has no words for, or says by a format, or as JavaScript reads `$`
    (where("eq", "metadata.a\n", "x"), UNKNOWN),
    (every(*[HR] * 11, every(*[HR] * 11)), "has 22 comparisons; up to 20 are read"),
    (where("gt", "created_at", "2024-02-30"), "a time of RFC 3339"),
    (where("gt", "created_at", "1403-13-01"), "a time of RFC 3339"),
    (where("gt", "created_at", "R6.01.01"), "a time of RFC 3339"),
    (where("gt", "created_at", "2024-W01-1"), "a time of RFC 3339"),
    (where("gt", "created_at", "٢٠٢٤-01-01"), "a time of RFC 3339"),
    (where("eq", "created_at", 1704067200), "a time of RFC 3339"),
]


@pytest.mark.parametrize(("given", "told"), BAD + UNSAID)
def test_what_cannot_be_asked_is_said_with_its_field(given: Any, told: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        asked(given)
    problems = refused.value.problems
    assert all(problem.field.startswith("filter") for problem in problems)
    assert told in problems[0].message


@pytest.mark.parametrize("given", [given for given, _ in BAD])
def test_the_schema_refuses_what_is_refused(given: Any) -> None:
    assert not SCHEMA.is_valid(given)


def test_a_chat_is_asked_with_its_filter() -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "filter": HR}
    request = http.parse(json.dumps(body).encode(), CompletionRequest)
    assert chat_completions.question_of(request).filter == asked(HR)


@pytest.mark.parametrize("operator", ["contains", "not contains", "end with", "empty", "not empty"])
def test_an_operator_of_dify_that_no_filter_has_is_refused_by_its_name(operator: str) -> None:
    condition = {"name": "size", "comparison_operator": operator}
    told = {"query": "x", "metadata_condition": {"conditions": [condition]}}
    with pytest.raises(InvalidRequestError) as refused:
        dify.question_of(DifyRequest.model_validate(told))
    (problem,) = refused.value.problems
    assert problem.field == "metadata_condition"
    assert f"must not ask for `{operator}`" in problem.message


def test_conditions_of_dify_become_a_filter() -> None:
    def condition(names: Any, operator: str, value: Any) -> dict[str, Any]:
        return {"name": names, "comparison_operator": operator, "value": value}

    conditions = [condition(["tag", "team"], "is not", "hr"), condition("size", "≥", "3")]
    told = {"logical_operator": "or", "conditions": conditions}
    request = DifyRequest.model_validate({"query": "x", "metadata_condition": told})
    assert dify.question_of(request).filter == asked(
        every(
            every(where("ne", "tag", "hr"), where("ne", "metadata.team", "hr"), how="or"),
            every(where("gte", "metadata.size", 3), how="or"),
            how="or",
        )
    )


# ---------------------------------------------------------------------------------- combining them
def test_filters_of_a_caller_and_of_a_request_hold_together_at_any_depth() -> None:
    assert combined("and", [None, None]) is None
    deep = asked(nested(3))
    assert combined("and", [None, deep]) is deep
    both = combined("and", [combined("or", [deep, deep]), deep])
    assert both is not None
    conditions: Any = both.conditions()
    for _ in range(LEVELS):
        assert isinstance(conditions, list)
        conditions = conditions[0]
    assert conditions == {"key": "tags", "type": "in", "values": ["hr"], "negated": False}


def test_pairs_ask_for_any_value_of_each_key() -> None:
    assert equal_to([("tag", "hr"), ("source", "a"), ("tag", "all")]) == asked(
        every(where("in", "tag", ["hr", "all"]), where("in", "source", ["a"]))
    )
    for pairs in ([], [("of", "x")], [("tag", "")], [(f"metadata.{n}", "") for n in range(21)]):
        with pytest.raises(ValidationError):
            equal_to(pairs)


# ----------------------------------------------------------------------------- of keys and of roles
def test_a_caller_sees_what_any_of_its_grants_lets_through() -> None:
    hr, it = asked(HR), asked(where("eq", "tag", "it"))
    read = frozenset[Any]({"read"})
    one, two = Grant("a", read, hr), Grant("*", read, it)
    assert Caller("x", (one,)).project("a").filter == hr
    assert Caller("x", (one, two)).project("a").filter == combined("or", [hr, it])
    assert Caller("x", (one, two)).project("b").filter == it
    assert Caller("x", (one, two, Grant("a*", read))).project("a").filter is None


def test_what_may_be_written_opens_no_more_to_read() -> None:
    hr = asked(HR)
    grants = (Grant("a", frozenset({"read"}), hr), Grant("a", frozenset({"write"})))
    assert Caller("x", grants).project("a").filter == hr


def test_a_key_with_a_filter_only_reads() -> None:
    entry = {"name": "x", "sha256": hash_of(b"k"), "projects": ["a"], "filter": HR}
    assert parse(json.dumps([entry])).caller(b"k").project("a").filter == asked(HR)
    for wrong, told in (
        ({"rights": ["read", "write"]}, "entry 1, with a filter a key may only read"),
        ({"filter": where("eq", "of", "canary")}, "entry 1, filter: must have a known `key`"),
    ):
        with pytest.raises(KeysError) as refused:
            parse(json.dumps([{**entry, **wrong}]))
        assert told in str(refused.value)
        assert "canary" not in str(refused.value)


def test_a_role_may_have_a_condition() -> None:
    caller = somebody(("roles", "read:a*?tag=hr&tag=all%20of%20us&metadata.team=x"))
    pairs = [("tag", "hr"), ("tag", "all of us"), ("metadata.team", "x")]
    assert caller.project("ab").filter == equal_to(pairs)


@pytest.mark.parametrize(
    "role",
    ["read:a?", "read:a?tag", "read:a?tag=", "read:a?of=x", "read:a?tag=x&", "write:a?tag=hr"],
)
def test_a_condition_that_says_nothing_opens_nothing(role: str) -> None:
    with pytest.raises(ForbiddenError):
        somebody(("roles", role)).project("a", "write" if role.startswith("write") else "read")
