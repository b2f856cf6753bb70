"""Ports on the loopback address."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

from drift.core.errors import LocalStackError

HOST = "127.0.0.1"
_ATTEMPTS = 3


def free_port() -> int:
    """Return a port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Say whether a server could listen on this port now."""
    return not _in_the_way(port)


def check_port(port: int) -> None:
    """Refuse a port on which no server could listen now.

    Raises:
        LocalStackError: it is taken, or the system does not give it.
    """
    if why := _in_the_way(port):
        raise LocalStackError(f"Port {port} on {HOST} {why}: ask for another port or none.")


def _in_the_way(port: int) -> str:
    """Return what keeps a server from a port, empty where nothing does."""
    taken = "is taken by another process"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return (
                taken if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            )

    # macOS lets one bind beside a listener on all addresses
    return taken if answers(port) else ""


def answers(port: int) -> bool:
    """Say whether somebody accepts connections on this port."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this port, 0 for a free one; nobody else gets it any more.

    Raises:
        OSError: the port is taken, or not allowed.
    """
    # The protocol is named: asyncio turns Nagle's algorithm off only where it is, and left on it
    # delays every answer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise

    return listener


def candidates(asked: int | None, preferred: int | None = None) -> Iterator[int]:
    """Yield the ports to try in turn.

    A port that was asked for is the only one. Otherwise the preferred one is tried, then free ones.

    Raises:
        LocalStackError: when the port that was asked for is taken.
    """
    if asked is not None:
        check_port(asked)
        yield asked
        return

    if preferred is not None and is_free(preferred):
        yield preferred

    for _ in range(_ATTEMPTS):
        yield free_port()
