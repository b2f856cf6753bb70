"""`python -m tests.infra.faults.document`: docs/infra-rules.md, each rule with the planted faults
that it has to find.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.infra.faults import blind, callers, planted
from tests.infra.faults.planting import COMPILER
from tests.infra.rules import Rule, files, snapshot, template
from tests.infra.rules import callers as callers_rules

FAULTS = (*planted.FAULTS, *blind.FAULTS, *callers.FAULTS)
HEAD = """\
# Rules of the infrastructure

Each rule holds for every way to deploy. A rule compares whole values with what they have to be, and
what it finds names the way, the resource and the property. `make test` asks the rules over
snapshots and files on every machine, and those over the compiled template where a Bicep compiler
is.

`make test-deep` plants each fault below in a copy of the project, works out anew the snapshots of
the ways, as somebody would who commits what changed, and requires that the rule finds it.
"""
PARTS = (
    ("Over the snapshot of each way", (*snapshot.RULES, *callers_rules.RULES)),
    ("Over the compiled template", template.RULES),
    ("Over the files beside it", files.RULES),
)


def document() -> str:
    """Return the page."""
    parts = [part for title, rules in PARTS for part in (f"\n## {title}\n\n", *_table(rules))]
    refused = "; ".join(fault.what for fault in FAULTS if fault.rule == COMPILER)
    last = f"Its linter too, whose rules are all errors here: {refused}.\n"
    return "".join([HEAD, *parts, "\n## What the compiler refuses by itself\n\n", last])


def _table(rules: tuple[Rule, ...]) -> Iterator[str]:
    yield "| rule | what it holds | faults that it finds |\n|---|---|---|\n"
    for rule in rules:
        holds = " ".join((rule.__doc__ or "").split())
        faults = "; ".join(
            f"{_part(fault.file)}: {fault.what}" for fault in FAULTS if fault.rule == rule.__name__
        )
        yield f"| {rule.__name__.replace('_', ' ')} | {holds} | {faults} |\n"


def _part(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".bicep")


if __name__ == "__main__":
    print(document(), end="")  # noqa: T201 - a command
