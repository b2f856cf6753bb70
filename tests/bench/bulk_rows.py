"""Rows of chunks with vectors, as many as wanted: the words of real texts at their frequencies.

A document is about two of the topics of Python's own reference, and its chunks are words of these,
so that their vectors, of the local model, lie in some thousands of clusters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np

from drift.llm import local_embedding

CHUNKS_A_DOCUMENT = 17
WORDS_A_CHUNK = 140
SHARES = (0.45, 0.25, 0.3)
"""Of the words of a chunk: of its document's first topic, of the second, and of all texts."""
YEARS = (2020, 2021, 2022, 2023)


def write_rows(file: Path, chunks: int, seed: int = 1) -> int:
    """Write so many rows, a document's beside each other; return how many documents they are."""
    number = 0
    with file.open("w", encoding="utf-8") as out:
        rows = islice(_rows(seed), chunks)
        while some := list(islice(rows, 2000)):
            embedded = local_embedding.embed([f"{row['heading']}\n{row['text']}" for row in some])
            for row, vector in zip(some, np.round(embedded, 6).tolist(), strict=True):
                out.write(json.dumps({**row, "embedding": vector}, ensure_ascii=False) + "\n")
            number = int(some[-1]["document"].split("/")[1]) + 1
    return number


def _rows(seed: int) -> Iterator[dict[str, Any]]:
    chance = np.random.default_rng(seed)
    texts = [text.split() for text in topics.values() if len(text) > WORDS_A_CHUNK]
    words = [np.array(one) for one in (*texts, [word for text in texts for word in text])]
    document = 0
    while True:
        pair = chance.integers(len(texts), size=2)
        title = " ".join(chance.choice(words[pair[0]], 4))
        about = {
            "document": f"made/{document}",
            "title": f"{title} {document}",
            "tags": [f"topic-{pair[0]}"],
            "metadata": {"year": YEARS[document % len(YEARS)]},
        }
        for place in range(CHUNKS_A_DOCUMENT):
            drawn = [
                chance.choice(words[source], round(share * WORDS_A_CHUNK))
                for source, share in zip((*pair, -1), SHARES, strict=True)
            ]
            text = " ".join(chance.permutation(np.concatenate(drawn)))
            yield {**about, "heading": f"{title} > Part {place // 4 + 1}", "text": text}
        document += 1
