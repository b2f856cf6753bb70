"""The options of `drift ingest`, and which of them go together."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from drift.local.cli import options
from drift.local.cli.options import refuse
from drift.local.ingest.by_model import Tier
from drift.local.ingest.places import REMOTE
from drift.local.ingest.selection import Selection
from drift.model.attributes import NOTHING_SAID, Attributes


def checked_tier(value: str) -> str:
    """Return what a chat model writes, by its name."""
    refuse(value == "graph", "graph is called facts now")
    tiers = get_args(Tier)
    refuse(value not in tiers, f"has to be one of {', '.join(tiers)}, and {value!r} is none")
    return value


def _value(said: str) -> Any:  # noqa: ANN401 - what JSON holds
    """Return a number, true, false or quoted text as JSON has it, and all else as it is."""
    with suppress(ValueError, RecursionError):
        held = json.loads(said)
        return held if isinstance(held, str | int | float) else said
    return said


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """What the command line says of documents, and of what is made of them."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders or files: text, HTML, PDF, Word, slides, workbooks, CSV, notebooks, "
            "source code. Or blobs of Azure: az://ACCOUNT/CONTAINER\\[/PREFIX].",
            metavar="[PATH]...",
            parser=options.checked_source,
        ),
    ] = None
    changed: Annotated[
        bool,
        typer.Option(
            "--changed",
            help="The first PATH is a folder, and the others the files in it that were changed, "
            "added or removed, as after a merge; - reads their names from standard input, one a "
            "line or with NUL bytes between them.",
        ),
    ] = False
    project: Annotated[
        str | None, options.optional_project("The project's id; wanted with a PATH.")
    ] = None
    graphrag: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The output of Microsoft GraphRAG, in the place of SOURCE: its texts, entities, "
            "relations and communities, as they are.",
        ),
    ] = None
    chunks: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            parser=options.checked_path,
            help="Chunks with vectors that another program has made, in the place of documents: "
            "a file of JSON lines or Parquet, or a folder of such.",
        ),
    ] = None
    bulk: Annotated[
        bool,
        typer.Option(
            "--bulk",
            help="With --chunks: make a new database of them by neo4j-admin, before the local "
            "server of the data folder starts.",
        ),
    ] = False
    sample: Annotated[
        bool, typer.Option("--sample", help="Ingest the Python reference manual instead.")
    ] = False
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write all documents and their knowledge anew, changed or not."
        ),
    ] = False
    source_uri: Annotated[
        str,
        typer.Option(
            help="Address of the one PATH, such as https://docs.example.com/manual: citations show "
            "it with each document's path behind it."
        ),
    ] = ""
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            help="A tag of every document of this run, for filters; may be given several times. "
            "What a run does not say again is taken away.",
        ),
    ] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            help="Metadata of every document of this run, for filters; may be given several times. "
            "Numbers, true and false are those, all else is text.",
            metavar="NAME=VALUE",
        ),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include",
            metavar="PATTERN",
            help="Read only the files of a folder that this names, as in a .gitignore, such as "
            "look like machinery, too; may be given several times.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="PATTERN",
            help="Leave out the files and folders that this names, as in a .gitignore; may be "
            "given several times. A file .driftignore says it for each run.",
        ),
    ] = None
    newest_wins: Annotated[
        list[str] | None,
        typer.Option(
            "--newest-wins",
            metavar="PATTERN",
            help="Of the files that this names, as in a .gitignore, the one with the latest date "
            "in its name supersedes the others; may be given several times.",
        ),
    ] = None
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Take out of the project what an emptied or removed folder or file held."
        ),
    ] = False
    knowledge: Annotated[
        Tier | None,
        typer.Option(
            help="What the chat model writes: nothing, reports on topics, or also facts: names and "
            "what is said of them. By default reports, once the estimate is confirmed.",
            metavar=f"[{'|'.join(get_args(Tier))}]",
            parser=checked_tier,
        ),
    ] = None
    knowledge_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The most tokens that the chat model may take in this run, prompts and replies.",
            min=0,
        ),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would change and what the chat model would take, no more."
        ),
    ] = False
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler, such as tcp://host:8786, whose workers read the files and call "
            "the models.",
        ),
    ] = None
    calls_a_minute: Annotated[
        int,
        typer.Option(metavar="N", help="The most calls of models a minute; 0 for any.", min=0),
    ] = 0
    tokens_a_minute: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="The most tokens that models are given and reply a minute; 0 for any.",
            min=0,
        ),
    ] = 0
    wait: options.Wait = 600
    as_json: options.Json = False

    @property
    def places(self) -> list[str]:
        """What is named on the command line, each once."""
        return list(dict.fromkeys(self.paths or []))

    @property
    def project_id(self) -> str:
        """The project, which is the demo's for the sample."""
        return options.DEMO_PROJECT if self.project is None else self.project

    @property
    def said(self) -> Attributes:
        """What the run says of each document."""
        from pydantic import ValidationError

        from drift.contracts.attributes import DocumentAttributes

        pairs = [one.partition("=") for one in self.metadata or ()]
        wanted = "has to be NAME=VALUE, such as department=hr"
        refuse(not all(one[1] for one in pairs), wanted, "--metadata")
        metadata = {name: _value(said) for name, _, said in pairs}
        try:
            return DocumentAttributes(tags=tuple(self.tag or ()), metadata=metadata).said()
        except ValidationError as error:
            problem = error.errors()[0]
            option = "--tag" if problem["loc"][0] == "tags" else "--metadata"
            raise typer.BadParameter(
                problem["msg"].removeprefix("Value error, "), param_hint=option
            ) from None

    @property
    def selection(self) -> Selection:
        """Which files of a folder are read."""
        try:
            return Selection.of(self.include or (), self.exclude or (), self.newest_wins or ())
        except ValueError as error:
            options = "--include, --exclude, --newest-wins"
            raise typer.BadParameter(str(error), param_hint=options) from None

    @property
    def is_agreed(self) -> bool:
        """Whether the options say themselves how much a chat model writes."""
        return self.knowledge is not None or self.knowledge_tokens is not None

    def check(self) -> None:
        """Refuse options that do not go together."""
        from drift.contracts.request import project_id_problem
        from drift.core.source_uri import WANTED, is_shown

        places, uri, changed = self.places, self.source_uri, self.changed
        is_import = self.graphrag is not None or self.chunks is not None
        others = places, self.sample, self.scheduler, uri, self.dry_run, self.yes, self.is_agreed
        is_said = self.said != NOTHING_SAID
        refuse(
            is_import and (any(others) or is_said),
            "goes with --project, --force, --wait and the calls and tokens a minute alone",
            "--graphrag or --chunks",
        )
        is_both = self.graphrag is not None and self.chunks is not None
        refuse(is_both, "goes without --graphrag", "--chunks")
        refuse(self.bulk and self.chunks is None, "goes with --chunks", "--bulk")
        refuse(self.force and self.chunks is not None, "goes without --chunks", "--force")
        none_takes_tokens = self.knowledge == "none" and self.knowledge_tokens is not None
        refuse(none_takes_tokens, "goes with reports or facts", "--knowledge-tokens")

        is_named = bool(places) or is_import
        refuse(is_named == self.sample, "give either a folder or file, or --sample")
        refuse(
            self.project is None and not self.sample,
            "say which project the documents belong to: --project NAME",
        )

        has_files = len(places) > 1
        refuse(changed and not has_files, "goes with files behind their folder", "--changed")
        refuse(
            changed and places[0].startswith(REMOTE),
            "goes with a folder: what changed of a container is seen at once",
            "--changed",
        )
        is_part = self.sample or changed
        refuse(self.yes and is_part, "goes with whole folders or files of yours", "--yes")
        is_many = self.sample or (has_files and not changed)
        refuse(uri and is_many, "goes with one folder or file of yours", "--source-uri")

        problem = project_id_problem(self.project_id)
        refuse(problem, f"{problem}, as in every request", "--project")
        refuse(
            uri and (not is_shown(uri) or {"?", "#"} & set(uri)),
            f"has to be {WANTED}, without a password, a query or a fragment",
            "--source-uri",
        )
