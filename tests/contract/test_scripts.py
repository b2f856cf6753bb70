# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Questions in every script find the words of their document, however long they are.

No chunk here has a vector: what is found is found by its words.
"""

from __future__ import annotations

from dataclasses import dataclass

from drift.contracts.request import MAX_QUERY_CHARACTERS
from tests.contract.graph_backends import (
    CHUNKS,
    Neo4jBackend,
    ask_followup,
    axis,
    chunk,
    fill,
    ids,
    on_real_servers,
)


@dataclass(frozen=True, slots=True)
class Script:
    """A document, another of the same script, a question to the first, and letters of it."""

    right: str
    other: str
    question: str
    filler: str


def letters(first: int, size: int, word: int) -> str:
    """Return other words up to the limit of a question, of so many letters, 0 for one run."""
    text = "".join(chr(first + i * 7 % size) for i in range(MAX_QUERY_CHARACTERS))
    return (
        " ".join(text[i : i + word] for i in range(0, MAX_QUERY_CHARACTERS, word)) if word else text
    )


SCRIPTS = {
    "latin": Script(
        "The ferry to Husavik leaves at nine.",
        "The museum of whales closes in winter.",
        "When does the ferry leave to Husavik?",
        letters(0xE0, 23, 6),
    ),
    "cyrillic": Script(
        "Паром на остров отходит в девять часов.",
        "Музей китов закрыт зимой.",
        "Когда отходит паром на остров?",
        letters(0x430, 32, 6),
    ),
    "greek": Script(
        "Το πλοίο για τη Σάμο φεύγει στις εννέα.",
        "Το μουσείο είναι κλειστό τον χειμώνα.",
        "Πότε φεύγει το πλοίο για τη Σάμο;",
        letters(0x3B1, 24, 6),
    ),
    "arabic": Script(
        "تغادر العبارة إلى الجزيرة في الساعة التاسعة.",
        "المتحف مغلق في الشتاء.",
        "متى تغادر العبارة إلى الجزيرة؟",
        letters(0x628, 18, 6),
    ),
    "hebrew": Script(
        "המעבורת לאי יוצאת בשעה תשע.",
        "המוזיאון סגור בחורף.",
        "מתי יוצאת המעבורת לאי?",
        letters(0x5D0, 27, 6),
    ),
    "devanagari": Script(
        "द्वीप की नौका सुबह नौ बजे निकलती है।",
        "सर्दियों में संग्रहालय बन्द रहता है।",
        "द्वीप की नौका कब निकलती है?",
        letters(0x915, 37, 6),
    ),
    # without spaces, an index that has no dictionary takes a run for one word
    "thai": Script(
        "เรือข้ามฟาก ไปเกาะ ออกเวลาเก้าโมง",
        "พิพิธภัณฑ์ ปิดในฤดูหนาว",
        "เรือข้ามฟาก ไปเกาะ ออกกี่โมง",
        letters(0xE01, 46, 6),
    ),
    "han": Script(
        "前往海岛的渡轮上午九点出发。", "鲸鱼博物馆冬季关闭。", "去海岛的渡轮几点出发？",
        letters(0x6000, 3990, 0),
    ),
    "kana": Script(
        "島へのフェリーは九時に出ます。", "くじらの博物館は冬に閉まります。",
        "島へのフェリーはいつ出ますか。", letters(0x30A1, 80, 0),
    ),
    "hangul": Script(
        "섬으로 가는 여객선은 아홉 시에 떠난다.", "고래 박물관은 겨울에 닫는다.",
        "섬으로 가는 여객선은 언제 떠나나요?", letters(0xAC00, 4000, 6),
    ),
}  # fmt: skip


@on_real_servers
async def test_a_question_of_any_script_and_length_finds_its_document_by_words(
    backend: Neo4jBackend, project: str
) -> None:
    worded = [
        chunk(f"{name} {kind}", text, (), f"{name} {kind}")
        for name, script in SCRIPTS.items()
        for kind, text in (("right", script.right), ("other", script.other))
    ]
    await fill(backend, project, [*CHUNKS, *worded])
    for name, script in SCRIPTS.items():
        for question in (
            script.question,
            f"{script.question} {script.filler}"[:MAX_QUERY_CHARACTERS],
        ):
            found = await ask_followup(backend.store(), project, question, axis(0))
            by_words = [id_ for id_ in ids(found.chunks) if " " in id_]
            assert by_words[:1] == [f"{name} right"], (name, len(question), by_words)
