"""Data and configuration: text as it stands in the file, cut where its own structure is."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from drift.graph.writing.records import DocumentRecord
from drift.indexing.chunking import MAX_CHARS
from drift.indexing.documents import Skipped, SourceDocument
from drift.indexing.records import chunk_records
from drift.local.ingest.files import document_in
from drift.local.ingest.sources import read_source

LONG = "x" * 1300
STEPS = f"""# Checks
jobs:
  test:
    steps:
      - uses: checkout
        with: {{depth: 0}}
      # Before all else
      - name: Install
        run: |
          pip install .
          # {LONG}
      # What counts
      - name: Run the tests
        run: |
          pytest
"""
MANIFESTS = (
    f"kind: Deployment\nmetadata:\n  name: web\n  note: {LONG}\n---\n"
    "kind: Service\nmetadata:\n  name: web\n"
)
POM = (
    f"<project>\n<!-- {LONG} -->\n<dependency>\n<artifactId>junit</artifactId>\n"
    "</dependency>\n</project>"
)
VIEW = "-- Seats\nCREATE OR REPLACE VIEW s.seats AS\nselect 1;"
BOATS = (
    '{"fleet": "north", "boats": ['
    '{"name": "Mira", "at": {"quay": 7}, "fuel": ["oil", "gas"]}, '
    '{"name": "Skarv", "built": 1e400, "at": {"quay": 8}}]}'
)


def read(name: str, content: str | bytes) -> SourceDocument:
    found = document_in(content.encode() if isinstance(content, str) else content, name, None)
    assert isinstance(found, SourceDocument), found
    return found


@pytest.mark.parametrize(
    ("name", "text", "chunk", "heading", "line"),
    [
        ("a.yaml", STEPS, "name: Run the tests", "jobs > test > steps > Run the tests", 12),
        ("a.yml", MANIFESTS, "kind: Service", "Service web", 5),
        (
            "a.json",
            json.dumps({"a": LONG, "paths": {"/x": {"get": ["one"]}}}, indent=1),
            "one",
            "paths",
            3,
        ),
        ("a.jsonc", f'{{ // {LONG}\n"rules": {{\n"a/*": 1, // two\n}}}}', "two", "rules", 2),
        ("a.xml", POM, "junit", "dependency junit", 3),
        (
            "a.toml",
            f'[tool."a.b"]\nx = "{LONG}"\n# Strict\n[[tool.mypy.overrides]]\ny = 1',
            "y = 1",
            "tool > mypy > overrides",
            3,
        ),
        ("a.cfg", f"[a]\nx = {LONG}\n; Mail\n[mail out]\nport = 25", "25", "mail out", 3),
        (
            "a.sql",
            f"create table a (x text); -- {LONG}\n{VIEW}",
            "select 1",
            "VIEW s.seats",
            2,
        ),
        ("a.sh", f"# {LONG}\n\n# Keeps\nprune() {{\n  rm x\n}}\nprune", "rm x", "prune", 3),
        ("Makefile", f"a: b\n\techo {LONG}\n.PHONY: all\nall: a\n\techo", "all: a", "all", 3),
        (
            "Dockerfile.dev",
            f"FROM a AS b\nRUN {LONG}\n\nFROM c:1\nUSER d",
            "USER d",
            "c:1",
            4,
        ),
    ],
)
def test_a_chunk_stands_under_its_keys_with_the_comments_above(
    name: str, text: str, chunk: str, heading: str, line: int
) -> None:
    document = read(name, text)
    assert (document.text, document.title, document.note) == (text, name, "")
    chunks = chunk_records("p", DocumentRecord(name, name, "s"), document)
    found = next(one for one in chunks if chunk in one.text)
    assert (found.heading, found.first_line) == (f"{name} > {heading}", line)


def test_alike_objects_are_rows_and_what_is_on_one_line_is_laid_out() -> None:
    rows = read("a.json", BOATS).text
    assert rows.startswith("fleet: north\n\n# boats\n")
    assert "| name: Mira | at.quay: 7 | fuel: oil, gas |" in rows
    assert "| name: Skarv | at.quay: 8 | built: 1e400 |" in rows
    repeated = '[{"a": 1, "a": 2, "b": 3}, {"a": 1, "b": 3}]'
    assert read("a.json", repeated).text == repeated

    packed = read("a.json", json.dumps({"a": {"b": [LONG, 1.10]}}).replace("1.1", "1.10"))
    assert (packed.has_lines, packed.text.split("\n")[-4:]) == (
        False,
        ["   1.10", "  ]", " }", "}"],
    )


SECRETS = {
    "a.yaml": "db:\n  password: correct hush staple # why\n  user: ann\n  token: ${TOKEN}\n",
    "b.yaml": "env:\n- name: API_KEY\n  value: hush\n- name: LEVEL\n  value: info\nuser: ann\n",
    "a.json": '{"clientSecret": "hu\\"sh", "user": "ann", "secretName": "tls"}',
    "a.xml": "<a user='ann'><password>hush</password><add key='AccessToken' value='hush'/></a>",
    "a.ini": "[a]\nspring.datasource.password=hush\nurl = http://ann:hush@host/\nuser = ann",
    "a.sh": "export DB_PASSWORD='hush'\nuser=ann\nx=ghp_hushhushhushhushhush\n",
    "a.toml": 'k = """\n-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----\n"""\n'
    'user = "ann"\n[b]\npassword = """\nhush\nhush"""\n',
    "c.yaml": "a:\n  password: |-  # why\n\n    hush\n\n      hush\n  user: ann\n"
    "secret: >\n  hush\n",
    "d.yaml": '- password: "hush\n    hush"\n  user: ann\n- token:\n    hush\n',
    "e.yaml": "- value: hush\n  name: API_KEY\n- name: TOKEN\n  kind: a\n  value: |\n    hush\n"
    "- ann\n",
    "f.yaml": 'args: ["--db-password", "hush", ann]\nb:\n- --token\n- hush\n- ann\n',
    "b.json": '{"a": {"user": "ann"}, "env":[{"name":"DB_PASSWORD","slot":false,"value":"hush"}]}',
    "d.json": '{"headers": {"Authorization": "Bearer hush"}, "a": {"user": "ann"}}',
    "b.xml": "<a user='ann'><setting name='Password'>\n<value>hush</value></setting></a>",
    "Dockerfile": "FROM ann\nENV DB_PASSWORD hush\nARG TOKEN=hush\nENV A=1 \\\n  B_SECRET=hush\n",
    "c.sh": "x --db-password = hush\nx --token : hush\nuser=ann\n",
    "g.yaml": "- {name: --token, value: hush}\n- ann\n",
    "b.sh": "PGPASSWORD=hush psql\nx --password hush -h ann\nx --api-key 'hush'\n"
    "mysql -u ann -phush db\ndocker login -u ann -p hush host\nsshpass -p 'hush' ssh ann\n"
    "curl -u ann:hush http://host -H 'Authorization: Bearer hush'\n",
    "a.conf": 'user ann;\nproxy_set_header Authorization "Basic hush==";\n',
}
READABLE = {
    "a.yaml": "password_policy: at least 12\ndescription: A password is asked for by --password.\n"
    "text: |\n  The token of a caller is kept; its secret is not.\n"
    "authorization: enabled\nsecret:\n  secretName: tls\ntoken: |\n  {{ .Values.token }}\n",
    "a.sh": "mkdir -p a\nssh -p 22 host\ndocker run -p 80:80 a\nmysql -u root -p < a.sql\n"
    'x --password PASSWORD\nx --token "$TOKEN" --password-stdin\nx --secret id=npm,src=a\n'
    'read -p "Password: " word\n  echo "x"\ncurl -H "Authorization: Bearer $TOKEN" host\n',
    "Makefile": "token:\n\tcurl host\n",
}


@pytest.mark.parametrize("name", SECRETS)
def test_values_of_secrets_are_left_out_on_their_lines(name: str) -> None:
    document = read(name, SECRETS[name])
    assert "hush" not in document.text
    assert "ann" in document.text
    assert document.text.count("\n") == SECRETS[name].count("\n")
    assert "secret" in document.note
    assert ("${TOKEN}" in document.text) == ("${TOKEN}" in SECRETS[name])


@pytest.mark.parametrize("name", READABLE)
def test_what_only_speaks_of_secrets_stays(name: str) -> None:
    document = read(name, READABLE[name])
    assert document.text == READABLE[name]
    assert not document.note


def test_the_report_counts_every_secret_that_is_hidden() -> None:
    rows = [{"name": "A_TOKEN", "value": "{hush|"}, {"name": "B", "value": "ghp_" + "h" * 20}] * 2
    document = read("a.json", json.dumps(rows))
    assert document.note.endswith(": 4 times")
    assert "hush" not in document.text
    assert read("c.yaml", SECRETS["c.yaml"]).note.endswith(": 2 times")


def test_files_of_secrets_are_not_read_and_workflows_are(tmp_path: Path) -> None:
    names = ("id_rsa", "db-credentials.json", "secrets.prod.yaml", "prod.env", "a.pem", ".env")
    for name in (
        *names,
        "secrets.md",
        "secretary.yaml",
        ".github/workflows/a.yml",
        ".gitlab-ci.yml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a: 1")
    source = read_source(tmp_path)
    read_names = [one.id for one in source.documents]
    assert read_names == [
        ".github/workflows/a.yml",
        ".gitlab-ci.yml",
        "secretary.yaml",
        "secrets.md",
    ]
    assert sum(one.count for one in source.ignored) == len(names)

    key = document_in(b"-----BEGIN OPENSSH PRIVATE KEY-----\nx", "deploy", None)
    tools = document_in(b"[mcp_servers.a.env]\nK = 'hush'", "config.toml", None)
    assert isinstance(key, Skipped)
    assert isinstance(tools, Skipped)


HOSTILE = {
    "deep.json": b'{"a":' * 20_000,
    "deep.yaml": b"[" * 50_000,
    "deep.xml": b"<a>\n" * 5_000,
    "aliases.yaml": b"a: &a [x, x]\nb: &b [*a, *a]\n" + b"c: [*b, *b]\n" * 2_000,
    "self.yaml": b"a: &a\n  b: *a\n",
    "entities.xml": b"<!DOCTYPE a [<!ENTITY b 'x'><!ENTITY c '&b;&b;'>]><a>&c;</a>",
    "outside.xml": b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
    "object.yaml": b"!!python/object/apply:os.getcwd []\n",
    "template.yaml": b"a: 1\n{{- if .b }}\nc: d\n{{- end }}\n",
    "numbers.json": b'[{"a": NaN, "b": ' + b"9" * 5_000 + b'}, {"a": 1, "b": 2}]',
    "cut.json": b'{"a": [{"b": "c',
    "lies.xml": b"<?xml version='1.0' encoding='utf-16'?>\n<a>\n<b>\xe9</b></a>",
    "heads.toml": b"[a]\n" * 10_000,
    "keys.yaml": b"password a: b c: d e: f\n g: h\n" * 5_000 + b'"secret": "' + b"\n a" * 20_000,
    "blocks.yaml": b"value: a,name: b token: |\n \n" * 5_000 + b"mysql login curl ENV a_" * 5_000,
    "words.ini": b"password value " * 5_000 + b"eyJ-" * 5_000 + b"[" + b" " * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_stands_there_is_text_within_bounds(name: str) -> None:
    began = time.perf_counter()
    document = read(name, HOSTILE[name])
    pieces = document.pieces or ()
    assert all(0 < piece.end - piece.start <= MAX_CHARS for piece in pieces)
    assert "/root" not in document.text
    assert time.perf_counter() - began < 10
