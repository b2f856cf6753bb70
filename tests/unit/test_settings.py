"""Settings: everything wrong is named at once, and no value is repeated."""

import os
from typing import Any

import pytest

from drift.core.errors import NotConfiguredError
from drift.http.settings import Settings, load, load_page
from drift.http.settings_search import efforts, lengths
from drift.llm.options import EFFORTS, STEPS

GOOD = {
    "OAI_BASE_URL": "https://example.openai.azure.com/",
    "OAI_MODEL": "gpt",
    "OAI_EMBED_MODEL_NAME": "text-embedding-3-large",
    "NEO4J_URI": "neo4j+s://example.databases.neo4j.io",
    "NEO4J_PASSWORD": "canary-password",
}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.delenv(name, raising=False)


def problems(**changes: Any) -> tuple[str, ...]:
    values = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(NotConfiguredError) as caught:
        load(values)
    return caught.value.problems


def names(found: tuple[str, ...]) -> set[str]:
    return {problem.split(":")[0].split(" ")[0] for problem in found}


def test_the_required_settings_are_enough_and_the_rest_has_the_documented_defaults() -> None:
    settings = load(GOOD)
    assert (settings.retry_max_attempts, settings.retry_backoff_base_sec) == (3, 2)
    assert (settings.retry_backoff_factor, settings.retry_backoff_max_sec) == (2, 60)
    assert (settings.max_passes, settings.deadline_sec, settings.log_questions) == (2, 200, False)
    assert (settings.followup_scope, settings.redis_auth, settings.redis_url) == (
        "soft",
        "url",
        None,
    )
    assert (settings.oai_key, settings.oai_api_version, settings.llm_temperature) == (
        None,
        None,
        None,
    )


def test_the_environment_is_read_in_any_case_and_empty_counts_as_unset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        **GOOD,
        "TOP": "x",
        "MAX_PASSES": "3",
        "LLM_TEMPERATURE": "",
        "LOG_QUESTIONS": "true",
    }.items():
        monkeypatch.setenv(name, value)
    settings = load()
    assert (settings.max_passes, settings.llm_temperature, settings.log_questions) == (
        3,
        None,
        True,
    )
    monkeypatch.setenv("OAI_MODEL", "")
    with pytest.raises(NotConfiguredError, match="OAI_MODEL is not set"):
        load()


@pytest.mark.parametrize(("value", "schema"), [("", "default"), ("v1", "v1")])
def test_the_graph_schema_is_one_of_two(
    monkeypatch: pytest.MonkeyPatch, value: str | None, schema: str
) -> None:
    for name, setting in {**GOOD, **({} if value is None else {"GRAPH_SCHEMA": value})}.items():
        monkeypatch.setenv(name, setting)
    assert load().graph_schema == schema


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"MILVUS_URI": "canary"}, "MILVUS_URI: must be https://"),
        ({}, "MILVUS_URI: must be https://"),
        ({"MILVUS_URI": "ftp://canary/a.db"}, "MILVUS_URI: must be"),
        ({"MILVUS_URI": "http://canary.example:19530"}, "ALLOW_PLAINTEXT"),
        ({"MILVUS_URI": "a.db", "GRAPH_SCHEMA": "langchain"}, "VECTOR_STORE: milvus needs"),
        ({"MILVUS_URI": "a.db", "MILVUS_INDEX": "canary"}, "MILVUS_INDEX"),
        ({"MILVUS_URI": "a.db", "MILVUS_COLLECTION": "a b"}, "MILVUS_COLLECTION"),
    ],
)
def test_milvus_is_refused_where_it_cannot_be(given: dict[str, str], said: str) -> None:
    [problem] = problems(VECTOR_STORE="milvus", **given)
    assert said in problem
    assert "canary" not in problem
    load({**GOOD, "VECTOR_STORE": "Milvus", "MILVUS_URI": "https://m.example/db"})


def test_values_given_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_PASSES", "3")
    assert load({**GOOD, "MAX_PASSES": "4"}).max_passes == 4
    assert "MAX_PASSES" in os.environ


def test_the_user_of_the_graph_has_a_second_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USER", "ada")
    assert load(GOOD).neo4j_username == "ada"
    assert load({**GOOD, "NEO4J_USERNAME": "bob"}).neo4j_username == "bob"


def test_a_dotenv_file_is_not_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MAX_PASSES=5\n")
    monkeypatch.chdir(tmp_path)
    assert load(GOOD).max_passes == 2


def test_every_missing_setting_is_named() -> None:
    with pytest.raises(NotConfiguredError) as caught:
        load({})
    assert set(caught.value.problems) == {f"{name} is not set." for name in GOOD}
    assert all(problem in caught.value.detail for problem in caught.value.problems)


def test_missing_wrong_unencrypted_and_mismatched_settings_are_named_at_once() -> None:
    found = problems(
        OAI_MODEL=None,
        MAX_PASSES="many",
        FOLLOWUP_SCOPE="wide",
        NEO4J_URI="bolt://db.example.org",
        REDIS_URL="redis://cache.example.org",
        OAI_EMBED_MODEL_NAME="text-embedding-3-small",
        CHUNK_VECTOR_INDEX_NAME="a`b",
        NEO4J_PASSWORD="@Microsoft.KeyVault(SecretUri=https://v/s)",
    )
    assert names(found) == {
        "OAI_MODEL",
        "MAX_PASSES",
        "FOLLOWUP_SCOPE",
        "NEO4J_URI",
        "REDIS_URL",
        "VECTOR_INDEX_DIMENSIONS",
        "CHUNK_VECTOR_INDEX_NAME",
        "NEO4J_PASSWORD",
    }
    assert len(found) == 8


WRONG = {
    "OAI_BASE_URL": ("canary.example.org", "https://[canary]/"),
    "NEO4J_URI": ("canary://host", "neo4j+s://"),
    "REDIS_URL": ("rediss://:canary@host\u2100:6380", "redis://:canary@cache.example.org"),
    "OAI_TIMEOUT_SEC": ("canary", "0"),
    "OAI_REASONING_EFFORT": ("low,canary", "canary=low", "primer=canary", "primer=low=high"),
    "MAX_COMPLETION_TOKENS": ("15", "1000001", "1_000", "followup=canary"),
    "VECTOR_INDEX_DIMENSIONS": ("4097",),
    "REDIS_AUTH": ("canary",),
    "DEADLINE_SEC": ("226",),
    "CHUNK_FULLTEXT_INDEX_NAME": ("x`) DETACH DELETE (canary", "1canary"),
    "RAG_LABELS": ("Chunk,", "canary label", "`x`", "x" * 64, "Ä"),
    "RAG_SCORE_THRESHOLD": ("1.1", "nan"),
    "RAG_PROJECT": ("x" * 129,),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_wrong_setting_is_named_and_its_value_is_not_repeated(name: str, value: str) -> None:
    found = problems(**{name: value})
    assert names(found) == {name}
    assert "canary" not in " ".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, {}),
        (" XHIGH ", dict.fromkeys(STEPS, "xhigh")),
        ("unsent", dict.fromkeys(STEPS, None)),
        ("primer=none, aggregation = medium", {"primer": "none", "aggregation": "medium"}),
        ("followup=unsent", {"followup": None}),
    ],
)
def test_an_effort_is_one_for_all_steps_or_named_for_some(
    text: str | None, expected: dict[str, str | None]
) -> None:
    load({**GOOD, **({"OAI_REASONING_EFFORT": text} if text else {})})
    assert efforts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2000", dict.fromkeys(STEPS, 2000)),
        ("unsent", dict.fromkeys(STEPS, None)),
        ("hypothesis=16,followup=1000000", {"hypothesis": 16, "followup": 1_000_000}),
    ],
)
def test_the_longest_reply_is_one_for_all_steps_or_named_for_some(
    text: str, expected: dict[str, int | None]
) -> None:
    load({**GOOD, "MAX_COMPLETION_TOKENS": text})
    assert lengths(text) == expected


def test_a_wrong_value_for_a_step_says_which_steps_and_values_there_are() -> None:
    [problem] = problems(OAI_REASONING_EFFORT="thorough")
    for word in (*STEPS, *EFFORTS, "unsent"):
        assert word in problem


def test_an_unresolved_key_vault_reference_says_so() -> None:
    [problem] = problems(NEO4J_PASSWORD="@Microsoft.KeyVault(VaultName=v;SecretName=s)")
    assert "unresolved Key Vault reference" in problem
    assert "identity's access to the vault" in problem


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("NEO4J_URI", "bolt://db.example.org:7687"),
        ("OAI_BASE_URL", "http://model.example.org/v1"),
        ("REDIS_URL", "redis://127.0.0.1.example.org"),
    ],
)
def test_plaintext_is_refused_unless_it_is_allowed(name: str, url: str) -> None:
    [problem] = problems(**{name: url})
    assert "ALLOW_PLAINTEXT" in problem
    load({**GOOD, name: url, "ALLOW_PLAINTEXT": "true"})


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("NEO4J_URI", "neo4j+ssc://db.example.org"),
        ("OAI_BASE_URL", "http://127.0.0.9:1234/v1"),
        ("REDIS_URL", "redis://[::1]:6379"),
        ("REDIS_URL", "rediss://:secret@cache.example.org:6380"),
    ],
)
def test_loopback_and_encrypted_addresses_are_taken(name: str, url: str) -> None:
    taken = getattr(load({**GOOD, name: url}), name.lower())
    assert (taken if isinstance(taken, str) else taken.get_secret_value()) == url


def test_over_http_the_database_has_to_be_named_and_else_it_is_the_home_of_the_user() -> None:
    over_http = {"NEO4J_URI": "https://0a1b2c3d.databases.neo4j.io"}
    [problem] = problems(**over_http)
    assert problem.startswith("NEO4J_DATABASE: is needed with http:// and https://")
    assert load({**GOOD, **over_http, "NEO4J_DATABASE": "0a1b2c3d"}).neo4j_database == "0a1b2c3d"
    assert load(GOOD).neo4j_database is None


@pytest.mark.parametrize(
    ("model", "dimensions", "fits"),
    [
        ("text-embedding-3-small", "1536", True),
        ("text-embedding-3-small", "1537", False),
        ("text-embedding-3-large", None, True),
        ("text-embedding-3-large", "3073", False),
        ("a-model-nobody-knows", "4096", True),
    ],
)
def test_dimensions_are_compared_with_what_the_model_gives(
    model: str, dimensions: str | None, fits: bool
) -> None:
    changes = {"OAI_EMBED_MODEL_NAME": model, "VECTOR_INDEX_DIMENSIONS": dimensions}
    if fits:
        load({k: v for k, v in {**GOOD, **changes}.items() if v is not None})
    else:
        [problem] = problems(**changes)
        assert problem.startswith("VECTOR_INDEX_DIMENSIONS")
        assert "OAI_EMBED_MODEL_NAME" in problem


def test_secrets_are_not_shown_and_settings_cannot_be_changed() -> None:
    settings = load({**GOOD, "OAI_KEY": "canary-key", "REDIS_URL": "rediss://:canary-token@host"})
    assert "canary" not in repr(settings) + str(settings) + settings.model_dump_json()
    with pytest.raises(ValueError, match="frozen"):
        settings.max_passes = 3


@pytest.mark.parametrize(
    ("mode", "named", "channel"),
    [
        ("function", None, "ui:retrieval_progress"),
        ("keys", None, "ui:retrieval_progress:{retrieval_id}"),
        ("easyauth", None, "ui:retrieval_progress:{retrieval_id}"),
        ("keys", "ui:retrieval_progress", "ui:retrieval_progress"),
        ("function", "team-a/{retrieval_id}", "team-a/{retrieval_id}"),
    ],
)
def test_the_channel_follows_from_the_mode_unless_it_is_named(
    mode: str, named: str | None, channel: str
) -> None:
    keys = '[{"name": "a", "sha256": "' + "0" * 64 + '", "projects": ["a"]}]'
    access = {"AUTH_MODE": mode, "AUTH_TENANT_ID": "t", "PROJECT_KEYS": keys}
    settings = load({**GOOD, **access, **({"PROGRESS_CHANNEL": named} if named else {})})
    assert settings.channel_template == channel


@pytest.mark.parametrize("named", ["*", "{project_id}", "caf\u00e9", "x" * 201, "a\nb"])
def test_a_channel_that_redis_could_take_for_a_pattern_is_refused(named: str) -> None:
    assert names(problems(PROGRESS_CHANNEL=named)) == {"PROGRESS_CHANNEL"}


def test_labels_of_nodes_are_read_with_commas_between_them() -> None:
    assert load(GOOD).searched_labels == ("Chunk", "Entity", "Community")
    given = load({**GOOD, "RAG_LABELS": " Chunk, Person ,Chunk"})
    assert given.searched_labels == ("Chunk", "Person")


def test_the_page_is_there_where_a_setting_is_not_resolved_yet() -> None:
    assert load_page({"OAI_MODEL": "@Microsoft.KeyVault(SecretUri=x)"}).oai_model
