"""Citations that hold: ids checked, spans verbatim, answers enriched."""

import logging
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.contracts.replies import CitationReply
from drift.evidence.citations import check, document_names
from drift.evidence.numbered_text import NumberedText
from drift.evidence.sentences import sentences as split
from drift.model.graph import Chunk
from drift.model.tree import Citation, CitationCounts
from tests.fakes import chunk

ANY_TEXT = st.text(max_size=300)


def reply(chunk_id: str, words: str = "", sentences: object = "") -> CitationReply:
    return CitationReply.model_validate(
        {"chunk_id": chunk_id, "words": words, "sentences": sentences}
    )


def checked(replies: list[CitationReply], retrieved: list[Chunk]) -> tuple:
    known = {c.id: c for c in retrieved}
    return check(replies, "It says a thing about a", [None] * len(replies), known)


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.event for record in caplog.records]


def test_an_exact_citation_is_kept_with_its_document_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "drift")
    kept, counts = checked([reply("a", "text of a")], [chunk("a", document="Manual")])
    assert kept == (Citation("a", "text of a", "Manual"),)
    assert counts == CitationCounts(total=1, kept=1)
    assert events(caplog) == ["citation_validation_summary"]


def test_every_reason_to_drop_is_logged_by_name_and_summed_up_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "drift")
    replies = [
        reply("", "x"),
        reply("nowhere", "y"),
        reply("a", "The moon is made of cheese."),
        reply("a", "text of a"),
    ]
    caplog.clear()
    kept, counts = checked(replies, [chunk("a")])
    assert [c.chunk_id for c in kept] == ["a"]
    assert counts.dropped == {"null_chunk_id": 1, "unmatched_chunk_id": 1, "span_mismatch": 1}
    assert (counts.total, counts.kept, counts.repaired) == (4, 1, 0)
    assert events(caplog) == [
        "citation_validation_null_chunk_id",
        "citation_validation_unmatched_chunk_id",
        "citation_validation_span_mismatch",
        "citation_validation_summary",
    ]
    unmatched, summary = caplog.records[1], caplog.records[-1]
    assert (unmatched.citation_index, unmatched.chunk_id, unmatched.span_characters) == (
        1,
        "nowhere",
        1,
    )
    assert (summary.total, summary.valid, summary.filtered) == (4, 1, 3)


@pytest.mark.parametrize(
    ("replies", "span", "counts"),
    [
        ([reply("a", "TEXT   of a")], "text of a", CitationCounts(1, 1, 1)),
        ([reply("a")], "It says a thing about a.", CitationCounts(1, 1, 1)),
        ([reply("a", "text of a")] * 2, "text of a", CitationCounts(2, 2)),
    ],
    ids=["repaired", "closest to the answer", "once"],
)
def test_a_span_is_verbatim_and_kept_once(
    replies: list[CitationReply], span: str, counts: CitationCounts
) -> None:
    kept, found = checked(replies, [chunk("a")])
    assert ([one.span for one in kept], found) == ([span], counts)


def test_counts_add_up() -> None:
    one = CitationCounts(2, 1, 1, {"span_mismatch": 1})
    assert one + one == CitationCounts(4, 2, 2, {"span_mismatch": 2})


def test_document_names_come_once_in_order_and_strings_name_none() -> None:
    cited = [Citation("1", "s", "b"), "plain", Citation("2", "s", "a"), Citation("3", "s", "b")]
    assert document_names(cited) == ["b", "a"]


# ------------------------------------------------------------------------ sentences by their number

STORY = Chunk(
    "k1",
    "Marley was dead: to begin with. There is no doubt whatever about that. "
    "Scrooge signed it. “Humbug!” said Scrooge, when he was asked. "
    "Old Marley was as dead as a door-nail. The register of his burial was signed by the clerk.",
    "Carol",
)
OTHER = Chunk("k2", "It was a foggy day. Once upon a time there was he. It was a foggy day.", "Fog")


def cited(
    sentences: object, words: str = "", chunks: tuple[Chunk, ...] = (STORY, OTHER)
) -> tuple[list[tuple[str, str]], CitationCounts]:
    kept, counts = check(
        [reply("K1", words, sentences)], "An answer", [chunks[0].id], {c.id: c for c in chunks}
    )
    known = {c.id: c for c in chunks}
    assert all(c.span in known[c.chunk_id].text for c in kept)
    return [(c.chunk_id, c.sentences) for c in kept], counts


@pytest.mark.parametrize(
    ("sentences", "spans"),
    [
        ("4", ["4"]),
        ("Sentence 4.", ["4"]),
        ("K1, sentence 4", ["4"]),
        ("vier", ["4"]),
        ("four to five", ["4-5"]),
        ("4\u20135", ["4-5"]),
        ("K1.4-K1.5", ["4-5"]),
        ("4, 5", ["4-5"]),
        ([4, 5], ["4-5"]),
        ({"from": 4, "to": 5}, ["4-5"]),
        ("5-4", ["4-5"]),
        ("4.5", ["4-5"]),
        ("4, 4, 4", ["4"]),
        ("2, 4 and 6", ["2", "4", "6"]),
        ("4-900", ["4-6"]),
        ("2-99999999999999999999999999", ["2-4"]),
        ("1, 2, 3, 4, 5, 6", ["1-3", "4-6"]),
        (list(range(1, 1001)), ["1-3", "4-6"]),
        ("4, 77", ["4"]),
        ("K1.4, K2.1", ["4"]),
    ],
)
def test_numbers_of_sentences_are_read_however_they_are_written(
    sentences: object, spans: list[str]
) -> None:
    found, counts = cited(sentences)

    assert found == [("k1", numbers) for numbers in spans]
    assert (counts.total, counts.kept, counts.repaired, counts.dropped) == (1, 1, 0, {})


@pytest.mark.parametrize("sentences", ["0", "7", "77-99", "K2.1"])
def test_a_sentence_that_is_not_there_is_dropped_by_that_name(
    sentences: object, caplog: pytest.LogCaptureFixture
) -> None:
    found, counts = cited(sentences)

    assert found == []
    assert counts.dropped == {"unknown_sentence": 1}
    assert events(caplog) == ["citation_validation_unknown_sentence"]


@pytest.mark.parametrize(
    ("sentences", "words", "numbers", "repaired"),
    [
        ("4", "“Humbug!” said Scrooge, when", "4", 0),
        ("4", '"humbug" SAID  scrooge', "4", 0),
        ("4", "[4] “Humbug!” said Scrooge", "4", 0),
        ("4", "Humbug! says Scrooge", "4", 0),
        ("4", "when he was asked", "4", 0),
        ("4", "“Humbug!” said Scrooge, when he was asked. Old Marley was", "4", 0),
        ("4-5", "Old Marley was as dead", "4-5", 0),
        ("4", "...", "4", 0),
        ("3", "“Humbug!” said Scrooge", "4", 1),
        ("K2.1", "“Humbug!” said Scrooge", "4", 1),
        ("2", "Scrooge signed", "3", 1),
        ("1", "The register of the burial was signed by a clerk.", "6", 1),
    ],
)
def test_first_words_check_a_number_and_find_the_sentence_that_was_meant(
    sentences: str, words: str, numbers: str, repaired: int
) -> None:
    found, counts = cited(sentences, words)

    assert found == [("k1", numbers)]
    assert (counts.kept, counts.repaired) == (1, repaired)


@pytest.mark.parametrize(
    ("sentences", "words", "found"),
    [
        ("2", "Once upon a time", [("k2", "2")]),
        ("2", "Once upon a", []),
        ("2", "upon a time there", []),
        ("2", "It was a foggy day", []),
        ("2", "The moon is made of cheese", []),
        ("99", "The moon is made of cheese", []),
        ("1", "Old", []),
        ("5", "Old", [("k1", "5")]),
    ],
)
def test_four_words_that_begin_one_sentence_of_another_chunk_mean_that_one(
    sentences: str, words: str, found: list[tuple[str, str]]
) -> None:
    kept, counts = cited(sentences, words)
    assert (kept, counts.dropped) == (found, {} if found else {"span_mismatch": 1})


def test_the_sentence_nearest_to_the_number_is_taken() -> None:
    echo = Chunk("k1", "He went home. A. It was so. B. He went home. C. D. He went home.", "Echo")
    assert cited("6", "He went home", (echo,))[0] == [("k1", "5")]


def test_words_alone_name_the_sentence_that_they_begin_and_else_stay_a_span() -> None:
    retrieved = {c.id: c for c in (STORY, OTHER)}

    def kept(words: str) -> list[tuple[str, str]]:
        found, _ = check([reply("K1", words)], "An answer", ["k1"], retrieved)
        return [(c.span, c.sentences) for c in found]

    assert kept("Scrooge signed it") == [("Scrooge signed it.", "3")]
    assert kept("3. Scrooge signed") == [("Scrooge signed it.", "3")]
    assert kept("no doubt whatever") == [("no doubt whatever", "")]
    assert kept(STORY.text[:31]) == [("Marley was dead: to begin with.", "1")]
    assert kept("There is no doubt whatever about that. Scrooge signed it.") == [
        ("There is no doubt whatever about that. Scrooge signed it.", "2-3")
    ]


def test_a_run_that_is_too_long_for_a_span_is_the_sentence_that_its_words_begin() -> None:
    long = Chunk("k1", " ".join(f"Number {n} is {'very ' * 60}long." for n in range(4)), "Long")
    assert cited("1-3", "", (long,))[0] == [("k1", "1")]
    assert cited("1-3", "Number 1 is very", (long,))[0] == [("k1", "2")]


OWN_NUMBERS = Chunk(
    "k1",
    "[3] Smith, On Ships. [4] Jones, On Sails.\n\n12. The twelfth rule holds.\n13. The next.\n\n"
    "| year | ship |\n|---|---|\n| 1805 | Victory |\n| 1912 | Titanic |\n\n"
    "```\nfor n in range(4):\n    print(n)\n```\n\n"
    "Tyger Tyger, burning bright,\nIn the forests of the night;\n\n" + "word " * 1000,
    "Numbers",
)


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ("[4] Jones, On", "Jones, On Sails"),
        ("12. The twelfth rule", "12. The twelfth"),
        ("| 1912 | Titanic", "| 1912 |"),
        ("for n in range(4)", "```\nfor n"),
        ("Tyger Tyger burning bright", "Tyger Tyger"),
        ("In the forests of", "Tyger Tyger"),
        ("word word word word", "word word"),
    ],
)
def test_numbers_brackets_tables_code_and_verse_of_a_chunk_do_not_confuse(
    words: str, begins: str
) -> None:
    retrieved = {"k1": OWN_NUMBERS}
    for sentences in ("1", "3", "900"):
        [kept], _ = check([reply("K1", words, sentences)], "An answer", ["k1"], retrieved)
        assert begins in kept.span
        assert kept.span in OWN_NUMBERS.text
        assert len(kept.span) <= 600


@pytest.mark.parametrize(
    ("chunk_id", "given", "meant"),
    [
        ("K3.4", {}, ("K3", "4")),
        ("[K3, sentence 4-5]", {}, ("K3", "4-5")),
        ("K3.4", {"sentences": "7"}, ("K3", "7")),
        ("K3", {"sentence": 4}, ("K3", "4")),
        ("doc-3.4", {}, ("doc-3.4", "")),
        ("K34", {}, ("K34", "")),
    ],
)
def test_a_number_may_stand_behind_the_handle(
    chunk_id: str, given: dict[str, object], meant: tuple[str, str]
) -> None:
    parsed = CitationReply.model_validate({"chunk_id": chunk_id, **given})
    assert (parsed.chunk_id, parsed.sentences) == meant


PIECES = st.sampled_from(
    ["The ship sank. ", "It was 4. ", "a", " ", "\n\n", "- item\n", "[3] ", "| a | b |\n", "K1 "]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
NUMBERS = st.one_of(
    st.integers(), st.floats(), st.text("0123456789-, sK.", max_size=12), st.none(), st.booleans()
)


@given(
    TEXTS,
    TEXTS,
    st.lists(st.tuples(NUMBERS | st.lists(NUMBERS, max_size=5), TEXTS | ANY_TEXT), max_size=4),
)
def test_every_span_that_is_kept_is_a_slice_of_its_chunk(
    text: str, other: str, said: list[tuple[object, str]]
) -> None:
    retrieved = {"k1": Chunk("k1", text, "one"), "k2": Chunk("k2", other, "two")}
    replies = [reply("K1", words, sentences) for sentences, words in said]

    kept, counts = check(replies, "The ship sank", ["k1"] * len(said), retrieved)

    for citation in kept:
        own = retrieved[citation.chunk_id].text
        assert citation.span
        assert citation.span in own
        if citation.sentences:
            first, _, last = citation.sentences.partition("-")
            units = split(own)
            assert citation.span.startswith(units[int(first) - 1])
            assert citation.span.endswith(units[int(last or first) - 1])
    assert counts.total == len(said) == counts.kept + sum(counts.dropped.values())
    assert counts.repaired <= counts.kept


def test_a_chunk_is_numbered_once_however_many_citations_are_sought_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbered: list[str] = []
    number = NumberedText.of

    def noted(text: str) -> NumberedText:
        numbered.append(text)
        return number(text)

    monkeypatch.setattr(NumberedText, "of", noted)
    chunks = {f"k{n}": Chunk(f"k{n}", f"The ship {n} sank. ", "long") for n in range(20)}
    elsewhere = [reply("K1", "These are words of none", "900")] * 50
    check(elsewhere, "An answer", ["k1"] * 50, chunks)
    assert Counter(numbered) == Counter(chunk.text for chunk in chunks.values())


@pytest.mark.parametrize(
    ("words", "sentences", "at"),
    [("It turns.", "3", 22), ("It turns.", "", 11), ("Corn  IS ground", "", 32)],
)
def test_a_citation_says_where_its_span_begins_in_the_chunk(
    words: str, sentences: str, at: int
) -> None:
    text = "The mill.\n\nIt turns.\n\nIt turns. Corn is ground here. It is bread then."
    [kept], _ = checked([reply("a", words, sentences)], [chunk("a", text)])
    assert kept.at == at
    assert text[at : at + len(kept.span)] == kept.span


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["", "1", "2", "1-3"]))
def test_a_span_stands_where_its_citation_says(text: str, words: str, sentences: str) -> None:
    kept, _ = checked([reply("a", words, sentences)], [Chunk("a", text, "doc")])
    for one in kept:
        assert text[one.at : one.at + len(one.span)] == one.span


def test_a_citation_with_another_figure_than_the_answer_is_dropped_and_told() -> None:
    leases = {
        name: chunk(name, f"The rent is {rent} euros a month.")
        for name, rent in (("a", "4,850"), ("b", "3,920"))
    }
    replies = [reply(name, sentences="1") for name in leases]
    kept, counts = check(replies, "The rent is 4,850 euros a month.", ["a", "b"], leases)
    assert [c.chunk_id for c in kept] == ["a"]
    assert counts == CitationCounts(2, 1, 0, {"contradicted": 1})


FEES = Chunk(
    "k1",
    "Die Gebühr würde bezahlt.\n\nDie Gebühr wurde bezahlt.\n\nDie Gebühr wurde bezahlt, sagt er.",
    "Fees",
    document_id="fees.md",
)


@pytest.mark.parametrize(
    ("words", "number", "taken"),
    [
        ("Die Gebühr wurde bezahlt.", "", "2"),
        ("Die Gebühr wurde bezahlt.", "1", "2"),
        ("Die Gebühr würde bezahlt.", "2", "1"),
        ("Die Gebühr wurde", "1", "1"),
        ("Die Gebühr wurde bezahlt.", "3", "3"),
    ],
)
def test_a_sentence_that_is_written_so_goes_before_one_of_other_letters(
    words: str, number: str, taken: str
) -> None:
    [kept], _ = checked([reply("k1", words, number)], [FEES])
    assert (kept.sentences, kept.document) == (taken, "fees.md")


@pytest.mark.parametrize(
    "text",
    [
        "The wage rose by 1.5 in May.\n\nThe wage rose by 15 in June.",
        "It was 5 below.\n\nIt was -5 below.",
        "In C# it is nice.\n\nIn C++ it is nice.",
        "वह दिन था।\n\nवह दान था।",
    ],
)
def test_first_words_with_other_signs_are_those_of_the_sentence_that_has_them(text: str) -> None:
    one, other = text.split("\n\n")
    chunk = Chunk("k1", text, "Signs")
    for words, number, taken in ((one, "2", "1"), (other, "1", "2")):
        [kept], _ = checked([reply("k1", words[: words.rfind(" ")], number)], [chunk])
        assert kept.sentences == taken, words


STATION = Chunk(
    "k1",
    "Quay Radio\n\nQR-FM (104.9 FM, “Quay 104.9”) is a station.\n\nHowever, in 1883–84 Mart's quay"
    " was built.\n\n``Quay Radio ''Single by Mart. Quay Radio stands.\n\nIt cost 15 crowns.",
    "Quay Radio",
)


@pytest.mark.parametrize(
    ("words", "number", "taken"),
    [
        ("QR FM 104 9", "2", ["2"]),
        ("However in 1883 84", "3", ["3"]),
        ("However in 1883 84", "3-4", ["3-4"]),
        ("However in 188384", "3", []),
        ("Quay Radio", "4", ["4"]),
        ("Quay Radio Single", "4", ["4"]),
        ("Quay Radio", "1", ["1"]),
        ("Quay Radio", "2", ["1"]),
        ("It cost 1 6", "6", []),
        ("QR FM 104 8", "2", []),
    ],
)
def test_first_words_without_signs_are_those_of_the_sentence_that_is_named(
    words: str, number: str, taken: list[str]
) -> None:
    kept, _ = checked([reply("k1", words, number)], [STATION])
    assert [one.sentences for one in kept] == taken


HARBOUR = Chunk("k1", "港は毎朝九時に開きます。犬は港に入れません。船は三十メートルです。", "港")
DAM = Chunk("k2", "ダムは北の谷に 建設されました。", "ダム")


@pytest.mark.parametrize(
    ("words", "number", "taken"),
    [
        ("港は毎朝九時に開きます。犬は港に入れません。", "", ("k1", "1-2")),
        ("犬は港に", "", ("k1", "")),
        ("犬は港に入れま", "3", ("k1", "2")),
        ("ダムは北の谷に 建設されました", "1", ("k2", "1")),
    ],
)
def test_words_without_spaces_count_by_their_letters(
    words: str, number: str, taken: tuple[str, str]
) -> None:
    assert cited(number, words, (HARBOUR, DAM))[0] == [taken]


def test_a_span_stands_where_it_is_no_part_of_a_number() -> None:
    text = "It is 1 500 euros, or 500 euros then."
    [kept], _ = checked([reply("a", "500 euros")], [chunk("a", text)])
    assert (kept.span, kept.at) == ("500 euros", text.rindex("500 euros"))
