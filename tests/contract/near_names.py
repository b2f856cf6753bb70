"""Sixty-six notes of eleven kinds of names, each note with four names that differ by little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import batched

Name = Callable[[int], str]

_VERBS = ("load", "unload", "lookup", "link", "bind", "close")
_STATES = ("final", "draft", "signed", "printed", "scanned", "old")
_PEOPLE = ("ann", "anna", "anne", "hanna", "joan", "johann")
_PARTS = ("Line", "Head", "Batch", "Total", "Return", "Stock")
_STEPS = ("redirects", "retries", "timeouts", "proxies", "cookies", "headers")
_FAMILIES = ("C", "D", "F", "G", "J", "Q")

KINDS: Mapping[str, tuple[Name, str]] = {
    "function": (
        lambda n: f"{('dyn', 'lib', 'env', 'sys')[n % 4]}.{_VERBS[n // 4]}",
        "takes the path of a module and returns nothing",
    ),
    "file": (
        lambda n: f"report.{_STATES[n // 4]}.{('pdf', 'doc', 'txt', 'odt')[n % 4]}",
        "lies in the folder of the board and is read every quarter",
    ),
    "host": (
        lambda n: f"db{n + 1:02}.internal.example",
        "holds a copy of the orders and is saved at night",
    ),
    "address": (
        lambda n: f"{_PEOPLE[n // 4]}@{('example', 'sample', 'harbour', 'ferry')[n % 4]}.com",
        "answers questions about tickets on weekdays",
    ),
    "invoice": (
        lambda n: f"INV_2024_{90 + n:04}",
        "was sent to the harbour office and paid within a month",
    ),
    "machine": (lambda n: f"10.0.0.{n + 3}", "stands in the cellar and prints the labels"),
    "release": (lambda n: f"v1.{n // 4}.{n % 4 + 1}", "mends the order of the list of ships"),
    "class": (
        lambda n: f"Order{_PARTS[n // 4]}{('Item', 'Items', 'List', 'Key')[n % 4]}",
        "keeps the price beside the number of pieces",
    ),
    "part": (lambda n: f"BW-12{n + 70}", "is a valve of brass for the pump of the second quay"),
    "setting": (
        lambda n: f"{('DEFAULT', 'LEAST', 'MOST', 'OWN')[n % 4]}_MAX_{_STEPS[n // 4].upper()}",
        "bounds how often the client asks again",
    ),
    "language": (
        lambda n: f"{_FAMILIES[n // 4]}{('++', '#', '--', '*')[n % 4]}",
        "is what the old controller of the crane is written in",
    ),
}
"""How the names of a kind are made, and what is said of each of them."""
NAMES_OF_A_KIND, NAMES_OF_A_NOTE = 24, 4


def notes() -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each note."""
    for kind, (name, said) in KINDS.items():
        # a note holds names from all over, so that its neighbours' are as near as its own
        order = sorted(range(NAMES_OF_A_KIND), key=lambda n: (n * 7 % NAMES_OF_A_KIND, n))
        for number, some in enumerate(batched(order, NAMES_OF_A_NOTE), 1):
            told = (f"The {kind} {name(n)} {said}." for n in some)
            yield f"{kind.capitalize()} note {number}", " ".join(told)


def forty_names() -> list[str]:
    """Return names of every kind that the index can tell from all others, forty in all."""
    found = [
        name(n)
        for kind, (name, _) in KINDS.items()
        for n in ((0, 1, 4, 5) if kind == "language" else (2, 9, 13, 20))
    ]
    return [name for place, name in enumerate(found) if place not in {3, 7, 11, 23}]
