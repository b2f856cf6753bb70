"""The stand-in for a language model: real HTTP, no network, answers copied from the prompt."""
