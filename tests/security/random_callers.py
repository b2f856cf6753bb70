"""Random callers, the projects that they ask for, and what docs/access.md says of both.

What is right is worked out here from the words of that document alone, without `drift/auth`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

TENANT = "11111111-2222-3333-4444-555555555555"
KEY = "canary key with spaces"
PROJECTS = (
    "team-a",
    "team-b",
    "team-",
    "team",
    "Team-a",
    "team-a ",
    " team-a",
    "team-*",
    "te*m",
    "*",
    "t\u0435am-a",  # a Cyrillic letter in the place of the e
    "\uff54eam-a",  # a wide t
    "caf\u00e9",
    "cafe\u0301",
    "a b",
    "a/b",
    "a%2Fb",
    "a+b",
    "a?project_id=team-a",
    "a#b",
    "a&project_id=team-a",
    "..",
    "\U0001f4a1-1",
    "p",
    "p\u200b",
    '"p"',
    "x" * 128,
)
EXISTING = (*PROJECTS[::2], "team-b", "team-*", "a/b", "..", "cafe\u0301")
"""Those that hold something."""

Mode = Literal["function", "keys", "easyauth"]
Granted = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Asker:
    """Who asks: what the function is set to, what a request carries, and what that is worth.

    `granted` are pairs of a right and a pattern; a stranger is not known at all.
    """

    mode: Mode
    settings: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str]
    granted: Granted = frozenset()
    is_stranger: bool = False

    def may_read(self, project: str) -> bool:
        """Tell whether docs/access.md lets this caller read the project."""
        return self.may(project, "read")

    def may(self, project: str, wanted: str) -> bool:
        """Tell whether docs/access.md gives this caller a right on the project."""
        return self.mode == "function" or any(
            right == wanted and _means(pattern, project) for right, pattern in self.granted
        )

    @property
    def only_project(self) -> str | None:
        """The project of a caller who has exactly one, named whole, or may read exactly one."""
        patterns = {pattern for _, pattern in self.granted}
        named_whole = [pattern for pattern in patterns if pattern[-1] != "*"]
        if self.mode != "function" and len(patterns) == 1 == len(named_whole):
            return named_whole[0]
        readable = {project for project in EXISTING if self.may_read(project)}
        return readable.pop() if len(readable) == 1 else None

    def status(self, project: str | None) -> int:
        """Return what a good request of this caller to a project gets, None for one left out."""
        if self.is_stranger:
            return 401
        if self.mode != "function" and not self.granted:
            return 403
        meant = self.only_project if project is None else project
        if meant is None:
            return 400
        return 200 if self.may_read(meant) else 403


def _means(pattern: str, project: str) -> bool:
    if pattern[-1] == "*":
        return project[: len(pattern) - 1] == pattern[:-1]
    return project == pattern


def asker(chance: Random) -> Asker:
    """Draw a caller of any mode."""
    mode: Mode = chance.choice(("function", "keys", "keys", "easyauth", "easyauth"))
    if mode == "function":
        return Asker(mode, {}, {**_key(chance, KEY), **principal(("roles", "read:team-a"))})
    return with_key(chance) if mode == "keys" else signed_in(chance)


def with_key(chance: Random) -> Asker:
    """Draw a caller with a key of ours, beside one who may do everything."""
    patterns = _patterns(chance)
    rights = chance.choice((["read"], ["read"], ["read", "write"], ["write"]))
    granted = frozenset((right, pattern) for right in rights for pattern in patterns)
    entries = [
        key_entry("everything", "another key", ["*"], ["read", "write"]),
        key_entry("asker", KEY, patterns, rights),
    ]
    chance.shuffle(entries)
    settings = {"AUTH_MODE": "keys", "PROJECT_KEYS": json.dumps(entries)}
    # Whatever else a request carries, the platform did not write it in this mode.
    forged = principal(("roles", "read:*")) if chance.random() < 0.5 else {}
    if chance.random() < 0.2:
        wrong = chance.choice((KEY.upper(), KEY.replace(" ", ""), entries[0]["sha256"], "*"))
        carried = chance.choice(({}, _key(chance, wrong), {"x-functions-key": KEY}))
        return Asker("keys", settings, {**forged, **carried}, is_stranger=True)
    return Asker("keys", settings, {**forged, **_key(chance, KEY)}, granted)


def signed_in(chance: Random) -> Asker:
    """Draw a caller whom the platform has authenticated, with roles, a claim, both or neither."""
    settings = {
        "AUTH_MODE": "easyauth",
        "AUTH_TENANT_ID": TENANT,
        "WEBSITE_AUTH_ENABLED": "true",
        "PROJECT_CLAIM": "projects",
    }
    useless = chance.choice(("read", "read:", "read:te*m", "admin:*", "READ:*", "team-a"))
    claims = [("roles", useless), ("groups", "*")]
    granted = set()
    for pattern in _patterns(chance) if chance.random() < 0.8 else []:
        right = chance.choice(("read", "read", "write"))
        claims.append(("roles", f"{right}:{pattern}"))
        if "?" not in pattern:  # where a role's condition begins, and here says nothing
            granted.add((right, pattern))
    if chance.random() < 0.3:
        pattern = _pattern(chance)
        claims.append(("projects", pattern))
        granted.add(("read", pattern))

    key = _key(chance, KEY) if chance.random() < 0.5 else {}
    if chance.random() < 0.2:
        foreign = principal(*claims, tenant="99999999-2222-3333-4444-555555555555")
        carried = chance.choice(({}, foreign, {"x-ms-client-principal": "e30="}))
        return Asker("easyauth", settings, {**key, **carried}, is_stranger=True)
    return Asker("easyauth", settings, {**key, **principal(*claims)}, frozenset(granted))


def project_for(chance: Random, who: Asker) -> str | None:
    """Draw a project to ask for: one of the caller's, one that looks like it, any, or none."""
    own = _beginning(chance, who) + chance.choice(("", "", "x", "*"))
    matching = [project for project in EXISTING if who.may_read(project)] or PROJECTS
    others = (chance.choice(matching), chance.choice(EXISTING), None)
    project = chance.choice((own, chance.choice(matching), *others))
    return project if project is None else project[:128] or "p"


def look_alikes(chance: Random, who: Asker) -> list[str]:
    """Return what looks like a project of the caller's, or is written like it."""
    project = _beginning(chance, who) or "team-a"
    written = (
        *(unicodedata.normalize(form, project) for form in ("NFC", "NFD", "NFKC")),
        project.swapcase(),
        f"{project} ",
        f"{project}\n",
        f"{project}\u200b",
        f"{project}*",
        f"{project}/..",
        project.replace("/", "%2F"),
        project[:-1],
    )
    return [one for one in dict.fromkeys(written) if 1 <= len(one) <= 128]


def _beginning(chance: Random, who: Asker) -> str:
    """Return a pattern of the caller's, without the `*`."""
    patterns = sorted(pattern for _, pattern in who.granted)
    return chance.choice(patterns or PROJECTS).removesuffix("*")


def _patterns(chance: Random) -> list[str]:
    return sorted({_pattern(chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))})


def _pattern(chance: Random) -> str:
    project = chance.choice([project for project in PROJECTS if "*" not in project])
    length = chance.choice((project.find("-") + 1, chance.randint(0, min(len(project), 6))))
    return project if chance.random() < 0.6 else f"{project[:length]}*"


def key_entry(name: str, key: str, projects: list[str], rights: list[str]) -> dict[str, Any]:
    """Return an entry of PROJECT_KEYS."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return {"name": name, "sha256": digest, "projects": projects, "rights": rights}


def _key(chance: Random, key: str) -> dict[str, str]:
    return chance.choice(
        (
            {"x-api-key": key},
            {"x-api-key": f"  {key} "},
            {"authorization": f"Bearer {key}"},
            {"authorization": f"bearer  {key}", "x-api-key": key},
        )
    )


def principal(*claims: tuple[str, str], tenant: str = TENANT, typ: str = "aad") -> dict[str, str]:
    """Return the header of the platform's authentication, for somebody with these claims."""
    listed = [("tid", tenant), ("oid", "asker"), *claims]
    said = {"auth_typ": typ, "claims": [{"typ": name, "val": value} for name, value in listed]}
    return {"x-ms-client-principal": base64.b64encode(json.dumps(said).encode()).decode()}
