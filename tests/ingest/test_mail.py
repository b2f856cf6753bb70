"""Mail: messages, what is attached to them, and what they quote, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from drift.core.errors import IngestError
from drift.indexing.documents import Skipped, SourceDocument
from drift.local.ingest.files import document_in
from drift.local.ingest.formats.mail import MOST_PARTS
from drift.local.ingest.formats.quotes import BELOW, QUOTED
from drift.local.ingest.mailboxes import MOST_DEPTH
from drift.local.ingest.pipeline import ingest
from drift.local.ingest.report import IngestReport
from drift.local.ingest.sources import read_changed, read_source
from tests.ingest import made_files as made
from tests.ingest.fakes import MemoryWriter, context
from tests.ingest.reading import read_whole

SENT = int(datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp() * 1000)
BERTH = "Berth 4 is closed in winter.\nAsk Falk for the key."
REPLY = f"""Then we moor at berth 5.

On Mon, 2 Mar 2026 at 10:00, Ann Berg
<ann@quay.no> wrote:

> {BERTH.replace(chr(10), chr(10) + "> ")}
"""
CUT = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nIt is cut"


def message(
    subject: str, text: str = "", *, files: Sequence[tuple[str, bytes]] = (), **heads: str
) -> EmailMessage:
    """Return a message of Ann's with files attached to it."""
    made = EmailMessage()
    heads = {"From": "Ann Bergå <ann@quay.no>", "To": "bo@quay.no, cy@quay.no"} | heads
    heads |= {"Subject": subject, "Date": "Mon, 02 Mar 2026 10:00:00 +0100"}
    for name, value in heads.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    for name, content in files:
        made.add_attachment(content, maintype="application", subtype="pdf", filename=name)
    return made


def read(content: bytes, name: str = "a.eml") -> SourceDocument:
    found = document_in(content, name, 5)
    assert not isinstance(found, Skipped), found
    return found


def raw(body: bytes, head: bytes = b"") -> bytes:
    return b"From: a@quay.no\n" + head + b"\n" + body


def told(document: SourceDocument) -> str:
    """Return a message without its head."""
    return document.text.partition("\n\n")[2]


def test_a_message_says_who_wrote_it_to_whom_and_when() -> None:
    document = read(bytes(message("Berths", "# No heading\n-----\n-- \nAnn")))
    who = {"from": "Ann Bergå <ann@quay.no>", "to": "bo@quay.no, cy@quay.no", "subject": "Berths"}
    assert (document.title, document.own.metadata) == ("Berths", who)
    assert (document.own.created_at, document.own.updated_at) == (SENT, SENT)
    assert document.media_type == "message/rfc822"
    assert document.text == (
        "From: Ann Bergå <ann@quay.no>\nTo: bo@quay.no, cy@quay.no\nSubject: Berths\n"
        "Date: 2026-03-02 09:00 UTC\n\n\\# No heading\n\\-----\n\\-- \nAnn"
    )


def test_a_page_is_read_where_there_is_no_plain_text() -> None:
    page = (
        "<p>Moor at <b>berth 5</b>.</p><blockquote type=cite>Where?<blockquote>Here.</blockquote>"
    )
    page += "</blockquote><blockquote>Rule 3 holds.</blockquote>"
    words = " ".join(["Plain."] * 40)
    for plain, is_all in ((words, True), ("See this in a browser.", False)):
        two = message("Berths", plain)
        two.add_alternative(page, subtype="html")
        assert ("Moor at" not in told(read(bytes(two)))) is is_all
    one = message("Berths", " ")
    one.add_alternative(page, subtype="html")
    assert told(read(bytes(one))) == (
        f"Moor at berth 5.\n\nRule 3 holds.\n\n{QUOTED}\n\n> Where?\n> \n> Here."
    )


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        (REPLY, f"On Mon, 2 Mar 2026 at 10:00, Ann Berg\n<ann@quay.no> wrote:\n\n{BERTH}"),
        ("Am 2. Mai schrieb Ann:\n> Old.\n\nThen 5.", "Am 2. Mai schrieb Ann:\nOld."),
        ("> Where?\n\nAt 5.\n\n> When?\n\nNow.", "Where?\n\nWhen?"),
        ("On the quay he wrote:\n\nAt 5.\n\nFrom: the sea", ""),
    ],
)  # fmt: skip
def test_what_a_message_quotes_stands_at_its_end_as_a_quotation(said: str, quoted: str) -> None:
    words, _, cited = told(read(bytes(message("Re: Berths", said)))).partition(QUOTED)
    lines = [line.removeprefix("> ") for line in cited.strip().split("\n")]
    assert ("\n".join(lines), "Old" in words) == (quoted, False)
    assert "5." in words or "Now." in words


@pytest.mark.parametrize(
    "head",
    [
        "-----Ursprüngliche Nachricht-----\nVon: Ann\n\n",
        "From: Ann\nSent: Monday\nTo: Bo\n\n",
        "On 2 March Ann <a@q.no> wrote:\n",
    ],
)
def test_what_stands_below_an_earlier_head_is_kept_for_it_may_be_an_answer(
    head: str, tmp_path: Path
) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(message("Berths", "Old.", Message_ID="<1@q>")))
    reply = message("Re: Berths", f"Then 5.\n\n{head}Old.\nNo: 6.", In_Reply_To="<1@q>")
    (tmp_path / "b.eml").write_bytes(bytes(reply))
    (_, one), _ = read_whole(tmp_path)
    assert told(one).startswith(f"Then 5.\n\n{BELOW}\n\n")
    assert one.text.endswith("Old.\nNo: 6.")


def test_what_several_messages_quote_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(bytes(message("Berths", BERTH, Message_ID="<1@q>")))
    for name, parent in (("b", "<1@q>"), ("c", "<1@q>"), ("d", "<9@q>"), ("e", "<9@q>")):
        more = {"Message_ID": f"<{name}@q>", "In_Reply_To": parent}
        said = f"Word of {name}.\n\n{REPLY}" + ("> More." if name == "e" else "")
        (tmp_path / f"{name}.eml").write_bytes(bytes(message("Re: Berths", said, **more)))
    documents, _ = read_whole(tmp_path)
    assert ["Berth 4" in one.text for one in documents] == [True, False, False, False, True]
    assert all(f"Word of {one.id[0]}." in one.text for one in documents[1:])
    note = "4 quoted lines are left out: they are read where they were written"
    assert [one.note for one in documents] == ["", note, note, note, ""]
    (alone,) = read_source(tmp_path / "b.eml").documents
    assert isinstance(alone, SourceDocument)
    assert QUOTED in alone.text


async def test_a_run_over_what_changed_knows_which_messages_are_quoted(tmp_path: Path) -> None:
    first, more = message("Berths", BERTH, Message_ID="<1@q>"), {"In_Reply_To": "<1@q>"}
    replies = [message("Re: Berths", f"{one}\n\n{REPLY}", **more) for one in ("B.", "C.", "D.")]
    (tmp_path / "a.eml").write_bytes(bytes(first))
    (tmp_path / "b.eml").write_bytes(bytes(replies[0]))
    (tmp_path / "box.mbox").write_bytes(b"From c\n" + bytes(replies[1]))
    (tmp_path / "z.eml").write_bytes(bytes(message("Fares", "5.", Message_ID="<2@q>")))
    writer = MemoryWriter()
    await ingest(read_source(tmp_path), "p", context(writer))

    async def quoting(changed: str) -> str:
        source = read_changed(tmp_path, [tmp_path / changed])
        report = await ingest(source, "p", context(writer))
        assert "z.eml" not in {*report.unchanged, *report.changed}
        chunks = writer.project("p").chunks.items()
        return " ".join(n for n, own in sorted(chunks) if any("> Berth 4" in c.text for c in own))

    (tmp_path / "d.eml").write_bytes(bytes(replies[2]))
    assert await quoting("d.eml") == ""
    (tmp_path / "a.eml").unlink()
    assert await quoting("a.eml") == "b.eml"
    (tmp_path / "b.eml").unlink()
    assert await quoting("b.eml") == "box.mbox/2026-03-02 Re: Berths.eml"
    (tmp_path / "a.eml").write_bytes(bytes(first))
    assert await quoting("a.eml") == ""


def test_what_is_attached_is_a_document_with_its_message(tmp_path: Path) -> None:
    files = [
        ("plan.pdf", made.pdf([["Berth 4 is closed."]])),
        ("../../etc/plan.pdf", made.pdf([["Berth 5 is open."]])),
        ("C:\\own\\" + "x" * 300 + ".txt", b"Long."),
        ("..", b"None."),
        ("\u202ephoto.png", b"none"),
        ("old.doc", b"none"),
        (".env", b"KEY=none"),
    ]
    outer = message("Berths", BERTH, files=files)
    outer.add_attachment(message("Inner/one", "Within.", files=[("in.txt", b"Deep.")]))
    (tmp_path / "a.eml").write_bytes(bytes(outer))
    (tmp_path / "a.eml.meta.json").write_text('{"tags": ["hr"], "title": "Told"}')
    documents, source = read_whole(tmp_path)
    by_id = {one.id.removeprefix("a.eml/"): one for one in documents}
    assert by_id["plan.pdf"].text == "Berth 4 is closed."
    assert by_id["plan (2).pdf"].text == "Berth 5 is open."
    assert by_id["Inner one.eml/in.txt"].text == "Deep."
    assert by_id[f"{'x' * 116}.txt"].text == "Long."
    assert "plan.pdf, plan (2).pdf" in by_id["a.eml"].text
    assert [one.path for one in source.skipped] == ["a.eml/attachment 4.pdf"]
    assert [(one.kind, one.count) for one in source.ignored] == [
        (".doc", 1),
        (".png", 1),
        ("hidden", 1),
    ]
    assert {one.given.tags for one in documents} == {("hr",)}
    assert [one.id for one in documents if one.given.title] == ["a.eml"]
    plan = by_id["plan.pdf"]
    assert (plan.own.created_at, plan.updated_at) == (SENT, SENT)


async def test_a_folder_of_mail_is_ingested_and_followed(tmp_path: Path) -> None:
    folder, writer = tmp_path / "docs", MemoryWriter()
    folder.mkdir()
    mail, box = folder / "a.eml", folder / "box.mbox"

    async def run(path: Path, *changed: Path) -> IngestReport:
        source = read_changed(path, changed) if changed else read_source(path, "https://quay.no")
        return await ingest(source, "p", context(writer))

    def boxed(*subjects: str) -> bytes:
        numbered = [(one, subjects[:n].count(one)) for n, one in enumerate(subjects)]
        every = [bytes(message(one, f"{one} {n}\n>From here")) for one, n in numbered]
        return b"".join(b"From ann Mon\n" + one + b"\n\n" for one in every)

    plan = ("plan.txt", b"Berth 4 is closed.")
    mail.write_bytes(bytes(message("Berths", BERTH, files=[plan, ("b.txt", b"Berth 5.")])))
    box.write_bytes(boxed("North", "South", "South"))
    north, south = "box.mbox/2026-03-02 North.eml", "box.mbox/2026-03-02 South.eml"
    twice = south.replace(".eml", " (2).eml")
    report = await run(folder)
    held = writer.project("p").documents
    every = ["a.eml", "a.eml/b.txt", "a.eml/plan.txt", north, twice, south]
    assert (report.added, sorted(held), report.skipped) == (sorted(every), sorted(every), ())
    assert held["a.eml/plan.txt"].attributes.metadata == {"attached_to": "a.eml"}
    assert {held[one].version.source_uri for one in every[:3]} == {"https://quay.no/a.eml"}
    assert "From here" in writer.project("p").chunks[north][0].text
    assert not (await run(folder)).wrote

    (other := tmp_path / "other").mkdir()
    (other / "copy.txt").write_bytes(plan[1])
    (other / "own.txt").write_text("Berth 6.")
    assert (await run(other)).added == ["copy.txt", "own.txt"], "the attachment is where it was"

    box.write_bytes(boxed("South", "South", "East"))
    report = await run(folder, box)
    assert (report.added, report.removed) == (["box.mbox/2026-03-02 East.eml"], [north])
    mail.write_bytes(bytes(message("Berths", BERTH, files=[plan])))
    report = await run(mail)
    assert (report.changed, report.removed) == (["a.eml"], ["a.eml/b.txt"])
    mail.rename(folder / "moved.eml")
    await run(folder)
    assert held["moved.eml/plan.txt"].attributes.metadata == {"attached_to": "moved.eml"}
    assert [one for one in held if one.startswith("a.eml")] == []


async def test_one_file_of_mail_is_a_source_that_a_folder_takes_over(tmp_path: Path) -> None:
    mail, writer = tmp_path / "a.eml", MemoryWriter()
    mail.write_bytes(bytes(message("Berths", BERTH, files=[("b.txt", b"Berth 5.")])))
    assert (await ingest(read_source(mail), "p", context(writer))).added == ["a.eml", "a.eml/b.txt"]
    assert not (await ingest(read_source(mail), "p", context(writer))).wrote
    report = await ingest(read_source(tmp_path), "p", context(writer))
    assert (report.moved, report.added, report.changed) == (["a.eml", "a.eml/b.txt"], [], [])


@pytest.mark.parametrize(
    ("charset", "content", "text"),
    [
        (b"iso-8859-1", "Bergå – quay".encode(), "Bergå – quay"),
        (b"us-ascii", "Skarv ligger på kaien".encode("cp1252"), "Skarv ligger på kaien"),
        (b"utf-8", "Skarv ligger på kaien".encode("cp1252"), "Skarv ligger på kaien"),
        (b"utf-16", b"Quay", "Quay"),
        (b"no-such", b"Quay", "Quay"),
        (b"rot13", "Bergå".encode(), "Bergå"),
        (b"iso-2022-jp", "岸壁".encode("iso-2022-jp"), "岸壁"),
        (b"cp1251", "Причал".encode("cp1251"), "Причал"),
    ],
)
def test_the_words_count_more_than_the_encoding_that_is_said(
    charset: bytes, content: bytes, text: str
) -> None:
    head = b"Content-Type: text/plain; charset=" + charset + b"\n"
    assert told(read(raw(content, head))) == text


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.eml", b"", "is empty"),
        ("a.eml", b"%PDF-1.7\nFrom: nobody", "is no message: it says neither"),
        ("a.eml", made.pdf([["Text."]]), "is no message: it says neither"),
        ("a.mbox", b"Text.\n", "is no mailbox: no line `From ` begins a message"),
        ("a.mbox", b"From a\n" + raw(b"x"), "is a mailbox: `drift ingest` reads its messages"),
        ("a.eml", raw(b"x", b"Content-Type: message/rfc822\n\n" * 3000), "is nested too deep"),
        (
            "a.eml",
            raw(b"--b\n\nx\n" * MOST_PARTS * 2, b"Content-Type: multipart/mixed; boundary=b\n"),
            "has more than 10,000 parts",
        ),
    ],
)
def test_what_is_no_mail_is_a_sentence(name: str, content: bytes, reason: str) -> None:
    found = document_in(content, name, None)
    assert isinstance(found, Skipped)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("head", "metadata"),
    [
        (b"To: " + b"a@quay.no, " * 100_000 + b"\n", {"to": ("a@quay.no, " * 50)[:512]}),
        (b"Subject: =?utf-8?b?!!!?= =?no-such?q?x?=\nDate: 99 Foo 99999 12:00\n", {}),
        (b"Subject: Quay of Berg\xe5\x00 in winter\n", {"subject": "Quay of Bergå in winter"}),
        (b"Content-Type: (((((\nContent-Disposition: ;;;;\n", {}),
    ],
)
def test_odd_heads_cost_no_message(head: bytes, metadata: dict[str, str]) -> None:
    document = read(raw(b"Text.", head))
    assert told(document) == "Text."
    assert metadata.items() <= document.own.metadata.items()


def test_a_message_in_a_message_that_the_library_cannot_write_is_one() -> None:
    head = b"From: b@q.no\nContent-Type: multipart/mixed; boundary=b\n\n"
    inner = head + b"No part begins in Berg\xe5.\n"
    document = read(raw(inner, b"Content-Type: message/rfc822\n"))
    assert "Attachments: attachment 1.eml" in document.text


def test_a_message_that_is_cut_says_so() -> None:
    document = read(raw(b"", CUT))
    assert (told(document), document.note) == ("It is cut", "has no end: it may be cut")


def test_messages_in_messages_are_bounded_and_deleted_ones_left_out(tmp_path: Path) -> None:
    inner = message("Core", "Within.")
    for number in range(MOST_DEPTH + 2):
        outer = message(f"Shell {number}", "Around.")
        outer.add_attachment(inner)
        inner = outer
    deleted = raw(b"Gone.", b"X-Mozilla-Status: 0009\n")
    (tmp_path / "Inbox").write_bytes(b"From - Mon\n" + bytes(inner) + b"\n\nFrom - Tue\n" + deleted)
    documents, source = read_whole(tmp_path)
    assert len(documents) == MOST_DEPTH + 1
    assert [one.reason for one in source.skipped] == [
        "is in 5 messages, one in the other, and is not read"
    ]
    assert [(one.kind, one.count) for one in source.ignored] == [("message", 1)]
    (tmp_path / "a.mbox").write_bytes(b"Text.")
    with pytest.raises(IngestError, match="is no mailbox"):
        read_source(tmp_path / "a.mbox")
