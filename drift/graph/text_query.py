"""Pure: a question as full-text queries, of which no word is syntax."""

from __future__ import annotations

from drift.core.asked_words import (
    MAX_TOKENS,
    joined_neighbours,
    phrases,
    search_terms,
    title_pairs,
    tokens_of,
    wanted_alone,
    within_tokens,
    words_in,
)
from drift.graph.indexes import project_key


def lucene(question: str, project_id: str | None, text: str = "text") -> str:
    """Return the full-text query, with the project's key without weight; empty for no word."""
    wanted = wanted_words(question, text, has_headings=project_id is not None)
    if not wanted or project_id is None:
        return wanted
    return f"+project_key:{project_key(project_id)}^0 +({wanted})"


def wanted_words(question: str, text: str = "text", *, has_headings: bool = True) -> str:
    """Return the part of a full-text query that scores chunks, empty for no word.

    A chunk's headings count half of what its text does, and so does its document's name, beside
    which stand the other spellings of its own names. Where nothing stands there, the text may hold
    words of the question as one.
    """
    terms, written = search_terms(question), phrases(question)
    typed = [*within_tokens([*terms, *written], MAX_TOKENS)]
    if not typed:
        return ""
    fields = [(text, typed, "")]
    if has_headings:
        titles = [*typed, *within_tokens(title_pairs(question), 24)]
        numbers = (one for one in written if not any(map(str.isalpha, one)))
        named = [*within_tokens([*terms, *numbers], 180)]
        fields += [("heading", titles, "^0.5")]
        fields += [("name_words", named, "^0.5")] if named else []

    # Lucene takes 1,024 clauses in all.
    most = 1000 - tokens_of(word for _, words, _ in fields for word in words)
    fields[0] = (text, [*typed, *within_tokens(joined_neighbours(question), most)], "")
    return " ".join(
        f"{field}:({' '.join(map(_written, words))}){weight}" for field, words, weight in fields
    )


def lone_words(question: str, project_id: str | None, text: str = "text") -> list[str]:
    """Return a query for each word that may decide alone, at most eight."""
    project = f"+project_key:{project_key(project_id)}^0 " if project_id is not None else ""
    fields = (text, "heading", "name_words") if project else (text,)
    asked = [f'heading:"{pair}"' for pair in title_pairs(question) if project]
    asked += [" ".join(f'{one}:"{word}"' for one in fields) for word in wanted_alone(question)]
    return [f"{project}+({query})" for query in asked[:8]]


def words_of_any_field(question: str) -> str:
    """Return the query of an index of which nothing is known, empty for no word."""
    asked = (*search_terms(question), *phrases(question), *joined_neighbours(question))
    return " ".join(map(_written, within_tokens(asked, MAX_TOKENS)))


def _written(word: str) -> str:
    """Return a word as a query has it: in quotes nothing is syntax, and signs are for the index."""
    return word if words_in(word.lower()) == [word] else f'"{word}"'
