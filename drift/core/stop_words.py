"""Pure: words that carry no topic, in sets of which each holds the one before it.

The fewest are fillers: two follow-ups are merged when only these tell them apart.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

FILLERS = frozenset(
    """
    a an and are as at be by can could did do does for from had has have how in is it its of on or
    should that the their there these this those to was were what when where which who why will
    with would
    """.split()
)
"""Words of which two questions that ask the same may have different ones."""

STOP_WORDS = FILLERS | frozenset(
    """
    about above after again against all am any because been before being below between both but
    doing down during each few further having he her here hers him his i if into just me more most
    my no nor not now off once only other our out over own same she so some such than them then they
    through too under until up use used using very we while whom whose you your
    """.split()
)
"""English words that a full-text search leaves out."""

PROSE_STOP_WORDS = STOP_WORDS | frozenset(
    """
    also although cannot either else even example examples first following follows hence however
    instead itself last later less let like many may might much must neither note often one
    otherwise per rather second see since thus together two upon uses usually well whether within
    without yes
    """.split()
)
"""English words that name no topic of a text."""

STOP_WORDS_OF_FOUR_LANGUAGES = PROSE_STOP_WORDS | frozenset(
    """
    aber alle alles als am an auch auf aus bei beim bis da damit das dass dem den der des die dies
    diese dieser doch du durch ein eine einem einen einer eines er es für gibt hat haben ich ihr im
    in ins ist jede jeder kann kein keine man mit muss nach nicht noch nur ob oder ohne sein seine
    sich sie sind so soll sowie über um und uns unter viel viele vom von vor wann war warum was
    welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieviel wird wir wo
    woher wohin zu zum zur zwischen

    au aux avec ce cette celui celle ces chez combien comment dans de depuis des dont du elle en est
    et faut il ils la le les leur lieu lui mais ne nous où ou par pas plus pour pourquoi quand que
    quel quelle quelles quels qui quoi sa se ses son sont sous sur un une vous

    al como con cual cuál cuando cuándo cuanto cuánto cómo del desde donde dónde el ella entre era
    es esta este está fue ha hay las lo los más muy no para pero por qué quien quién según ser si
    sin son su sus una uno unos y ya
    """.split()
)
"""The same in English, German, French and Spanish."""

ASKING_WORDS = frozenset(
    """
    according analyse analyze besides calculate compare compute contrast define describe determine
    discuss evaluate explain find give identify list mention name outline provide prove regarding
    show state summarise summarize tell
    """.split()
)
"""Words that begin a question in capitals and name nothing."""

MONTHS_AND_DAYS = frozenset(
    """
    january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday
    sunday mon tue tues wed thu thur thurs fri sat sun am pm utc gmt est edt pst today yesterday
    tomorrow januar februar märz mai juni juli oktober dezember jänner okt dez montag dienstag
    mittwoch donnerstag freitag samstag sonnabend sonntag
    """.split()
)
"""Words that tell when, and stand in capitals in English or German without naming anything."""
