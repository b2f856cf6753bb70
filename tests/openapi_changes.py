"""What of an OpenAPI document breaks a client that was written for an older one.

`python -m tests.openapi_changes` prints the document as it is now, as tests keep it of a release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drift.routes import document

RELEASED = Path(__file__).parent / "fixtures" / "openapi_released.json"
"""What the last release has promised; a release writes it anew."""
_WORDS = {"description", "summary", "title"}
_AT_MOST = ("maxLength", "maximum", "exclusiveMaximum", "maxItems")
_AT_LEAST = ("minLength", "minimum", "exclusiveMinimum", "minItems")

Schema = Mapping[str, Any]


def promised(described: Any) -> Any:
    """Return a document without the words in it, which promise nothing to a machine."""
    if isinstance(described, list):
        return [promised(one) for one in described]
    if not isinstance(described, dict):
        return described
    # A property may be called so: then its value is a schema.
    return {
        name: promised(value)
        for name, value in described.items()
        if name != "example" and (name not in _WORDS or isinstance(value, dict))
    }


@dataclass
class Comparison:
    """Two documents, the older one first; each break is a line that says where it is."""

    old: Schema
    new: Schema
    _met: set[tuple[str, str, bool]] = field(default_factory=set)

    def breaks(self) -> list[str]:
        """Return every break, none where a client of the old document needs no change."""
        return list(self._paths())

    def _paths(self) -> Iterator[str]:
        for path, methods in self.old["paths"].items():
            for method, operation in methods.items():
                at = f"{method.upper()} {path}"
                now = self.new["paths"].get(path, {}).get(method)
                if now is None:
                    yield f"{at} is gone"
                    continue
                yield from self._parameters(operation, now, at)
                yield from self._contents(
                    operation.get("requestBody", {}), now.get("requestBody", {}), at, asked=True
                )
                yield from self._responses(operation["responses"], now["responses"], at)

    def _parameters(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        before, now = (
            {(one["in"], one["name"]): one for one in operation.get("parameters", ())}
            for operation in (old, new)
        )
        for key, one in now.items():
            if one.get("required") and not before.get(key, {}).get("required"):
                yield f"{at}: the parameter {key[1]} is now required"
        for key, one in before.items():
            if key not in now:
                yield f"{at}: the parameter {key[1]} is gone"
            else:
                yield from self._schemas(
                    one["schema"], now[key]["schema"], f"{at} {key[1]}", asked=True
                )

    def _responses(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        for status, answer in old.items():
            now = new.get(status)
            if now is None:  # an error that comes no more breaks nobody
                if status < "400":
                    yield f"{at}: {status} is gone"
                continue
            for name, header in answer.get("headers", {}).items():
                if header.get("required") and not now.get("headers", {}).get(name, {}).get(
                    "required"
                ):
                    yield f"{at} {status}: the header {name} is no longer there for sure"
            yield from self._contents(answer, now, f"{at} {status}", asked=False)

    def _contents(self, old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
        if asked and new.get("required") and not old.get("required"):
            yield f"{at}: a body is now required"
        for kind, content in old.get("content", {}).items():
            if kind not in new.get("content", {}):
                yield f"{at}: {kind} is gone"
            else:
                now = new["content"][kind].get("schema", {})
                yield from self._schemas(content.get("schema", {}), now, at, asked=asked)

    # ------------------------------------------------------------------------------------ schemas
    def _schemas(self, old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
        """Compare what is `asked` of a client, or what it is answered."""
        pair = (str(old.get("$ref")), str(new.get("$ref")), asked)
        if "$ref" in old and pair in self._met:
            return
        self._met.add(pair)
        before, now = _kinds(self.old, old), _kinds(self.new, new)
        lost = set(before) - set(now) if asked else set(now) - set(before)
        if lost and not (asked and "any" in now):
            yield f"{at}: {'|'.join(sorted(before))} became {'|'.join(sorted(now))}"
        for kind in before.keys() & now.keys():
            yield from self._alternatives(before[kind], now[kind], at, asked=asked)

    def _alternatives(
        self, old: Sequence[Schema], new: Sequence[Schema], at: str, *, asked: bool
    ) -> Iterator[str]:
        for place, one in enumerate(old):
            # Of several of a kind it is the nearest that it has become, where they are others now.
            others = new[place : place + 1] if len(old) == len(new) else new
            found = (list(self._one(one, other, at, asked=asked)) for other in others)
            yield from min(found, key=len)

    def _one(self, old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
        if asked:
            yield from _tightened(old, new, at)
        needed, still = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(still - needed if asked else needed - still):
            yield f"{at}.{name} is now {'required' if asked else 'optional'}"
        for name, part in old.get("properties", {}).items():
            if name not in new.get("properties", {}):
                yield f"{at}.{name} is gone"
            else:
                yield from self._schemas(part, new["properties"][name], f"{at}.{name}", asked=asked)
        for inner in ("items", "additionalProperties"):
            if isinstance(old.get(inner), dict):
                now = new.get(inner)
                now = now if isinstance(now, dict) else {}
                yield from self._schemas(old[inner], now, f"{at}[]", asked=asked)


def _kinds(whole: Schema, schema: Schema) -> dict[str, list[Schema]]:
    """Return the schemas that a value may have, by their JSON types; "any" for any."""
    if "$ref" in schema:
        return _kinds(whole, whole["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    found: dict[str, list[Schema]] = {}
    for one in schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or ():
        for kind, schemas in _kinds(whole, one).items():
            found.setdefault(kind, []).extend(schemas)
    if found:
        return found
    told = schema.get("type", "any")
    return {kind: [schema] for kind in ([told] if isinstance(told, str) else told)}


def _tightened(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Tell what a request may no longer hold."""
    before, now = _values(old), _values(new)
    if now is not None and (before is None or set(before) - set(now)):
        yield f"{at}: {before or 'any'} became {now}"
    if new.get("pattern", old.get("pattern")) != old.get("pattern"):
        yield f"{at}: the pattern is another"
    for names, sign in ((_AT_MOST, 1), (_AT_LEAST, -1)):
        for name in names:
            if name in new and (name not in old or sign * new[name] < sign * old[name]):
                yield f"{at}: {name} is now {new[name]}"
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{at}: other fields are now refused"


def _values(schema: Schema) -> list[str] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if values is None else [str(one) for one in values]


if __name__ == "__main__":
    print(json.dumps(promised(document()), separators=(",", ":")))  # noqa: T201 - a document
