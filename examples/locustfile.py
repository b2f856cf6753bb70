"""Loads a deployment of yours with questions, as many people would.

    pip install locust
    LOAD_PROJECT=handbook LOAD_KEY=KEY locust -f examples/locustfile.py --host https://NAME.azurewebsites.net

Each answer takes tokens of your models. A 429 is counted as a failure: it is where the deployment
is full, or the key's quota used. docs/scale.md says what so many instances take.
"""

from __future__ import annotations

import os
from itertools import cycle

from locust import HttpUser, between, task

PROJECT = os.environ["LOAD_PROJECT"]
KEY = os.environ.get("LOAD_KEY", "")
HEADERS = {"x-functions-key": KEY, "x-api-key": KEY} if KEY else {}
"""The platform's keys go in the first, those of PROJECT_KEYS in the second."""

QUESTIONS = cycle(
    (
        "What is this about?",
        "Which topics are there, and how do they belong together?",
        "What has changed, and why?",
        "Who is responsible for what?",
    )
)


class Asker(HttpUser):
    """Somebody who asks, reads the answer and asks again."""

    wait_time = between(10, 30)

    @task(3)
    def ask_quickly(self) -> None:
        """One look and one call of the model."""
        self._retrieve("quick", depth="quick")

    @task(2)
    def ask(self) -> None:
        """The whole search."""
        self._retrieve("drift", depth="drift")

    @task(1)
    def find(self) -> None:
        """Evidence alone, without the chat model."""
        self._retrieve("evidence", answer=False)

    def _retrieve(self, name: str, **more: object) -> None:
        body = {"query": next(QUESTIONS), "project_id": PROJECT, **more}
        self.client.post("/retrieve", json=body, headers=HEADERS, timeout=230, name=name)
