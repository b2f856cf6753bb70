"""Pure: secrets of configurations: files that hold nothing else, and values behind their names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from drift.indexing.documents import CONFIGURATIONS

HIDDEN = "***"
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
_IN_ADDRESS = re.compile(
    r"(?<=://)(?P<name>[^\s:/@\"'<>]{0,64}:)(?P<value>[^\s/@\"'<>]{1,256})(?=@)"
)
_NAMES = (
    r"(?=[aceipst])(?:password|passwd|passphrase|pwd|(?<![a-z])pass|secret|token|credentials?"
    r"|identified by|(?:api|access|private|secret|account|auth|signing|encryption)[_.-]?key"
    r"(?:[_.-]base)?)"
)
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*'"
_NEXT_KEY = r"(?:,\s{0,80}+|\s{1,80}+)[\"']?"
_OTHER = rf"(?:{_NEXT_KEY}(?!value)\w{{1,40}}+[\"']?\s?[:=][ \t]*[^\n,{{}}\[\]]{{0,80}}+){{0,3}}"
_BLOCK = (
    r"[|>][-+\d]{0,2}[ \t]*(?:#[^\n]*)?(?P<block>\n(?:[ \t]*\n)*(?P<indent>[ \t]+)[^\n]*"
    r"(?:\n(?:[ \t]*(?=\n|\Z)|(?P=indent)[^\n]*))*)"
)
_IN_LINES = (
    r"(?P<sign>[\"'])(?=\S)(?:(?!(?P=sign))[^\\\n]|\\[\s\S]|\n[ \t]+(?=\S))*+(?P=sign)"
    r"|(?<=:)\n {1,40}[\w$/+=][^\s:]*(?=\n|\Z)"
)
_NAMED = re.compile(
    rf"(?i)(?P<name>{_NAMES}(?P<quote>[\"'])?"
    rf"(?:{_OTHER}{_NEXT_KEY}value[\"']?|>\s{{0,80}}<value)?"
    r"(?:\s{0,4}(?:[:=]|=>)[ \t]{0,40}|>|[ \t]{1,4}(?=')))"
    rf"(?P<value>\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}|{_BLOCK}|{_QUOTED}|{_IN_LINES}"
    r"|(?(quote)[^\s,}\]]+|[^\s|}<\"'][^\n|}<]*))"
)
_VALUE_FIRST = re.compile(
    r"(?i)(?=[\"'v])(?P<name>(?<![\w.-])[\"']?value[\"']?\s{0,4}:[ \t]{0,40})"
    rf"(?P<value>{_QUOTED}|[^\s,\"']+)(?={_NEXT_KEY}(?:name|key)[\"']?\s{{0,4}}:[ \t]{{0,40}}"
    rf"[\"']?[\w.:-]{{0,80}}?{_NAMES}[\"']?\s*[,}}\n])"
)
_IN_COMMAND = re.compile(
    rf"(?im)(?=[-aceilms\t ])(?P<name>(?<![\w-])--(?:[\w-]{{1,40}}-)?{_NAMES}"
    r"(?:[ \t]{1,4}|[\"']?,\s{0,80}|[\"']?[ \t]*\n[ \t]*-[ \t]+)(?!(?-i:[A-Z_]+\b)|id=)"
    rf"|^[ \t]*ENV[ \t]+\w{{0,60}}?{_NAMES}[ \t]+(?!=)"
    r"|authorization[\"']?(?:\s{0,4}(?:[:=,]|=>)|[ \t](?=[\"']))[ \t]{0,40}[\"']?"
    r"(?:bearer|basic|token|digest|api-?key)[ \t]+"
    r"|(?-i:\b(?:mysql\w*|mariadb\w*|sshpass|login)\b[^\n;|&]{0,200}?[ \t]-p[ \t]?)"
    r"|\bcurl\b[^\n;|&]{0,200}?[ \t](?:-u|--user)[ \t]?[\"']?[^\s:\"']{1,80}:)"
    rf"(?![\"']?value[\"']?\s*:)(?P<value>{_QUOTED}|(?![-<>|&;:=])[^\s\"',\]]+)"
)
"""Behind flags, in Dockerfiles, in headers, and for programs that take a password by `-p`."""
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


def without_secrets(text: str) -> str:
    """Return a text with `***` for what looks like a secret, on the same lines."""
    text = _PRIVATE_KEY.sub(lambda found: HIDDEN + "\n" * found[0].count("\n"), text)
    for pattern in (_IN_ADDRESS, _IN_COMMAND, _VALUE_FIRST, _NAMED):
        text = pattern.sub(_hidden, text)
    return _TOKEN.sub(HIDDEN, text)


def _hidden(found: re.Match[str]) -> str:
    value, block = found["value"], found.groupdict().get("block")
    quote = value[0] if value[0] in "\"'" else ""
    is_none = _NO_SECRET.match((block or value).strip("\"' \t\n,;"))
    if is_none or (not (quote or block) and _NO_VALUE.match(value)):
        return found[0]
    return f"{found['name']}{quote}{HIDDEN}{quote}" + "\n" * value.count("\n")
