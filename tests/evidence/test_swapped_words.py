"""A quote that exchanges a word for another is never borne out; another spelling of the same word or figure is."""

from __future__ import annotations

import pytest

from disputatio.evidence.citations import Quotation, check_citation
from disputatio.evidence.findings import Reason, Status
from disputatio.evidence.sources import Source, SourceSet

SENTENCES = (
    "Under the new tariff, costs for doctors in rural clinics rose by 12 per cent on average between 2015 and 2019.",
    "The trial data suggest that metformin lowers mortality in adult patients with diabetes over several years.",
    "Running containers in production requires a dedicated platform team that is on call at night.",
    "The lessor shall notify the lessee in writing before the premises are inspected by the agent of the landlord.",
    "Samples were treated with sodium nitrate and prednisone was given to the animals on the following day.",
    "Revenue reached $5 million in the third quarter, or 3.5 hours of work per customer, the report said on Monday.",
    "Colour centres were organised by the regional programme, and the travelling staff analysed each catalogue.",
)
SOURCES = SourceSet([Source("page", "A page", "\n\n".join(SENTENCES))])

SWAPS = (
    ("costs", "taxes"),
    ("doctors", "patients"),
    ("doctors", "actors"),
    ("clinics", "critics"),
    ("suggest", "prove"),
    ("suggest", "show"),
    ("suggest", "claim"),
    ("metformin", "metoprolol"),
    ("metformin", "aspirin"),
    ("mortality", "morbidity"),
    ("adult", "elderly"),
    ("patients", "patents"),
    ("containers", "Kubernetes"),
    ("production", "development"),
    ("dedicated", "delegated"),
    ("lessor", "lessee"),
    ("inspected", "infected"),
    ("landlord", "tenant"),
    ("nitrate", "nitrite"),
    ("prednisone", "prednisolone"),
    ("animals", "humans"),
    ("customer", "employee"),
    ("report", "minister"),
    ("rose by", "rose to"),
    ("regional", "national"),
    ("analysed", "praised"),
    ("dedicated platform", "dedicated experienced platform"),
    ("mortality in adult", "mortality sharply in adult"),
)


def quote_with(old: str, new: str) -> str:
    sentence = next(sentence for sentence in SENTENCES if old in sentence)
    return sentence.replace(old, new, 1)


@pytest.mark.parametrize(("old", "new"), SWAPS)
def test_a_swapped_or_added_word_is_unverified(old: str, new: str) -> None:
    found = check_citation(SOURCES, Quotation("page", quote_with(old, new)))
    assert found.status is Status.UNVERIFIED
    assert found.reason in {Reason.SENSE_DIFFERS, Reason.NAME_DIFFERS, Reason.NUMBER_DIFFERS}
    assert new.rsplit(maxsplit=1)[-1].casefold() in found.detail or "puts in" in found.detail
    assert found.words, "the reader sees what the source says in this place"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 per cent", "12%"),
        ("12 per cent", "12 percent"),
        ("12 per cent", "twelve per cent"),
        ("$5 million", "5 million dollars"),
        ("$5 million", "USD 5 million"),
        ("$5 million", "$5,000,000"),
        ("$5 million", "$5m"),
        ("3.5 hours", "3.5 h"),
        ("on average", "in average"),
        ("on Monday", "at Monday"),
        ("costs for", "cost for"),
        ("suggest that", "suggested that"),
        ("requires", "require"),
        ("Colour", "Color"),
        ("centres", "centers"),
        ("organised", "organized"),
        ("programme,", "program,"),
        ("travelling", "traveling"),
        ("mortality", "mortalty"),
        ("dedicated", "dedciated"),
        ("platform", "plattform"),
    ],
)
def test_another_spelling_shows_the_words_of_the_source(old: str, new: str) -> None:
    found = check_citation(SOURCES, Quotation("page", quote_with(old, new)))
    assert (found.status, found.words.rstrip(".")) == (Status.REPAIRED, quote_with(old, old).rstrip("."))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 per cent", "21 per cent"),
        ("12 per cent", "12 per mille"),
        ("$5 million", "\u20ac5 million"),
        ("$5 million", "5 million euros"),
        ("$5 million", "$5 billion"),
        ("$5 million", "$5k"),
        ("$5 million", "5 million"),
        ("3.5 hours", "3.5 minutes"),
    ],
)
def test_another_figure_or_unit_is_unverified(old: str, new: str) -> None:
    found = check_citation(SOURCES, Quotation("page", quote_with(old, new)))
    assert (found.status, found.reason) == (Status.UNVERIFIED, Reason.NUMBER_DIFFERS)


def test_a_verb_made_negative_is_no_other_verb() -> None:
    sources = SourceSet([Source("page", "", "He didn't even finish first grade, and nobody asked.")])
    found = check_citation(sources, Quotation("page", "He mention't even finish first grade, and nobody asked"))
    assert found.status is Status.UNVERIFIED


def test_a_misspelling_that_is_a_word_of_the_source_is_that_word() -> None:
    text = "The dairy kept a careful record of every single delivery. A diary of deliveries was kept by the dariy too."
    sources = SourceSet([Source("page", "", text)])
    other = check_citation(sources, Quotation("page", "The dariy kept a careful record of every single delivery"))
    assert other.status is Status.UNVERIFIED
