"""Whether a server reads all of a prompt: some cut it, and nobody says so."""

from __future__ import annotations

from dataclasses import dataclass

from drift.core.logs import log
from drift.model.calls import Prompt

LEAST_WORDS = 500
"""Of a shorter prompt a wrong count means nothing."""
ROOM = 0.85
"""The share of what a server reads that our part of a prompt takes; marks of turns and a schema
take the rest."""


@dataclass(slots=True)
class PromptLength:
    """How much of its prompts the server of one model was seen to read.

    No tokenizer of a chat model joins two words over a space, so a prompt has no fewer tokens than
    words. A server that counts fewer has cut it.
    """

    most: int = 0
    is_cut: bool = False

    def counted(self, prompt: Prompt, tokens: int) -> bool:
        """Note the provider's count of a prompt's tokens, 0 for none; tell whether it was cut."""
        if tokens <= 0:
            return False

        self.most = max(self.most, tokens)
        words = len(prompt.system.split()) + len(prompt.user.split())
        is_cut = words >= LEAST_WORDS and tokens < words
        if is_cut and not self.is_cut:
            log.warning("prompt_cut", extra={"words": words, "prompt_tokens": tokens})

        # A longer prompt that was read whole takes back what a wrong count said.
        self.is_cut = is_cut or (self.is_cut and words <= self.most)
        return is_cut

    @property
    def bound(self) -> int | None:
        """The most tokens that a prompt may have; None where no server was seen to cut one."""
        return int(self.most * ROOM) if self.is_cut else None

    @property
    def problem(self) -> str:
        """What is wrong, and what to do; empty for nothing."""
        if not self.is_cut:
            return ""
        return (
            f"its server reads {self.most:,} tokens of a prompt and cuts the rest in silence: give "
            "it a longer context (OLLAMA_CONTEXT_LENGTH for Ollama), or set MAX_PROMPT_TOKENS to "
            "what it reads"
        )
