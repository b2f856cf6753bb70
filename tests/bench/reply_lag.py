"""How long a reply that grows holds up other requests: `python -m tests.bench.reply_lag`.

A reply of 150,000 characters comes in pieces, as a stream brings it, and its answer is told as far
as it can be. Beside it a task wants to run again and again; the lag is how long it waited.
"""

from __future__ import annotations

import asyncio
import json
import time

from drift.answer.streaming import GrowingAnswer, Telling
from drift.llm.growing import GrowingText
from drift.model.tree import Citation, Fact

CHARACTERS = 150_000
PIECE = 4
SENTENCE = 40  # characters of what is said with one fact
FACTS = [Fact(n, Citation(str(n), "He knew it well.", ""), 1.0) for n in range(1, 10)]
KINDS = {
    "sentences with a fact": "He knew it well and went on [1]. ",
    "sentences without a fact": "He knew it well and went on. ",
    "items of a list": "- a [1]\n",
    "rows of a table": "| a | b [1] |\n",
    "rules of a table": "|---|---|\n",
    "lines that go on": "a\n",
    "open brackets": "[",
    "open quotations": '"a. ',
    "raised digits": "\u00b9,",
    "backticks": "` `` ``` ",
}


class Heard:
    """Listener that counts what it is told."""

    characters = 0

    def answer_delta(self, text: str) -> None:
        """TextCallback more of the answer."""
        self.characters += len(text)

    def answer_replaced(self, text: str) -> None:
        """Hear the answer anew."""
        self.characters = len(text)


async def measured(answer: str) -> tuple[float, float, int]:
    """Return the longest lag and all seconds of work, and how many characters were told."""
    rows = [[answer[at : at + SENTENCE], 1] for at in range(0, len(answer), SENTENCE)]
    reply = json.dumps({"sentences": rows}, ensure_ascii=False)
    heard = Heard()
    hear = Telling(heard).hear(GrowingAnswer(lambda _: FACTS).deliverable)
    assert hear
    growing = GrowingText(hear)
    longest = work = 0.0
    for at in range(0, len(reply), PIECE):
        began = time.perf_counter()
        growing.add(reply[at : at + PIECE])
        took = time.perf_counter() - began
        longest, work = max(longest, took), work + took
        await asyncio.sleep(0)
    return longest, work, heard.characters


async def main() -> None:
    """Measure each kind of answer, at its bound and as long as a reply may be."""
    print(f"{'kind':26} {'characters':>10} {'lag ms':>7} {'work s':>7} {'told':>7}")
    for name, one in KINDS.items():
        for length in (15_900, CHARACTERS // len(json.dumps(one, ensure_ascii=False)) * len(one)):
            answer = (one * (length // len(one) + 1))[:length]
            longest, work, told = await measured(answer)
            print(f"{name:26} {length:10} {1000 * longest:7.1f} {work:7.2f} {told:7}")


if __name__ == "__main__":
    asyncio.run(main())
