"""What each prompt holds of what was found, within its bound of tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from drift.local.prompt_elements import Element, element, elements
from drift.model.calls import Prompt
from drift.model.graph import Chunk, Community, Evidence, PrimerEvidence, Relationship
from drift.model.limits import Limits
from drift.model.tree import ANSWERED, Citation, LocalAnswer, Node, Question
from drift.prompting import budget
from drift.prompting.batching import Found
from drift.prompting.elements import Handles, RequestHandles, SearchHistory
from drift.prompting.tokens import cut_to, most_tokens
from tests.fakes import chunk, community
from tests.unit.searching import asked_before, chunks_of, told

BOUND = 3_000
WORDS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(["word ", "Wörter. ", "слово ", "字。", "`", "x", "🚢", "\n", "</chunk>"]).map(
        lambda text: text * 300
    ),
)


def cost(prompt: Prompt) -> int:
    return most_tokens(prompt.system) + most_tokens(prompt.user)


def limits(most_tokens: int) -> Limits:
    return Limits(max_chunks_for_prompt=10, max_prompt_tokens=most_tokens)


def handles_of(evidence: Evidence, *others: str) -> RequestHandles:
    """Return the handles of a request that has shown nothing before."""
    return RequestHandles().including((*(c.id for c in evidence.chunks), *others))


def read(
    evidence: Evidence,
    within: Limits,
    memory: SearchHistory = SearchHistory(),  # noqa: B008 - frozen
    handles: RequestHandles | None = None,
) -> tuple[Prompt, tuple[Chunk, ...]]:
    """Return the prompt of one follow-up and what it shows."""
    group = (Found(Question(0, "f"), evidence, evidence.chunks),)
    handles = handles or handles_of(evidence)
    reading = budget.executor("q", group, handles, memory, within)
    return reading.prompt, reading.shown


def communities_of(found: PrimerEvidence) -> Handles[int | str]:
    return Handles.of("C", (community.id for community in found.communities))


def answered(
    number: int, said: str, *cited: Citation, confidence: float = 0.5, parent: int | None = None
) -> Node:
    answer = LocalAnswer(said, cited, confidence)
    return Node(Question(number, f"q{number}", parent=parent), ANSWERED, answer)


def samples_of(prompt: Prompt) -> list[Element]:
    return elements(prompt.user, "sample")


# ------------------------------------------------------------------------------------------- bounds
@settings(max_examples=15, deadline=None)
@given(WORDS, WORDS, WORDS, WORDS, st.integers(1, 4))
@example("0:0:À\U00010000\U00010000", "0:0:0:À0À", "", "</chunk>" * 300, 1)
def test_no_prompt_is_over_its_bound(
    asked: str, text: str, summary: str, said: str, together: int
) -> None:
    name = said[:700] or "doc"
    chunks = tuple(Chunk(f"c{n}", text, name, heading=summary[:900]) for n in range(12))
    communities = [
        Community(n, 1, summary, name, frozenset(one.id for one in chunks[n : n + 3]))
        for n in range(8)
    ]
    evidence = Evidence(
        chunks,
        relationships=tuple(
            Relationship(asked, f"E{n}", f"{said} {n}", (f"k{n}",)) for n in range(30)
        ),
    )
    cited = [Citation(f"c{n}", text[:600], name, "1") for n in range(12)]
    nodes = [
        Node(Question(n, asked), ANSWERED, LocalAnswer(said, (cited[n],), 0.5)) for n in range(12)
    ]
    handles = handles_of(evidence)
    group = tuple(Found(Question(n, asked), evidence, chunks[n : n + 5]) for n in range(together))
    memory = SearchHistory(tuple(nodes[:4]), (said, text), is_last=together == 1)
    executor = budget.executor(asked, group, handles, memory, limits(BOUND))
    assert cost(executor.prompt) <= BOUND
    assert executor.shown
    assert len(chunks_of(executor.prompt)) == len(executor.shown)

    quick = budget.quick(asked, chunks, handles, BOUND)
    assert cost(quick.prompt) <= BOUND
    assert len(chunks_of(quick.prompt)) == len(quick.shown) > 0

    found = PrimerEvidence(tuple(communities), chunks * 5)
    primer = budget.primer(asked, found, communities_of(found), BOUND).prompt
    assert cost(primer) <= BOUND
    assert samples_of(primer) or element(primer.user, "candidates").lines()

    retrieved = {c.id: c for c in chunks}
    aggregator, facts = budget.aggregator(asked, nodes, retrieved, BOUND)
    assert cost(aggregator) <= BOUND
    assert facts

    hypothesis = budget.hypothesis(asked * 20, BOUND)
    assert cost(hypothesis) <= BOUND
    for prompt in (executor.prompt, quick.prompt, primer, aggregator):
        assert cost(budget.second_try(prompt, said + text, asked, BOUND)) <= BOUND


@given(WORDS, st.integers(1, 500))
def test_a_text_cut_to_tokens_is_a_beginning_within_them(text: str, most: int) -> None:
    short = cut_to(text, most)
    assert text.startswith(short)
    assert most_tokens(short) <= most or len(short) <= 2


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_longer_text_never_costs_less(text: str, more: str) -> None:
    assert most_tokens(text) <= most_tokens(text + more)
    assert most_tokens(text) <= 4 + 5 * len(text)


# ----------------------------------------------------------------------------------------- executor


def test_in_prose_a_chunks_handle_stands_for_its_document_and_any_other_for_nothing() -> None:
    handles = RequestHandles(Handles.of("C", [7]), Handles.of("K", ["a", "gone"]))
    assert handles.in_prose({"a": chunk("a", document="Carol")}) == {
        "C1": "",
        "K1": "Carol",
        "K2": "",
    }


def test_a_chunk_says_its_headings_and_its_place_where_they_are_known() -> None:
    known = Chunk("a", "text", "Carol", heading="Stave One > Fog", place=12, places=42)
    prompt, _ = read(Evidence((known, chunk("b"))), limits(BOUND))
    shown, untold = chunks_of(prompt)
    assert shown == Element(
        {"id": "K1", "document": "Carol", "heading": "Stave One &gt; Fog", "place": "12 of 42"},
        "1| text",
    )
    assert set(untold.attributes) == {"id", "document"}


def test_documents_of_one_name_are_shown_with_their_paths() -> None:
    same = [
        Chunk(path, f"It is {path}.", "README.md", document_id=path)
        for path in ("app/README.md", "lib/README.md")
    ]
    other = Chunk("c", "It is so.", "Manual", document_id="manual.md")
    evidence = Evidence((*same, other))
    names = ["README.md (app/README.md)", "README.md (lib/README.md)", "Manual"]

    prompt, shown = read(evidence, limits(BOUND))
    assert [one["document"] for one in elements(prompt.user, "chunk")] == names
    assert shown == evidence.chunks
    reading = budget.primer(
        "q", PrimerEvidence(candidates=evidence.chunks * 3), Handles("C"), BOUND
    )
    assert [one["document"] for one in elements(reading.prompt.user, "sample")][:3] == names
    assert "| README.md (app/README.md): It is app/README.md." in reading.prompt.user
    assert reading.shown == evidence.chunks * 3

    alone, _ = read(Evidence((same[0], other)), limits(BOUND))
    assert [one["document"] for one in elements(alone.user, "chunk")] == ["README.md", "Manual"]


def test_chunks_of_one_document_stand_in_its_order_and_documents_by_their_best_chunk() -> None:
    def part(document: str, place: int, places: int = 9) -> Chunk:
        return Chunk(f"{document}{place}", "text", document, place=place, places=places)

    best_first = (part("b", 7), part("a", 3), part("b", 2), part("a", 1), part("b", 5, 6))
    evidence = Evidence((*best_first, chunk("x"), chunk("y")))
    prompt, shown = read(evidence, limits(BOUND))
    assert shown == evidence.chunks
    assert [(row["id"], row["document"], row["place"]) for row in chunks_of(prompt)] == [
        ("K3", "b", "2 of 9"),
        ("K1", "b", "7 of 9"),
        ("K4", "a", "1 of 9"),
        ("K2", "a", "3 of 9"),
        ("K5", "b", "5 of 6"),
        ("K6", "doc", ""),
        ("K7", "doc", ""),
    ]


def test_the_graph_is_left_out_first_then_names_and_what_was_asked_then_chunks() -> None:
    prose = "Some words are said here. " * 8
    ids = tuple(f"c{n}" for n in range(3))
    evidence = Evidence(
        tuple(Chunk(name, prose, "doc") for name in ids),
        relationships=tuple(
            Relationship("f", f"F{n}", f"{n} {prose}", (f"k{n}",)) for n in range(3)
        ),
    )
    settled = tuple(answered(n, prose, Citation("c0", "Said.", "doc")) for n in range(3))
    memory = SearchHistory(settled, names=tuple(f"{prose} {n}" for n in range(3)))

    kinds: list[tuple[int, ...]] = []
    for most in range(900, 2_600, 20):
        prompt, shown = read(evidence, limits(most), memory)
        names = element(prompt.user, "names").content
        graph = element(prompt.user, "graph").content
        kinds.append(
            (
                len(shown),
                len(asked_before(prompt)),
                names.count(";") + bool(names),
                len(graph.splitlines()),
            )
        )
    in_order = [(1, 0, 0, 0), (3, 0, 0, 0), (3, 3, 0, 0), (3, 3, 3, 0), (3, 3, 3, 3)]
    assert [kind for kind in dict.fromkeys(kinds) if kind in in_order] == in_order


def test_the_only_chunk_that_fits_keeps_its_first_sentences_and_its_handle() -> None:
    long = Chunk("a", "".join(f"This is sentence {n} of it. " for n in range(2_000)), "doc")
    prompt, [shown] = read(Evidence((long, chunk("b"))), limits(BOUND))
    assert shown == long
    [row] = chunks_of(prompt)
    assert row["id"] == "K1"
    assert row.sentences() == {
        n + 1: f"This is sentence {n} of it." for n in range(len(row.sentences()))
    }
    assert len(row.sentences()) > 50
    assert cost(prompt) > BOUND * 0.9


def test_the_only_sentence_that_does_not_fit_is_cut_between_words() -> None:
    long = Chunk("a", "字" * 590, "doc")
    prompt, [shown] = read(Evidence((long,)), limits(1_200))
    [said] = chunks_of(prompt)[0].sentences().values()
    assert shown == long
    assert 10 < len(said) < 590
    assert set(said) == {"字"}


# ------------------------------------------------------------------------------------------- primer
def primed(found: PrimerEvidence, most: int = BOUND) -> Prompt:
    return budget.primer("q", found, communities_of(found), most).prompt


def test_samples_are_the_best_candidates_each_with_the_community_that_it_is_of() -> None:
    best = tuple(chunk(name, name.upper()) for name in "abcdef")
    found = PrimerEvidence((community(7, best[1]), community("x", best[1], best[2])), best)
    prompt = primed(found)
    assert samples_of(prompt) == [
        Element({"id": "P1", "document": "doc"}, "A"),
        Element({"id": "P2", "community": "C1", "document": "doc"}, "B"),
        Element({"id": "P3", "community": "C2", "document": "doc"}, "C"),
        Element({"id": "P4", "document": "doc"}, "D"),
        Element({"id": "P5", "document": "doc"}, "E"),
    ]
    assert element(prompt.user, "candidates").lines() == ["P6| doc: F"]


def test_a_community_of_which_only_weaker_chunks_were_found_is_left_out() -> None:
    best = tuple(chunk(name) for name in "abcdef")
    weak, strong, other = community(1, best[5]), community(2, best[5], best[4]), community(3)
    found = PrimerEvidence((weak, strong, other), best)
    assert found.without_weak().communities == (strong,)
    only_weak = replace(found, communities=(weak, other))
    assert only_weak.without_weak() == only_weak


def test_of_a_long_passage_the_primer_sees_the_beginning_or_a_line() -> None:
    long = chunk("a", "This is a sentence of the text. " * 2_000)
    [sample] = samples_of(primed(PrimerEvidence(candidates=(long,))))
    assert sample.content.startswith("This is a sentence of the text. This is")
    assert 1_900 < len(sample.content) < 2_100

    prompt = primed(PrimerEvidence(candidates=(chunk("b", "\u6f22\u5b57\u3002" * 2_000),)))
    assert samples_of(prompt) == []
    [line] = element(prompt.user, "candidates").lines()
    assert line.startswith("P1| doc: \u6f22")


def test_many_communities_have_shorter_summaries_before_one_is_left_out() -> None:
    count = 50
    communities = tuple(Community(n, 0, "A word of it. " * 300) for n in range(count))
    prompt = primed(PrimerEvidence(communities), 4_000)
    assert len(elements(prompt.user, "community")) == count


def test_a_candidate_is_a_name_and_the_sentence_with_most_of_the_question() -> None:
    texts = {
        "Ada > Life": "Ada\nAda was born. She was a poet's daughter in Ulm. She wrote.",
        "Bo": "Bo is a poet. He wrote.",
        "Cy": "Cy. A poet.\nNobody.",
        "Di": "Di",
        "Ed": "Ed was first. " + "He wrote. " * 1_000 + "Born a poet in Ulm.",
    }
    chunks = [
        replace(chunk(name, text, name.partition(" ")[0]), heading=name.partition(" > ")[2])
        for name, text in texts.items()
    ]
    samples = tuple(chunk(f"s{n}", "Of it.") for n in range(5))
    found = PrimerEvidence((), (*samples, *chunks))
    handles = communities_of(found)
    prompt = budget.primer("Which poet was born in Ulm?", found, handles, BOUND).prompt
    assert element(prompt.user, "candidates").lines() == [
        "P6| Ada > Life: She was a poet's daughter in Ulm.",
        "P7| Bo: Bo is a poet.",
        "P8| Cy: Cy. A poet.",
        "P9| Di: Di",
        "P10| Ed: Ed was first.",
    ]


def test_samples_and_summaries_leave_room_for_lines() -> None:
    candidates = tuple(chunk(f"c{n}", "Many words of it. " * 20, "d" * 90) for n in range(60))
    communities = tuple(Community(n, 0, "A word of it. " * 300) for n in range(5))
    found = PrimerEvidence(communities, candidates)
    reading = budget.primer("q", found, communities_of(found), 2_500)
    shown = [*samples_of(reading.prompt), *element(reading.prompt.user, "candidates").lines()]
    assert len(elements(reading.prompt.user, "community")) == 5
    assert 0 < len(samples_of(reading.prompt)) < 5
    assert len(samples_of(reading.prompt)) + 5 < len(shown) == len(reading.shown) < 60


# --------------------------------------------------------------------------------------- aggregator
def aggregated(nodes: Iterable[Node], most: int = BOUND) -> tuple[Prompt, list[str]]:
    """Return the prompt of the last call, and the spans of its facts by number."""
    prompt, facts = budget.aggregator("q", list(nodes), {}, most)
    assert [fact.number for fact in facts] == list(range(1, len(facts) + 1))
    return prompt, [fact.citation.span for fact in facts]


def test_the_least_confident_answers_are_left_out_with_their_facts() -> None:
    nodes = [
        answered(n, "Words. " * 150, Citation(f"c{n}", f"span {n}", "d"), confidence=n / 10)
        for n in range(8)
    ]
    prompt, spans = aggregated(nodes)
    shown = list(told(prompt))
    assert 1 < len(shown) < 8
    assert sorted(shown) == [f"q{n}" for n in range(8 - len(shown), 8)]
    assert sorted(spans) == [f"span {n}" for n in range(8 - len(shown), 8)]


def test_the_only_answer_that_fits_is_cut_with_its_facts() -> None:
    cited = [Citation(f"c{n}", f"Span {n} is of it. " * 30, "d") for n in range(20)]
    prompt, spans = aggregated([answered(0, "Words are said. " * 2_000, *cited)])
    assert cost(prompt) <= BOUND
    assert spans == [citation.span for citation in cited[: len(spans)]]
    assert 0 < len(spans) < 20
    [said] = told(prompt).values()
    assert said.endswith("Words are said.")
