"""Whether a server reads all of a prompt: some cut it, and nobody says so."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from drift.core.logs import log
from drift.model.calls import Prompt
from drift.prompting.tokens import most_tokens

SURPLUS = 1.5
"""How many times more tokens than a tokenizer our upper bound counts at most: 1.3 was measured."""
ROOM = 0.85
"""The share of what a server reads that our part of a prompt takes; marks of turns and a schema
take the rest."""


@dataclass(slots=True)
class PromptLength:
    """How much of its prompts the server of one model was seen to read."""

    most: int = 0
    is_cut: bool = False
    _near: int = 0
    """Prompts near the bound since the last one that was cut."""

    def counted(self, prompt: Prompt, tokens: int) -> bool:
        """Note the provider's count of a prompt's tokens, 0 for none; tell whether it was cut."""
        if tokens <= 0:
            return False

        is_longest = tokens > self.most
        self.most = max(self.most, tokens)
        sent, size = 0.0, _bytes(prompt.system) + _bytes(prompt.user)
        # Of a short prompt a wrong count means nothing, and most texts have fewer bytes a token.
        if size > max(4_000, tokens * 4.8):
            text = f"{prompt.system}\n{prompt.user}"
            # A tokenizer makes few tokens of many of one sign, such as the rules of a table.
            sent = most_tokens(re.sub(r"([^\w\s])\1{3,}", r"\1", text)) / SURPLUS

        is_cut = tokens < sent
        if is_cut and not self.is_cut:
            log.warning("prompt_cut", extra={"sent": int(sent), "prompt_tokens": tokens})

        self._near = 0 if is_cut else self._near + (tokens * SURPLUS >= (self.bound or math.inf))
        # A longer prompt that was read whole takes back what a wrong count said. After so many
        # prompts near the bound one is sent again: an odd count of a gateway would otherwise hold
        # until a restart.
        tried_again = 20
        is_known = not is_longest and self._near < tried_again
        self.is_cut = is_cut or (self.is_cut and is_known)
        return is_cut

    @property
    def bound(self) -> int | None:
        """The most tokens that a prompt may have; None where no server was seen to cut one."""
        return int(self.most * ROOM) if self.is_cut else None

    @property
    def problem(self) -> str:
        """The problem and its remedy; empty for none."""
        if not self.is_cut:
            return ""
        return (
            f"its server reads {self.most:,} tokens of a prompt and cuts the rest in silence: give "
            "it a longer context (OLLAMA_CONTEXT_LENGTH for Ollama), or set MAX_PROMPT_TOKENS to "
            "what it reads"
        )


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))
