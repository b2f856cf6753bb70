"""Static embeddings without a network, with the weights inside the wordllama wheel."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drift.core.errors import LocalStackError

DIMENSIONS = 256

Matrix = NDArray[np.float32]


def embed(texts: Sequence[str]) -> Matrix:
    """Return unit vectors as rows; a text without known tokens has the constant one."""
    tokenizer, weights = load()
    # Each text is pooled by itself: the library would pad all of them to the longest.
    encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    vectors = np.full((len(texts), DIMENSIONS), 1.0, dtype=np.float32)
    for row, tokens in enumerate(encoded):
        if tokens.ids:
            vectors[row] = weights[tokens.ids].mean(axis=0)

    return normalised(vectors)


def normalised(vectors: Matrix) -> Matrix:
    """Return the rows scaled to length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


@lru_cache(maxsize=100_000)
def vector(text: str) -> Matrix:
    """Return one text's unit vector, remembered because answers compare the same lines often."""
    return np.asarray(embed([text])[0], dtype=np.float32)


@cache
def load() -> tuple[Any, Matrix]:
    """Return the tokenizer and the token vectors, loaded once.

    Raises:
        LocalStackError: when wordllama or its weights are not installed.
    """
    quiet = logging.NullHandler()
    # wordllama calls basicConfig when it is imported, which does nothing while there is a handler.
    logging.root.addHandler(quiet)
    try:
        import wordllama  # noqa: PLC0415 - an extra: the error says what to install

        folder = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSIONS, disable_download=True)
    except (ImportError, FileNotFoundError) as error:
        raise LocalStackError(
            "The local model server needs wordllama: pip install 'drift-neo4j[local]'."
        ) from error
    finally:
        logging.root.removeHandler(quiet)

    model.tokenizer.no_padding()
    return model.tokenizer, np.asarray(model.embedding, dtype=np.float32)
