"""The causes of an error, however deep: SDKs wrap the errors of sockets, some in groups."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

_OF_PLAINTEXT = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG"}
)
"""OpenSSL's reasons for an answer without TLS."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything it came from."""
    waiting: list[BaseException] = [error]
    for _ in range(50):  # a chain may lead back into itself
        if not waiting:
            return
        one = waiting.pop()
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        if (before := one.__cause__ or one.__context__) is not None:
            waiting.append(before)


def name_is_unknown(error: BaseException) -> bool:
    """Tell whether the server's host name has no address."""
    return any(isinstance(cause, socket.gaierror) for cause in causes(error))


def is_distrusted(error: BaseException) -> bool:
    """Tell whether the server's certificate is not trusted here."""
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes(error))


def speaks_no_tls(error: BaseException) -> bool:
    """Tell whether a server that was spoken to over TLS answered without it."""
    found = (cause for cause in causes(error) if isinstance(cause, ssl.SSLError))
    return any(getattr(cause, "reason", None) in _OF_PLAINTEXT for cause in found)
