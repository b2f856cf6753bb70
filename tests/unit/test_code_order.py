"""Source code: definitions before uses, and sources before tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.model.graph import Candidate, Candidates, Chunk
from drift.search.code_order import definitions_first
from drift.search.ranking import ranked

ASKED = "How many redirects are allowed by default?"
CONFIG = "DEFAULT_TIMEOUT = 5.0\nDEFAULT_MAX_REDIRECTS = 20\n"
TESTS = tuple(
    (
        f"tests/client/test_redirects_{n}.py",
        f"def test_{n}_redirects():\n    default redirects {n}\n",
    )
    for n in range(10)
)
USE = ("src/client.py", "def send(self):\n    follow the redirects that are allowed by default\n")


def placed(*files: tuple[str, str]) -> list[Chunk]:
    """Return a chunk a file, the best first."""
    return [
        Chunk(path, text, path.rsplit("/", 1)[-1], 1 - place / 100, document_id=path)
        for place, (path, text) in enumerate(files)
    ]


def order(question: str, *files: tuple[str, str]) -> list[str]:
    return [chunk.id for chunk in definitions_first(question, placed(*files))]


def test_a_constant_stands_before_the_tests_and_the_code_that_say_its_words() -> None:
    told = order(ASKED, *TESTS, USE, ("src/config.py", CONFIG))
    assert told == ["src/config.py", "src/client.py", *(path for path, _ in TESTS)]


def test_a_followup_reads_the_definition_first() -> None:
    chunks = placed(*TESTS[:4], ("src/config.py", CONFIG), *TESTS[4:])
    candidates = tuple(Candidate(one, 0.99 - n / 100) for n, one in enumerate(chunks))
    assert ranked(Candidates(candidates), ASKED).chunks[0].id == "src/config.py"


def test_scores_fall_with_the_places() -> None:
    scores = [one.score for one in definitions_first(ASKED, placed(*TESTS, ("a.py", CONFIG)))]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "question", ["Which test follows redirects?", "redirects tested", "the spec of redirects"]
)
def test_tests_stay_where_they_are_for_a_question_about_tests(question: str) -> None:
    assert order(question, TESTS[0], ("src/a.py", "x"))[0] == TESTS[0][0]


@pytest.mark.parametrize(
    "path",
    [
        "tests/support.py",
        "pkg/test/data.go",
        "pkg/args_test.go",
        "src/__tests__/args.ts",
        "src/args.spec.ts",
        "src/args.test.jsx",
        "conftest.py",
        "src/main/ClientTest.java",
        "Client.Specs/ClientTests.cs",
        "pkg/_vendor/six.py",
        "third_party/six.py",
        "pkg/externals/six.py",
        "examples/six.py",
        "dist/six.js",
        "pkg\\tests\\support.py",
    ],
)
def test_paths_tell_tests_and_copies(path: str) -> None:
    assert order("redirects", (path, "x"), ("src/latest.py", "y")) == ["src/latest.py", path]


@pytest.mark.parametrize("path", ["src/contest.py", "src/latest/protest.go", "testing.py", "a.ts"])
def test_other_paths_stay_where_they_are(path: str) -> None:
    assert order("redirects", (path, "x"), ("src/b.py", "y")) == [path, "src/b.py"]


def test_a_folder_that_is_asked_for_is_no_copy() -> None:
    files = (("vendor/six.py", "x"), ("src/a.py", "y"))
    assert order("What does the vendored six do?", *files) == ["vendor/six.py", "src/a.py"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "def max_redirects(self) -> int:"),
        ("a.py", "    async def _max_redirects("),
        ("a.py", "class MaxRedirects(Exception):"),
        ("a.py", "    MAX_REDIRECTS: int = 20"),
        ("a.py", "max_redirects = 20"),
        ("a.go", "func (c *Client) MaxRedirects() int {"),
        ("a.go", "\tMaxRedirects = 20"),
        ("a.java", "    private static final int MAX_REDIRECTS = 20;"),
        ("a.java", "    public Map<String, Integer> maxRedirects() {"),
        ("a.cs", "    public int MaxRedirects { get; }"),
        ("a.ts", "export default async function maxRedirects() {"),
        ("a.ts", "  maxRedirects(of: Client): number {"),
        ("a.js", "export const maxRedirects = (x) => x;"),
        ("a.rs", "pub fn max_redirects() -> u8 {"),
    ],
)
def test_lines_tell_definitions_in_many_languages(path: str, line: str) -> None:
    use = ("use.py", "    client.max_redirects(max_redirects)\n    if max_redirects == 3:")
    assert order("What are the max redirects?", use, (path, line))[0] == path


def test_the_name_with_the_most_of_the_question_stands_first_and_its_class_counts() -> None:
    send = ("a.py", "def send(item):\n")
    receive = ("b.py", "def receive(self, timeout):\n")
    under = Chunk("c", receive[1], "c.py", 0.9, heading="Channel > receive", document_id="c.py")
    chunks = (*placed(send, receive), under)
    told = definitions_first("How does a channel receive an item?", chunks)
    assert [chunk.id for chunk in told] == ["c", "b.py", "a.py"]


def test_of_two_names_that_have_a_question_the_shorter_stands_first() -> None:
    files = (("a.py", "MAX_REDIRECTS_OF_PROXIES = 3"), ("b.py", "MAX_REDIRECTS = 20"))
    assert order("What are the max redirects?", *files) == ["b.py", "a.py"]


@pytest.mark.parametrize("text", ["def a\n" * 160_000, "\npublic a<" * 100_000, "a" * 1_000_000])
@pytest.mark.timeout(5)
def test_a_long_text_costs_little(text: str) -> None:
    assert order("a public name", ("a.py", text), ("b.py", "")) == ["a.py", "b.py"]


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=30)), max_size=9), st.text())
def test_without_source_code_nothing_moves(files: list[tuple[str, str]], question: str) -> None:
    chunks = placed(*((f"tests/{name}.md", f"{question} {text}") for name, text in files))
    assert definitions_first(question, chunks) == tuple(chunks)


def test_where_all_are_tests_nothing_moves() -> None:
    assert definitions_first(ASKED, placed(*TESTS)) == tuple(placed(*TESTS))


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=30)), max_size=9), st.text())
def test_no_chunk_is_lost_or_doubled(files: list[tuple[str, str]], question: str) -> None:
    chunks = placed(*((f"{name}.py", f"def {question} {text}") for name, text in files))
    told = definitions_first(question, chunks)
    assert sorted(chunk.id for chunk in told) == sorted(chunk.id for chunk in chunks)
