"""Pure: secrets of configurations: files that hold nothing else, and values behind their names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from drift.indexing.documents import CONFIGURATIONS

_DATA = frozenset(
    ("", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".xml", ".txt")
)
_OF_SECRETS = re.compile(r"(?:^|[-_.])(?:secrets?|credentials?|htpasswd|pgpass|netrc)(?:$|[-_.])")
_OF_KEYS = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$")

_BEGINS_A_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_PRIVATE_KEY = re.compile(_BEGINS_A_KEY.pattern + r"[\s\S]*?(?:-----END[A-Z -]{0,60}|\Z)")
_TOKEN = re.compile(
    r"(?:(?:sk|glpat|xox[a-z])-[\w-]{16,}|(?:gh[oprsu]|github_pat|[prs]k)_\w{16,}|AKIA[A-Z0-9]{16}"
    r"|eyJ(?<![\w-]eyJ)[\w-]{10,}\.[\w-]{10,}\.[\w-]+)"
)
_IN_ADDRESS = re.compile(r"(?<=://)([^\s:/@\"'<>]{0,64}:)([^\s/@\"'<>]{1,256})(?=@)")
_NAMES = (
    r"(?:password|passwd|passphrase|pwd|(?<![a-z])pass|secret|token|credentials?|identified by"
    r"|(?:api|access|private|secret|account|auth|signing|encryption)[_.-]?key(?:[_.-]base)?)"
)
_NAMED = re.compile(
    rf"(?i)(?P<name>{_NAMES}(?P<quote>[\"'])?(?:,?\s{{1,80}}[\"']?value[\"']?)?"
    r"(?:\s{0,4}(?:[:=]|=>)[ \t]{0,40}|>|[ \t]{1,4}(?=')))"
    r"(?P<value>\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*'"
    r"|(?(quote)[^\s,}\]]+|[^\s|}<\"'][^\n|}<]*))"
)
_NO_SECRET = re.compile(
    r"(?:\$[{(]|%[({]|\{\{|<[^<>]*>$|\*+$|\$[A-Z_][A-Z0-9_]*$|%[A-Z_]+%$"
    r"|(?i:true|false|null|none|yes|no|on|off|read|write|string|required)$|$)"
)
"""What stands for a value that is elsewhere, and words that are none."""
_NO_VALUE = re.compile(r"[{<&*!|>\[(#~]")
"""How what is no value begins, where there are no quotes: a list, a block, a comment."""
_SERVERS = re.compile(r"mcp_?[sS]ervers[\"'\]. ]{0,9}[:=.{]")


def may_be_secret(name: str) -> bool:
    """Tell whether a file is called like one that holds keys or passwords, and nothing else."""
    path = PurePosixPath(name.lower())
    if path.name.startswith(tuple(f"{one}." for one in CONFIGURATIONS)):
        return True  # a copy of what is read without its secrets
    is_called = path.suffix in _DATA and _OF_SECRETS.search(path.name)
    return bool(is_called or _OF_KEYS.match(path.name))


def is_private_key(content: bytes) -> bool:
    """Tell whether a file is a private key, whatever it is called."""
    return bool(_BEGINS_A_KEY.match(content[:100].decode("ascii", "replace").lstrip()))


def names_a_secret(name: str) -> bool:
    """Tell whether what stands behind this name is a secret."""
    return bool(re.search(rf"(?i){_NAMES}$", name))


def configures_tools(text: str) -> bool:
    """Tell whether a text configures servers of tools, in which a secret may stand anywhere."""
    return bool(_SERVERS.search(text))


def without_secrets(text: str) -> tuple[str, int]:
    """Return a text with `***` for what looks like a secret, on the same lines, and how many."""
    hidden = 0

    def key(found: re.Match[str]) -> str:
        nonlocal hidden
        hidden += 1
        return "***" + "\n" * found[0].count("\n")

    def named(found: re.Match[str]) -> str:
        value = found["value"]
        quote = value[0] if value[0] in "\"'" else ""
        is_none = _NO_SECRET.match(value.strip("\"' \t,;"))
        if is_none or (not quote and _NO_VALUE.match(value)):
            return found[0]
        return found["name"] + quote + key(found).rstrip("\n") + quote

    def address(found: re.Match[str]) -> str:
        return found[0] if _NO_SECRET.match(found[2]) else found[1] + key(found)

    text = _PRIVATE_KEY.sub(key, text)
    text = _IN_ADDRESS.sub(address, text)
    return _TOKEN.sub(key, _NAMED.sub(named, text)), hidden
