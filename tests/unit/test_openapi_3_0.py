"""The description in both versions of OpenAPI, and what importing tools ask of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from drift.http.description import as_3_0
from drift.routes import document

OLD = as_3_0(document())
OPERATIONS = [operation for methods in OLD["paths"].values() for operation in methods.values()]


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            yield from nodes(one)


def test_each_version_is_valid() -> None:
    OpenAPIV31SpecValidator(document()).validate()
    OpenAPIV30SpecValidator(OLD).validate()
    assert (document()["openapi"][:3], OLD["openapi"]) == ("3.1", "3.0.3")


def test_the_older_one_has_nothing_of_the_newer() -> None:
    for node in nodes(OLD):
        assert node.get("type") != "null"
        assert not isinstance(node.get("type"), list)
        assert {"type": "null"} not in node.get("anyOf", ())
        assert "$ref" not in node or len(node) == 1, "what stands beside a reference is not read"
        assert "const" not in node or isinstance(node["const"], dict)
        assert node.get("default", "") is not None


def test_what_may_be_null_stays_so() -> None:
    project = OLD["components"]["schemas"]["RetrieveRequest"]["properties"]["project_id"]
    assert project["nullable"] is True
    assert project["maxLength"] == 128
    page = OLD["components"]["schemas"]["CitationOut"]["properties"]["page"]
    assert page == {
        "title": "Page",
        "nullable": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
    }


def test_operations_have_names_that_tools_take() -> None:
    names = [operation["operationId"] for operation in OPERATIONS]
    assert len(set(names)) == len(names)
    assert all(operation["summary"] for operation in OPERATIONS)
    assert OLD["info"]["description"]
    for operation in OPERATIONS:
        for parameter in operation.get("parameters", ()):
            assert parameter.get("description"), (operation["operationId"], parameter["name"])
    assert list(OLD["components"]["securitySchemes"]) == ["functionKey"]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"const": 1}, {"enum": [1]}),
        ({"properties": {"const": {"const": 1}}}, {"properties": {"const": {"enum": [1]}}}),
        ({"properties": {"anyOf": {"type": "null"}}}, {"properties": {"anyOf": {"type": "null"}}}),
        (
            {"anyOf": [{"$ref": "#/a"}, {"type": "null"}], "title": "A"},
            {"allOf": [{"$ref": "#/a"}], "nullable": True, "title": "A"},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]},) * 2,
    ],
)
def test_a_schema_says_the_same(schema: dict[str, Any], told: dict[str, Any]) -> None:
    info = {"license": {"name": "MIT", "identifier": "MIT"}}
    assert as_3_0({"info": info, "schema": schema})["schema"] == told
