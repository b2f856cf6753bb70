"""The command line as people and programs use it, on one stack of real servers.

`serve` and `chat` are processes of their own, other commands run in this one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any
from unittest import mock

import httpx2
import pytest
from neo4j import GraphDatabase
from typer.testing import CliRunner

from drift.contracts.progress import Phase
from drift.local.cli.app import app
from drift.local.ingest.pacing import Pace
from drift.local.stack.neo4j.home import PUBLISHED_PASSWORD
from drift.local.stack.stack import VARIABLES
from tests.command_line import NO_SERVERS_GIVEN, PATIENCE_S, ROOT, command, drift
from tests.ingest.graphrag_tables import tables, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(PATIENCE_S)]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """`serve --json`: its document, and the data folder that the other commands share."""
    with serve(str(tmp_path_factory.mktemp("data"))) as document:
        yield document


@contextmanager
def serve(data: str, *options: str) -> Iterator[dict[str, Any]]:
    """Run `serve --json` on a free port until the block ends."""
    arguments = ["serve", "--port", "0", "--json", "--data-dir", data, *options]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "drift", *arguments],
        cwd=ROOT,
        env={**NO_SERVERS_GIVEN, "ENABLE_INDEXING": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process:
        yield {**json.loads(process.stdout.readline()), "data": data}
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


A_FEW = ("calls", "context-managers", "function", "lambda", "lists", "with", "yield")
"""Topics of the manual, which `make demo` ingests whole in CI."""


@pytest.fixture(scope="module")
def demo(serving: dict[str, Any]) -> dict[str, Any]:
    """`demo --json` on the running servers, of a manual with a few topics."""
    manual = {name: topics[name] for name in A_FEW}
    with mock.patch("drift.local.cli.sample.topics", manual):
        done = command("demo", "--json", "--data-dir", serving["data"])
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_serve_prints_one_document_and_takes_a_document_before_anything_is_ingested(
    serving: dict[str, Any],
) -> None:
    assert set(serving) == {"env", "pids", "url", "data"}
    assert set(serving["pids"]) == {"neo4j", "valkey", "model"}
    assert all(isinstance(pid, int) for pid in serving["pids"].values())
    assert {"NEO4J_URI", "NEO4J_PASSWORD", "REDIS_URL", "OAI_BASE_URL"} <= set(serving["env"])
    assert serving["env"]["NEO4J_PASSWORD"] != PUBLISHED_PASSWORD, "any page could log in by that"

    at = {"url": f"{serving['url']}/documents", "timeout": PATIENCE_S, "trust_env": False}
    first = {"project_id": "first", "id": "ferry", "text": "The ferry leaves at noon."}
    assert httpx2.post(json=first, **at).json()["outcome"] == "added"
    counted = httpx2.get(f"{serving['url']}/metrics", trust_env=False)
    assert "gen_ai_client_operation_duration_seconds_count" in counted.text
    deleting = ("projects", "delete", "--project", "first", "--yes")
    done = command(*deleting, "--data-dir", serving["data"])
    assert done.returncode == 0, done.stderr


ODD = """CREATE (:__Project__ {id: 'odd'}),
  (:__Document__ {project_id: 'odd', id: 'a', chunks: 'what no export holds'})"""


@pytest.mark.deep
def test_the_nightly_backup_restores_each_export_and_names_the_project_that_has_none(
    serving: dict[str, Any], tmp_path: Path
) -> None:
    def run(*arguments: str) -> None:
        done = command(*arguments, "--data-dir", serving["data"])
        assert done.returncode == 0, done.stderr

    (tmp_path / "pier.md").write_text("# Pier\n\nThe pier is lit at night.\n")
    run("ingest", str(tmp_path / "pier.md"), "--project", "pïer/1 a")
    given = {name: serving["env"][name] for name in VARIABLES["neo4j"]}
    with GraphDatabase.driver(given["NEO4J_URI"], auth=("neo4j", given["NEO4J_PASSWORD"])) as graph:
        graph.execute_query(ODD)
    done = subprocess.run(  # noqa: S603 - our own script
        [ROOT / ".ci" / "backup", str(tmp_path / "backups")],
        env={
            **NO_SERVERS_GIVEN,
            **given,
            "VECTOR_INDEX_DIMENSIONS": serving["env"]["VECTOR_INDEX_DIMENSIONS"],
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    (moment,) = (tmp_path / "backups").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}Z", moment.name)
    assert re.fullmatch(rf"{moment}: \d+ projects, without a backup: odd\n", done.stdout)
    assert done.returncode == 1
    assert "p%C3%AFer%2F1%20a" in {one.name for one in moment.iterdir()}
    assert "Project pïer/1 a is there: 1 __Document__, 1 __Chunk__" in done.stderr
    for project in ("pïer/1 a", "odd"):
        run("projects", "delete", "--project", project, "--yes")


def test_a_second_serve_shares_the_servers_and_is_told_of_a_port_that_is_taken(
    serving: dict[str, Any],
) -> None:
    port = serving["url"].rpartition(":")[2]
    done = command("serve", "--port", port, "--data-dir", serving["data"])
    assert done.returncode == 1
    assert f"Port {port} on 127.0.0.1 is taken by another process" in done.stderr
    assert "Starting" not in done.stderr
    assert "Traceback" not in done.stderr
    assert httpx2.get(f"{serving['url']}/health/live", trust_env=False).status_code == 200


def test_serve_with_keys_prints_two_that_open_a_project_each(
    serving: dict[str, Any], demo: dict[str, Any]
) -> None:
    assert demo
    with serve(serving["data"], "--auth", "keys") as guarded:
        keys = guarded["keys"]
        assert len(keys) == 2
        for project, key in [*keys.items(), ("", "")]:
            for other in keys:
                body = {"query": "What is a generator?", "project_id": other}
                at = {"url": f"{guarded['url']}/retrieve", "headers": {"x-api-key": key}}
                reply = httpx2.post(json=body, timeout=PATIENCE_S, trust_env=False, **at)
                assert reply.status_code == (401 if not key else 200 if project == other else 403)


def test_the_demo_answers_with_evidence_and_its_progress_came_over_redis(
    demo: dict[str, Any],
) -> None:
    assert set(demo) == {"question", "response", "progress", "timings", "servers"}
    facts = demo["response"]["key_facts"]
    assert len(facts) >= 3
    manual = list(topics.values())
    for fact in facts:
        assert fact["citations"]
        for citation in fact["citations"]:
            assert any(citation["span"] in text for text in manual), citation
    assert demo["servers"]["neo4j"].startswith("Neo4j/")
    assert demo["servers"]["valkey"].startswith("Valkey/")

    phases = list(dict.fromkeys(message["phase"] for message in demo["progress"]))
    assert phases == [phase.value for phase in Phase if phase is not Phase.ERROR]
    percentages = [message["progress_pct"] for message in demo["progress"]]
    assert percentages == sorted(percentages)
    assert len({message["message_id"] for message in demo["progress"]}) == len(percentages)


def test_a_folder_is_ingested_once_and_answers(serving: dict[str, Any], tmp_path: Path) -> None:
    at = ("--project", "ferries", "--data-dir", serving["data"])
    (tmp_path / "ferry.md").write_text(
        "# Ferry\n\nThe ferry to Utsira leaves Haugesund at six in the morning. The crossing takes "
        "seventy minutes.\n\n"
        "## Tickets\n\nTickets for the ferry are sold on board, and children under four travel "
        "free.\n"
    )
    (tmp_path / "noise.md").write_bytes(b"\x00\x01\x02")
    arguments = (
        "ingest",
        str(tmp_path),
        "--source-uri",
        "https://a.example/ferries",
        "--json",
        *at,
    )
    first, second = (json.loads(command(*arguments).stdout) for _ in range(2))
    assert first["added"] == ["ferry.md"]
    assert [s["path"] for s in first["skipped"]] == ["noise.md"]
    assert (second["wrote"], second["chunks"], second["unchanged"]) == (False, 0, ["ferry.md"])

    asking = ("ask", "When does the ferry to Utsira leave Haugesund?", *at)
    asked = command(*asking, "--include", "locations", "--json")
    answer = json.loads(asked.stdout)
    assert "six in the morning" in answer["final_answer"]
    cited = [c for fact in answer["key_facts"] for c in fact["citations"]]
    text = (tmp_path / "ferry.md").read_text()
    assert cited
    assert all(text[c["start"] : c["end"]] == c["span"] for c in cited)
    assert {c["source_uri"] for c in cited} == {"https://a.example/ferries/ferry.md"}

    shown = command(*asking, "--references").stdout
    assert re.search(r"^\[1\] ferry\.md:3 \(\d+% match\)$", shown, re.MULTILINE), shown
    assert re.search(r"^\[1\] \d+%: similarity \d+%, freshness 100%, model", shown, re.MULTILINE)

    explain = ("explain", asking[1], "--passage", "six in the morning", *at)
    first, *others = command(*explain).stdout.splitlines()
    told = r"Passage: It was found at rank 1 \(.+\): the answer cites it\."
    assert re.fullmatch(told, first), first
    assert others[0].startswith("Cause: ")
    assert len(others) < 30
    assert json.loads(command(*explain, "--json").stdout)["passage"] == first.partition(" ")[2]

    search = ("search", asking[1])
    line = command(*search, "--documents", *at).stdout
    assert re.fullmatch(r"1\. .+ \| ferry\.md \| \d+% match \| ferry\.md:\d+-\d+\n", line), line
    found = json.loads(command(*search, "--json", *at).stdout)["passages"]
    assert "six in the morning" in found[0]["text"]
    nobody = command(*search, "--documents", "--project", "nobody", *at[2:])
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "There is no project nobody" in on_one_line(nobody.stderr)
    asked = command("ask", "Anything?", "--project", "nobody", "--json", *at[2:])
    assert asked.returncode == 1  # as in `demo`: 0 only for a cited answer
    assert json.loads(asked.stdout)["no_data_found"] is True
    assert "drift up" not in asked.stderr  # the servers were running


def test_a_dry_run_writes_nothing_and_a_model_writes_what_is_agreed_to(
    serving: dict[str, Any], tmp_path: Path
) -> None:
    at = ("--project", "letters", "--data-dir", serving["data"])
    (tmp_path / "letter.md").write_text(
        "Ellen Harlow met Karl Weber near the harbour of Port Ellen. She gave him a letter."
    )
    ingest = ("ingest", str(tmp_path), "--json", *at)

    refused = command(*ingest, GRAPH_SCHEMA="v1")
    assert (refused.returncode, "leave it out to ingest" in refused.stderr) == (1, True)
    planned = json.loads(command(*ingest, "--knowledge", "facts", "--dry-run").stdout)
    assert (planned["added"], planned["calls"]) == (["letter.md"], 2)
    listed = json.loads(command("projects", "--json", "--data-dir", serving["data"]).stdout)
    assert "letters" not in {one["project_id"] for one in listed["projects"]}

    without = command(*ingest, "--knowledge", "facts", "--knowledge-tokens", "0")
    assert json.loads(without.stdout)["entities"] == 0
    asked = command(*ingest, "--knowledge", "facts")
    done = json.loads(asked.stdout)
    assert done["entities"] == 3
    written = {"reports": 1, "group_reports": 0, "empty": 0, "reported": 1}
    held = {"topics": 1, "groups": 0, "told": 1, "linked": 1, "addresses": 0}
    assert done["reach"] == held | written
    assert "A chat model reports on 1 of the topics (100% of the chunks)" in asked.stderr
    taken = done["usage"]["prompt_tokens"] + done["usage"]["completion_tokens"]
    assert f"Models took {taken:,} tokens." in asked.stderr
    assert "Asking drift-extractive for knowledge: about 2 calls" in asked.stderr
    assert not json.loads(command(*ingest, "--knowledge", "facts").stdout)["wrote"]
    planned = json.loads(command(*ingest, "--knowledge", "facts", "--dry-run", "--force").stdout)
    assert (planned["changed"], planned["calls"]) == (["letter.md"], 0)

    model = serving["env"] | {"OAI_MODEL": "a-real-one"}
    unasked = command(*ingest, "--force", **model)
    assert "a-real-one can write a report on each topic: about 1 calls" in unasked.stderr
    assert "nobody has agreed" in unasked.stderr
    assert json.loads(unasked.stdout)["entities"] == 3, "what was replied before is used"


def test_an_index_of_graphrag_is_imported_at_the_pace_that_is_given(
    serving: dict[str, Any], tmp_path: Path
) -> None:
    folder = write(tmp_path / "an index", tables())
    at = ("--project", "valley", "--data-dir", serving["data"])
    pace = ("--calls-a-minute", "60000", "--tokens-a-minute", "9000000")
    with mock.patch("drift.local.cli.placing.Pace", wraps=Pace) as made:
        done = command("ingest", "--graphrag", str(folder), "--json", *pace, *at)
    assert done.returncode == 0, done.stderr
    assert made.call_args_list == [mock.call(60000), mock.call(9000000)]

    (tmp_path / "note.md").write_text("The mill is closed.")
    refused = command("ingest", str(tmp_path), *at)
    assert f"(drift ingest --graphrag '{folder}')" in refused.stderr
    command("projects", "delete", "--project", "valley", "--yes", *at[2:])


def test_a_source_is_listed_told_and_removed_with_yes_and_cited_no_more(
    serving: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    for name, keeper in (("a", "Ingrid Falk"), ("b", "Nils Berg")):
        text = f"# Quay {name}\n\n{keeper} keeps the keys of quay {name}.\n"
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    (tmp_path / "c.md").write_text("# Quay c\n\nAda Moe keeps the keys of quay c.\n")
    at, project = ("--data-dir", serving["data"]), ("-p", "taken-out")
    docs, alone = str(tmp_path / "docs"), str(tmp_path / "c.md")

    def held() -> dict[str, int]:
        listed = json.loads(command("projects", "--json", *at).stdout)["projects"]
        found = [one["sources"] for one in listed if one["project_id"] == "taken-out"]
        return {one["source"]: one["documents"] for sources in found for one in sources}

    ingested = command("ingest", f"{docs}/a.md", docs, alone, docs, *project, "--json", *at)
    added = [one["added"] for one in json.loads(ingested.stdout)]
    assert added == [["a.md"], ["b.md"], ["c.md"]], ingested.stderr
    assert held() == {docs: 2, alone: 1}

    told = command("remove", *project, "--source", docs, *at)
    assert (told.returncode, held()) == (1, {docs: 2, alone: 1})
    assert f"2 documents of {docs}" in told.stderr
    assert "Nothing was removed" in told.stderr
    for wrong in (f"{docs}/a.md", str(tmp_path)):
        refused = command("remove", *project, "--source", wrong, "--yes", *at)
        assert refused.returncode == 1
        assert docs in refused.stderr

    done = command("remove", *project, "--source", f"{docs}/../docs/", "--yes", "--json", *at)
    assert json.loads(done.stdout)["documents"] == ["a.md", "b.md"], done.stderr
    asked = command("ask", "Who keeps the keys of quay a?", *project, "--json", *at)
    assert "Falk" not in asked.stdout
    assert held() == {alone: 1}

    (tmp_path / "c.md").unlink()
    emptied = command("ingest", alone, *project, *at)
    assert (emptied.returncode, held()) == (1, {alone: 1})
    assert "--yes" in emptied.stderr
    assert command("ingest", alone, *project, "--yes", *at).returncode == 0
    assert held() == {}
    gone = command("remove", *project, "--yes", *at)
    assert gone.returncode == 1
    assert "There is no project taken-out" in gone.stderr


def test_a_project_is_shown_switched_exported_restored_copied_compared_and_deleted(
    serving: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, out = tmp_path / "docs", str(tmp_path / "out")
    docs.mkdir()
    for name in ("a", "b"):
        (docs / f"{name}.md").write_text(f"# Mole {name}\n\nThe mole {name} is lit at night.\n")

    def run(*arguments: str, code: int = 0) -> tuple[Any, str]:
        done = command(*arguments, "--data-dir", serving["data"])
        assert done.returncode == code, done.stderr
        is_document = "--json" in arguments and code == 0
        return json.loads(done.stdout) if is_document else done.stdout, done.stderr

    def names() -> set[str]:
        return {one["project_id"] for one in run("projects", "list", "--json")[0]["projects"]}

    run("ingest", str(docs), "-p", "moles")
    unknown = run("documents", "off", "-p", "moles", "a.md", "nobody.md", code=1)[1]
    assert "holds no document nobody.md, and nothing was changed" in unknown
    assert "1 documents are off now" in run("documents", "off", "-p", "moles", "a.md")[1]
    listed = run("documents", "list", "-p", "moles", "--json")[0]["documents"]
    assert [(one["id"], one["chunks"], one["off"]) for one in listed] == [
        ("a.md", 1, True),
        ("b.md", 1, False),
    ]
    assert f"sources: {docs}: 2 documents\n" in run("projects", "show", "-p", "moles")[0]
    told = run("remove", "-p", "moles", code=1)[1]
    assert "With them go 2 chunks, and what is made of these alone: 0 entities and 1 com" in told

    assert "1 edges" not in run("projects", "export", "-p", "moles", out)[1]
    run("projects", "restore", out, code=1)
    run("projects", "restore", out, "-p", "m2")
    run("projects", "copy", "-p", "m2", "--to", "m3")
    run("documents", "on", "-p", "m3", "a.md")
    asked = run("ask", "Which mole is lit at night?", "-p", "m3", "--json")[0]
    assert "mole" in asked["final_answer"]
    run("projects", "--json", "show", "-p", "m3", code=2)

    (docs / "b.md").write_text("# Mole b\n\nIt is dark.\n")
    mended = run("reconcile", "-p", "moles", code=1)[1]
    assert f"`drift ingest {docs} --project moles` mends that" in mended

    assert "Nothing was deleted" in run("projects", "delete", "-p", "m3", code=1)[1]
    run("projects", "delete", "-p", "m3", "--yes")
    typed = mock.Mock(stdin=mock.Mock(isatty=lambda: True, readline=lambda: "m2\n"))
    monkeypatch.setattr("drift.local.cli.run.sys", typed)
    assert "Type the project's name" in run("projects", "delete", "-p", "moles", code=1)[1]
    run("projects", "delete", "-p", "m2")
    assert names() & {"moles", "m2", "m3"} == {"moles"}
    command("projects", "delete", "-p", "moles", "--yes", "--data-dir", serving["data"])


def change(env: Mapping[str, str], text: str, **parameters: Any) -> None:
    """Run a statement of another program on the graph."""
    auth = (env["NEO4J_USERNAME"], env["NEO4J_PASSWORD"])
    with GraphDatabase.driver(env["NEO4J_URI"], auth=auth) as driver:
        driver.execute_query(text, parameters)


def test_preparing_says_what_is_missing_prints_a_script_of_it_and_makes_it(
    serving: dict[str, Any], demo: dict[str, Any]
) -> None:
    assert demo
    change(serving["env"], "DROP INDEX drift_entity_title")
    planned, done, again = (
        command("prepare", *dry_run, "--data-dir", serving["data"])
        for dry_run in (["--dry-run"], [], ["--dry-run"])
    )
    script = (
        "CREATE INDEX drift_entity_title IF NOT EXISTS "
        "FOR (n:__Entity__) ON (n.project_id, n.title_key);"
    )
    assert planned.stdout.strip() == script
    assert "Would create drift_entity_title." in planned.stderr
    assert "Created drift_entity_title." in done.stdout
    assert (again.stdout, "Nothing had to be changed." in again.stderr) == ("", True)

    right = command("prepare", "--json", "--data-dir", serving["data"])
    report = json.loads(right.stdout)
    indexes = report.pop("indexes")
    assert report == {"changed": {}, "created": [], "problems": [], "cypher": [], "dry_run": False}
    assert {index["state"] for index in indexes} == {"ONLINE"}
    assert {index.get("dimensions") for index in indexes} == {None, 256}


def test_preparing_a_given_graph_starts_nothing_and_embeds_with_a_named_model_alone(
    serving: dict[str, Any], demo: dict[str, Any], tmp_path: Path
) -> None:
    assert demo
    env, project = serving["env"], ("--project", "python-reference")
    length = {"VECTOR_INDEX_DIMENSIONS": "256"}
    graph = {name: value for name, value in env.items() if name.startswith("NEO4J_")}
    alone = ("--data-dir", str(tmp_path / "none"))
    said = command("prepare", "--json", *alone, **graph, **length)
    assert json.loads(said.stdout)["problems"] == []
    assert "Starting" not in said.stderr
    assert not list((tmp_path / "none").glob("*/"))

    for options, given, problem in (
        ((), graph, "set VECTOR_INDEX_DIMENSIONS"),
        ((*project, "--embed"), {**graph, **length}, "OAI_EMBED_MODEL_NAME"),
        (
            (),
            {**env, "VECTOR_INDEX_DIMENSIONS": "128"},
            "graphrag_chunk_index has 256 dimensions, but 128 are wanted",
        ),
        ((), {**graph, **length, "GRAPH_SCHEMA": '{"chunk": "A`"}'}, "no backtick"),
    ):
        refused = command("prepare", *options, *alone, **given)
        assert (refused.returncode, refused.stdout) == (1, ""), refused
        assert problem in refused.stderr
        assert "Traceback" not in refused.stderr

    lost = "MATCH (c:__Chunk__ {project_id: $p}) WITH c LIMIT 3 REMOVE c.embedding"
    change(env, lost, p=project[1])
    done = command("prepare", *project, "--embed", "--json", "--data-dir", serving["data"])
    again = command("prepare", *project, "--json", "--data-dir", serving["data"])
    report = json.loads(done.stdout)
    assert (report["changed"], report["problems"]) == ({"__Chunk__.embedding": 3}, [])
    assert "Embedding __Chunk__: 0 of 3" in done.stderr
    assert json.loads(again.stdout)["problems"] == []
    assert "Project python-reference: " in again.stderr


def test_the_doctor_looks_at_what_runs_and_at_what_is_named_alone(
    serving: dict[str, Any], demo: dict[str, Any], tmp_path: Path
) -> None:
    assert demo

    def states(folder: object, **given: str) -> dict[str, str]:
        report = json.loads(command("doctor", "--json", "--data-dir", str(folder), **given).stdout)
        assert report["ok"] is True
        return {finding["name"]: finding["state"] for finding in report["findings"]}

    servers = {"graph", "indexes", "model", "chat", "redis"}
    running, named = states(serving["data"]), states(tmp_path, **serving["env"])
    assert running["local stack"] == "ok"
    assert {running[name] for name in servers} == {"ok"}
    assert {named[name] for name in ("settings", *servers)} == {"ok"}

    for names, seen in (("OAI_", {"model", "chat"}), ("NEO4J_", {"graph", "indexes"})):
        given = {k: v for k, v in serving["env"].items() if k.startswith((names, "VECTOR"))}
        alone = states(tmp_path, **given)
        assert alone["local stack"] == "note"
        assert servers & set(alone) == seen
        # Nobody names a model with NEO4J_ alone, so none is compared with that of the projects.
        assert alone.get("indexes", "ok") == "ok"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ingest",), "--sample"),
        (("ingest", ".", "--sample"), "--sample"),
        (("ingest", "."), "--project"),
        (("ingest", "", "--project", "p"), "is empty"),
        (("ingest", ".", "--project", "x" * 129), "at most 128 characters"),
        (("ingest", ".", "--project", "p", "--source-uri", "/home/x"), "--source-uri"),
        (("prepare", "--embed"), "--project"),
        (("ingest", "--sample", "--source-uri", "https://a.example"), "--source-uri"),
        (("ingest", "a", "b", "-p", "p", "--source-uri", "https://a.example"), "--source-uri"),
        (("ingest", "a", "--changed", "-p", "p"), "behind their folder"),
        (("ingest", "--sample", "--yes"), "--yes"),
        (("ingest", "a", "a/b", "--changed", "--yes", "-p", "p"), "--yes"),
        (("ingest", "a", "-p", "p", "--knowledge", "none", "--knowledge-tokens", "9"), "reports"),
        (("ingest", "a", "-p", "p", "--knowledge", "graph"), "is called facts now"),
        (("ingest", "--graphrag", "a", "-p", "p", "--dry-run"), "--graphrag"),
        (("ingest", "--graphrag", "a", "-p", "p", "--knowledge-tokens", "0"), "--graphrag"),
        (("ingest", "--chunks", "a", "-p", "p", "--tag", "t"), "--graphrag or --chunks"),
        (("ingest", "--chunks", "a", "--graphrag", "b", "-p", "p"), "goes without --graphrag"),
        (("ingest", "a", "-p", "p", "--bulk"), "goes with --chunks"),
        (("reindex", "--drop", "v2", "--yes", "--dry-run"), "--dry-run"),
        (("reindex", "--drop", "v2", "--yes", "--project", "p"), "--project"),
        (("reindex", "--model-version", "v2", "--yes"), "--drop"),
        (("chat", "--project", "p"), "--rag"),
        (("chat", "--depth", "quick"), "--rag"),
        (("ask", "Anything?", "--project", ""), "at least 1 character"),
        (("ask", "caf\udce9"), "must be valid UTF-8"),
        (("search", " ", "--project", "p"), "at least 1 character"),
        (("ask", "Anything?", "--include", "all"), "include"),
        (("ask", "Anything?", "--top-k", "51"), "less than or equal to 50"),
        (("serve", "--auth", "function"), "--auth"),
        (("nonsense",), "nonsense"),
    ],
)
def test_wrong_usage_begins_nothing(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in on_one_line(done.stderr)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ingest", "/no/such/folder", "--project", "p"), 1, "/no/such/folder cannot be read"),
        (("\x1b]0;title\x07",), 2, "x1b]0;title"),
        (("up", "--neo4j", "no-version"), 1, "no-version"),
    ],
)
def test_what_cannot_be_done_is_one_clear_message(
    arguments: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    takes_a_folder = arguments[0] in {"ingest", "up"}
    done = command(*arguments, *(("--data-dir", str(tmp_path)) if takes_a_folder else ()))
    assert (done.returncode, done.stdout) == (code, "")
    assert said in on_one_line(done.stderr)
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_tells_a_version_without_a_list_beside_what_else_it_found(
    tmp_path: Path,
) -> None:
    done = command("doctor", "--json", "--neo4j", "5.20", "--data-dir", str(tmp_path))
    told = {one["name"]: (one["state"], one["text"]) for one in json.loads(done.stdout)["findings"]}
    assert (told["neo4j jars"][0], told["local stack"][0]) == ("problem", "note")
    assert "no list of the jars of Neo4j 5.20" in told["neo4j jars"][1]


def on_one_line(shown: str) -> str:
    """Return what typer shows in a frame."""
    return re.sub(r"\s*│\s*│?\s*", " ", shown).replace("\n", "")


def test_a_conversation_answers_each_line_with_references(
    serving: dict[str, Any], demo: dict[str, Any]
) -> None:
    assert demo
    said = "What is a generator expression?\n\n/new\nWhat does the with statement do?\n/quit\n"
    talked = drift("chat", "--rag", "--data-dir", serving["data"], stdin=said)
    assert talked.returncode == 0, talked.stderr
    assert talked.stdout.count("References:") == 2
    assert len(re.findall(r"^\[1\] .+% match\), for sentence \d", talked.stdout, re.MULTILINE)) == 2
    assert "Traceback" not in talked.stderr


def test_nodes_that_stand_in_the_graph_are_indexed_and_kept_right(
    serving: dict[str, Any],
) -> None:
    def labels(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
        done = command(
            *arguments, "--json", "--data-dir", serving["data"], RAG_LABELS="Chunk,Ferry", **env
        )
        return done.returncode, json.loads(done.stdout)["labels"] if done.stdout else []

    env = serving["env"]
    change(
        env,
        "UNWIND range(1, 200) AS i CREATE (:Ferry {project_id: 'ferries', name: 'Ferry ' + i, "
        "description: 'Sails at ' + i}) "
        "WITH count(*) AS made CREATE (:Ferry {name: 'Nobody', description: 'Of no project'})",
    )
    status, [first] = labels("nodes", "index", "-p", "ferries", "--label", "Ferry")
    assert (status, first["seen"], first["missing"], first["mended"]) == (0, 200, 200, 200)
    _, [adopted] = labels("nodes", "index", "-p", "ferries", "--label", "Ferry", "--adopt")
    assert (adopted["seen"], adopted["mended"]) == (201, 1)

    change(env, "MATCH (n:Ferry {name: 'Ferry 7'}) SET n.description = 'Sails no more'")
    change(env, "MATCH (n:Ferry {name: 'Ferry 8'}) REMOVE n.embedding")
    change(env, "MATCH (n:Ferry {name: 'Ferry 9'}) REMOVE n.description")
    _, [mended] = labels("reconcile")
    assert (mended["stale"], mended["missing"], mended["without_text"]) == (1, 1, 1)
    assert mended["mended"] == 3
    _, [right] = labels("reconcile", "-p", "ferries")
    assert (right["stale"], right["missing"], right["mended"]) == (0, 0, 0)

    indexing = ("nodes", "index", "-p", "x", "--label", "Chunk")
    refused = command(*indexing, "--data-dir", serving["data"])
    assert refused.returncode == 2
    assert "RAG_LABELS" in refused.stderr
    change(env, "MATCH (n:Ferry) DETACH DELETE n")
