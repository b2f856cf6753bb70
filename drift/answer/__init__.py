"""The answer over checked facts: response, references, streaming."""
