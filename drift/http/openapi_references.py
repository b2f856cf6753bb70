"""The example of a question whose answer has references; a test sends it and compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUESTION: Mapping[str, Any] = {
    "query": "What signal does the Lighthouse sound in fog?",
    "project_id": "harbour",
    "depth": "quick",
    "include": ["references"],
}
ANSWER: Mapping[str, Any] = {
    "final_answer": "In fog the Lighthouse sounds a signal every thirty seconds. The Lighthouse "
    "stands beside the Outer Buoy and measures wind, fog and depth.",
    "key_facts": [
        {
            "fact": "In fog the Lighthouse sounds a signal every thirty seconds.",
            "citations": [
                {
                    "chunk_id": "e86a0506-91d3-524d-9433-fc802c161c70",
                    "span": "In fog the Lighthouse sounds a signal every thirty seconds.",
                    "document_name": "Lighthouse",
                }
            ],
            "references": [1],
        },
        {
            "fact": "The Lighthouse stands beside the Outer Buoy and measures wind, fog and depth.",
            "citations": [
                {
                    "chunk_id": "e86a0506-91d3-524d-9433-fc802c161c70",
                    "span": "The Lighthouse stands beside the Outer Buoy and "
                    "measures wind, fog and depth.",
                    "document_name": "Lighthouse",
                }
            ],
            "references": [2],
        },
    ],
    "residual_uncertainty": "",
    "references": {
        "answer": "In fog the Lighthouse sounds a signal every thirty seconds[1]. The "
        "Lighthouse stands beside the Outer Buoy and measures wind, fog and "
        "depth[2].\n"
        "\n"
        "References:\n"
        "[1] Lighthouse.md:8 (79% match)\n"
        "[2] Lighthouse.md:3 (79% match)",
        "items": [
            {
                "number": 1,
                "label": "Lighthouse.md:8",
                "chunk_id": "e86a0506-91d3-524d-9433-fc802c161c70",
                "document_name": "Lighthouse",
                "span": "In fog the Lighthouse sounds a signal every thirty seconds.",
                "first_line": 8,
                "last_line": 8,
                "source_uri": "https://docs.example.com/harbour/Lighthouse.md",
                "match": 0.79,
                "confidence": 0.88,
                "signals": {"similarity": 0.79, "freshness": 1.0, "citations": 0.88, "model": 0.95},
            },
            {
                "number": 2,
                "label": "Lighthouse.md:3",
                "chunk_id": "e86a0506-91d3-524d-9433-fc802c161c70",
                "document_name": "Lighthouse",
                "span": "The Lighthouse stands beside the Outer Buoy and measures "
                "wind, fog and depth.",
                "first_line": 3,
                "last_line": 3,
                "source_uri": "https://docs.example.com/harbour/Lighthouse.md",
                "match": 0.79,
                "confidence": 0.88,
                "signals": {"similarity": 0.79, "freshness": 1.0, "citations": 0.88, "model": 0.95},
            },
        ],
        "confidence": 0.88,
        "limits": [],
    },
}
