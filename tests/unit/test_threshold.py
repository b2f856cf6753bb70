"""How near is near enough, measured on the project's own texts."""

import math

from hypothesis import given
from hypothesis import strategies as st

from drift.local.ingest.thresholds import measured
from drift.model.found_nodes import ScoreThreshold
from drift.nodes.threshold import LEAST_TEXTS, PAIRS, UNRELATED, pairs, unrelated


def test_the_pairs_are_the_same_each_time_and_lie_everywhere() -> None:
    drawn = pairs()
    assert drawn == pairs()
    assert len(drawn) == PAIRS
    assert len({tuple(pair) for pair in drawn}) == PAIRS
    for side in zip(*drawn, strict=True):
        assert all(0 <= share < 1 for share in side)
        tenths = [sum(n / 10 <= share < (n + 1) / 10 for share in side) for n in range(10)]
        assert min(tenths) > PAIRS / 20


@given(st.lists(st.floats(-1, 0.97), min_size=1, max_size=300))
def test_at_least_99_of_100_pairs_are_no_nearer(cosines: list[float]) -> None:
    threshold = measured(cosines, LEAST_TEXTS)
    assert threshold in cosines
    assert sum(cosine <= threshold for cosine in cosines) >= 0.99 * len(cosines)
    nearer = [cosine for cosine in cosines if cosine < threshold]
    assert len(nearer) < 0.99 * len(cosines)


def test_a_hundred_even_steps_have_their_99th() -> None:
    assert measured([n / 200 for n in range(1, 101)], 500) == 0.495


def test_pairs_of_copies_do_not_count() -> None:
    assert measured([0.3, *[0.2] * 200, *[1.0000002, 1.0, 0.985] * 500], 5000) == 0.2
    assert measured([1.0] * 2000, 5000) is None


def test_17_of_20_unrelated_questions_stay_out() -> None:
    assert unrelated([n / 100 for n in range(len(UNRELATED))]) == 0.16
    assert unrelated([math.nan, 0.2]) == 0.2
    assert unrelated([]) is None


def test_too_few_texts_have_no_threshold_and_what_is_no_number_counts_for_nothing() -> None:
    assert measured([0.5] * 50, LEAST_TEXTS - 1) is None
    assert measured([], 5000) is None
    assert measured([math.nan, math.inf], 5000) is None
    assert measured([math.nan, 0.5], 5000) == 0.5


def test_a_threshold_holds_for_the_vectors_that_it_was_measured_with() -> None:
    of_small = ScoreThreshold(0.4, 500, 256, "small")
    assert of_small.fits(256, "small")
    assert not of_small.fits(256, "large")
    assert not of_small.fits(512, "small")
    assert ScoreThreshold(0.4, 500, 256).fits(256, "any")
