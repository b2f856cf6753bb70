"""One planted secret of each kind, and a search for them in all that the service lets out.

They are found however they are spelt.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.telemetry_fixture import Recorded

SECRETS: Mapping[str, str] = {
    "password of Neo4j": 'canaryNeo4jPassword-1f0c/+"',
    "userinfo of the Neo4j URI": "canaryNeo4jUserinfo-27aa",
    "key of the model": "sk-canaryModelKey-38bb==",
    "password of Redis": "canaryRedisPassword-49cc",
    "function key": "canaryFunctionKey-5add==",
    "Authorization header": "canaryBearer-6bee",
    "cookie": "canaryCookie-7cff",
    "words of a server": "canaryWordsOfAServer-8d00",
    "words of an exception": "canaryWordsOfAnException-9e11",
    "Key Vault reference": "canary-vault-af22",
    "token of Entra ID": "canaryEntraToken-b033",
    "header of the identity endpoint": "canaryIdentityHeader-c144",
    "connection string of Application Insights": "canaryInstrumentationKey-d255",
}
"""What is planted, by kind; real secrets of the servers in the tests are added where they are
known."""


def spellings(secret: str) -> dict[str, str]:
    """Return the ways in which text may hold a secret, by name, as `_plain` leaves them."""
    raw = secret.encode()
    found = {"plain": secret, "percent-encoded": quote(secret, safe=""), "hexadecimal": raw.hex()}
    for shift in range(3):  # where the secret begins inside the three bytes of a group
        coded = base64.b64encode(b"-" * shift + raw + b"--").decode()
        own = coded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
        found |= {
            f"base64 {shift}": own,
            f"base64url {shift}": own.translate(str.maketrans("+/", "-_")),
        }
    return {name: _plain(text) for name, text in found.items()}


def _plain(text: str) -> str:
    """Return text without case and backslashes.

    JSON, repr and both of them over each other add no more than those.
    """
    return text.replace("\\", "").lower()


@dataclass
class Outputs:
    """All that came out, by channel."""

    kept: list[tuple[str, str]] = field(default_factory=list)

    def keep(self, channel: str, text: str | bytes) -> None:
        """Add what came out of a channel."""
        self.kept.append(
            (channel, _plain(text if isinstance(text, str) else text.decode("latin-1")))
        )

    def keep_telemetry(self, recorded: Recorded) -> None:
        """Add all spans and metrics, with events, links and resources."""
        for span in recorded.spans():
            self.keep("span", span.to_json())
        data = recorded.reader.get_metrics_data()
        self.keep("metric", data.to_json() if data else "")

    def channels(self) -> set[str]:
        """Return the channels from which anything came."""
        return {channel for channel, text in self.kept if text}

    def leaks(self, secrets: Mapping[str, str]) -> set[tuple[str, str, str]]:
        """Return what was found: channel, kind of secret, spelling."""
        wanted = [
            (kind, name, text)
            for kind, secret in secrets.items()
            for name, text in spellings(secret).items()
        ]
        return {
            (channel, kind, name)
            for channel, kept in self.kept
            for kind, name, text in wanted
            if text in kept
        }


class Written(logging.Handler):
    """Keeps each record as a handler writes it, traceback included, and its attributes."""

    def __init__(self, outputs: Outputs) -> None:
        super().__init__(logging.NOTSET)
        self.outputs = outputs

    def emit(self, record: logging.LogRecord) -> None:
        attributes: dict[str, Any] = dict(vars(record))
        self.outputs.keep("attributes of a log record", repr(attributes))
        self.outputs.keep(f"log line of {record.name.split('.')[0]}", self.format(record))


def watching(outputs: Outputs) -> Iterator[Outputs]:
    """Have log records kept while the generator is open.

    The service's own from DEBUG on, those of libraries from INFO on.

    At DEBUG, libraries write what servers say, word by word; docs/security.md says so.
    """
    root, own = logging.getLogger(), logging.getLogger("drift")
    levels, handler = (root.level, own.level), Written(outputs)
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    own.setLevel(logging.DEBUG)
    try:
        yield outputs
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        own.setLevel(levels[1])
