"""Quote location on WiCE: is a supporting sentence found in its own page, and not in another claim's?

    python bench/quote_location.py PATH/TO/test.jsonl [--claims N] [--others N] [--seed N]

Every supporting sentence is checked against its own page and against the pages of other claims, as it stands and with
seeded corruptions. A corruption counts as located where its status is verified or repaired and the words found overlap
the sentence it came from (or equal it). A page that holds the sentence too is no other page, and a corruption that the
page holds to the letter is no corruption; both are decided by plain search, not by the code under test.

Columns: how many quotes; the share verified and repaired in the own page; wrong: located elsewhere in the own page;
false: located in another page, of how many tries; precision and recall of location; processor time a check in ms.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from disputatio.evidence.citations import CheckedCitation, Quotation, check_citation
from disputatio.evidence.findings import Status
from disputatio.evidence.sources import Source, SourceSet


class Chance(random.Random):
    """Seeded chance, with words of the pages to put in."""

    words: list[str]


Corruption = Callable[[str, Chance], "str | None"]


@dataclass
class Claim:
    """A claim's page as one source, and its supporting sentences with their places in it."""

    page: Source
    sentences: list[tuple[str, int, int]]

    @cached_property
    def sources(self) -> SourceSet:
        return SourceSet([self.page])

    @cached_property
    def plain(self) -> str:
        return plain(self.page.text)


def plain(text: str) -> str:
    """Letters and digits alone, in small letters: the oracle for "this page says that too"."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def read_claims(path: Path, most: int | None = None) -> list[Claim]:
    claims = []
    for line in path.read_text(encoding="utf-8").splitlines()[:most]:
        row = json.loads(line)
        starts, place = [], 0
        for sentence in row["evidence"]:
            starts.append(place)
            place += len(sentence) + 1
        wanted = sorted({index for group in row["supporting_sentences"] for index in group})
        sentences = [(row["evidence"][i], starts[i], starts[i] + len(row["evidence"][i])) for i in wanted]
        page = Source(row["meta"]["id"], row["meta"]["claim_title"], "\n".join(row["evidence"]))
        claims.append(Claim(page, [found for found in sentences if re.search(r"\w", found[0])]))
    return claims


_NUMBERS = "two three four five six seven eight nine ten twelve twenty hundred thousand million"
_NUMBER_WORDS = _NUMBERS.split()

# Corruptions: None where a sentence has nothing to corrupt.


def as_it_stands(sentence: str, _: Chance) -> str | None:
    return sentence


def changed_case(sentence: str, chance: Chance) -> str | None:
    return chance.choice([sentence.upper(), sentence.lower(), sentence.title(), sentence.swapcase()])


def spaces_and_line_ends(sentence: str, chance: Chance) -> str | None:
    return re.sub(r" ", lambda _: chance.choice([" ", "  ", "\n", "\u00a0", " \n "]), sentence)


def hyphens_at_line_ends(sentence: str, chance: Chance) -> str | None:
    long = list(re.finditer(r"[A-Za-z]{7,}", sentence))
    if not long:
        return None
    for found in sorted(chance.sample(long, min(2, len(long))), key=lambda found: -found.start()):
        middle = (found.start() + found.end()) // 2
        sentence = sentence[:middle] + "-\n" + sentence[middle:]
    return sentence


def quotation_marks_and_dashes(sentence: str, chance: Chance) -> str | None:
    double, single = iter("\u201c\u201d" * 200), chance.choice(["\u2019", "'"])
    changed = re.sub(r'["\u201c\u201d]', lambda _: next(double), re.sub("['\u2019]", single, sentence))
    changed = re.sub(r"(?<=[A-Za-z])( ?)[-\u2013\u2014]+( ?)(?=[A-Za-z])", lambda m: f"{m[1]}\u2013{m[2]}", changed)
    return changed if changed != sentence else None


def ellipsis(sentence: str, chance: Chance) -> str | None:
    parts = sentence.split(" ")
    if len(parts) < 12:
        return None
    # A faithful ellipsis parts words, not figures or names such as "non-profit", and leaves out no negation.
    faithful = [
        start
        for start in range(4, len(parts) - 6)
        if all(re.fullmatch(r"[A-Za-z]+,?", part) for part in parts[start - 1 : start + 3])
        and not {"not", "no", "never", "without", "nor", *_NUMBER_WORDS, "one"}
        & {w.lower() for w in parts[start - 2 : start + 4]}
    ]
    if not faithful:
        return None
    start = chance.choice(faithful)
    return " ".join([*parts[:start], chance.choice(["...", "\u2026", "[...]"]), *parts[start + 2 :]])


def negation_left_out(sentence: str, chance: Chance) -> str | None:
    found = list(re.finditer(r"(?<=\w) (?:not|never|no) (?=\w)", sentence))
    if not found:
        return None
    one = chance.choice(found)
    return sentence[: one.start()] + " ... " + sentence[one.end() :]


def punctuation_dropped(sentence: str, chance: Chance) -> str | None:
    marks = [found.start() for found in re.finditer(r"[,;:](?= )", sentence)]
    if not marks:
        return None
    place = chance.choice(marks)
    return sentence[:place] + sentence[place + 1 :]


def punctuation_put_in(sentence: str, chance: Chance) -> str | None:
    gaps = [found.start() for found in re.finditer(r"(?<=[a-z]) (?=[a-z])", sentence)]
    return sentence[: (place := chance.choice(gaps))] + "," + sentence[place:] if gaps else None


def misspelt(sentence: str, chance: Chance) -> str | None:
    long = list(re.finditer(r"\b[a-z]{6,}\b", sentence))
    if not long:
        return None
    place = (found := chance.choice(long)).start() + chance.randrange(1, len(found.group()) - 2)
    if sentence[place] == sentence[place + 1]:
        return None
    return sentence[:place] + sentence[place + 1] + sentence[place] + sentence[place + 2 :]


def word_dropped(sentence: str, chance: Chance) -> str | None:
    parts = sentence.split(" ")
    if len(parts) < 5 or re.search(r"…|\.\.", sentence):  # beside an ellipsis of the page a word may be left out
        return None
    del parts[chance.randrange(1, len(parts) - 1)]
    return " ".join(parts)


def word_changed(sentence: str, chance: Chance) -> str | None:
    inner = list(re.finditer(r"\b[a-z]{3,}\b", sentence))
    if len(sentence.split()) < 5 or not inner:
        return None
    found = chance.choice(inner)
    return sentence[: found.start()] + chance.choice(chance.words) + sentence[found.end() :]


def word_put_in(sentence: str, chance: Chance) -> str | None:
    gaps = [found.start() for found in re.finditer(r"(?<=[a-z]) (?=[a-z])", sentence)]
    if len(sentence.split()) < 5 or not gaps:
        return None
    place = chance.choice(gaps)
    # An empty word such as "that" changes nothing.
    return f"{sentence[:place]} {chance.choice([word for word in chance.words if word != 'that'])}{sentence[place:]}"


def name_changed(sentence: str, chance: Chance) -> str | None:
    names = list(re.finditer(r"(?<=[a-z] )[A-Z][a-z]{3,}\b", sentence))
    if not names:
        return None
    found = chance.choice(names)
    return sentence[: found.start()] + chance.choice(chance.words).title() + sentence[found.end() :]


def clauses_reordered(sentence: str, chance: Chance) -> str | None:
    body = sentence.rstrip(".")
    cuts = [found.start() for found in re.finditer(r", ", body)]
    cuts = [cut for cut in cuts if len(body[:cut].split()) > 2 and len(body[cut + 2 :].split()) > 2]
    if not cuts:
        return None
    cut = chance.choice(cuts)
    return f"{body[cut + 2 :]}, {body[:cut]}."


def digit_changed(sentence: str, chance: Chance) -> str | None:
    digits = [found.start() for found in re.finditer(r"\d", sentence)]
    if not digits:
        return None
    place = chance.choice(digits)
    other = chance.choice([digit for digit in "0123456789" if digit != sentence[place]])
    return sentence[:place] + other + sentence[place + 1 :]


def digits_swapped(sentence: str, chance: Chance) -> str | None:
    pairs = [found.start() for found in re.finditer(r"(?=(\d)[.,]?(?!\1)\d)", sentence)]
    if not pairs:
        return None
    place = chance.choice(pairs)
    other = place + 1 if sentence[place + 1].isdigit() else place + 2
    between = sentence[place + 1 : other]
    return sentence[:place] + sentence[other] + between + sentence[place] + sentence[other + 1 :]


def number_scaled(sentence: str, chance: Chance) -> str | None:
    numbers = list(re.finditer(r"(?<![\w.,-])\d[\d.,]*\b", sentence))
    if not numbers:
        return None
    found = chance.choice(numbers)
    number = found.group()
    tenfold = f"{number}0" if "." not in number else f"1{number}"  # a zero behind the decimals changes nothing
    changed = chance.choice([f"-{number}", tenfold, f"{number} million", f"{number}%"])
    return sentence[: found.start()] + changed + sentence[found.end() :]


def number_word_changed(sentence: str, chance: Chance) -> str | None:
    found = list(re.finditer(rf"\b({'|'.join(_NUMBER_WORDS)})\b", sentence))
    if not found:
        return None
    one = chance.choice(found)
    other = chance.choice([word for word in _NUMBER_WORDS if word != one.group()])
    return sentence[: one.start()] + other + sentence[one.end() :]


def negated(sentence: str, chance: Chance) -> str | None:
    if re.search(r"\bnot \b", sentence):
        return re.sub(r"\bnot \b", "", sentence, count=1)
    found = list(re.finditer(r"\b(?:is|was|are|were|has|had|have|will|can) \b", sentence))
    return sentence[: (end := chance.choice(found).end())] + "not " + sentence[end:] if found else None


_OPPOSED = """
before:after after:before first:last last:first more:less less:more over:under increased:decreased above:below won:lost
lost:won all:some some:all most:few up:down higher:lower lower:higher rose:fell fell:rose may:must only:also north:south
south:north born:died died:born always:never best:worst
"""
_TURNED = dict(pair.split(":") for pair in _OPPOSED.split())


def turned(sentence: str, chance: Chance) -> str | None:
    found = list(re.finditer(rf"\b(?:{'|'.join(_TURNED)})\b", sentence))
    if not found:
        return None
    one = chance.choice(found)
    return sentence[: one.start()] + _TURNED[one.group()] + sentence[one.end() :]


FOUND = {
    "verbatim": as_it_stands,
    "case": changed_case,
    "spaces, line ends": spaces_and_line_ends,
    "line-end hyphens": hyphens_at_line_ends,
    "quotation marks, dashes": quotation_marks_and_dashes,
    "ellipsis": ellipsis,
}
NEAR = {
    "punctuation dropped": punctuation_dropped,
    "punctuation put in": punctuation_put_in,
    "misspelt word": misspelt,
    "word dropped": word_dropped,
    "clauses reordered": clauses_reordered,
}
NEVER = {
    "digit changed": digit_changed,
    "digits swapped": digits_swapped,
    "sign, scale or unit": number_scaled,
    "number word changed": number_word_changed,
    "negated": negated,
    "not left out by ...": negation_left_out,
    "opposite word": turned,
    "name changed": name_changed,
    "word changed": word_changed,
    "word put in": word_put_in,
}


@dataclass
class Row:
    """Counts for one corruption."""

    name: str
    quotes: int = 0
    verified: int = 0
    repaired: int = 0
    wrong: int = 0
    tries: int = 0
    false_verified: int = 0
    false_repaired: int = 0
    seconds: float = 0.0
    misses: list[tuple[str, CheckedCitation]] = field(default_factory=list)
    oddities: list[tuple[str, CheckedCitation]] = field(default_factory=list)

    @property
    def located(self) -> int:
        return self.verified + self.repaired

    @property
    def precision(self) -> float:
        found = self.located + self.wrong + self.false_verified + self.false_repaired
        return self.located / found if found else 1.0

    @property
    def recall(self) -> float:
        return self.located / self.quotes if self.quotes else 1.0


def measure(claims: list[Claim], corruption: Corruption, name: str, others: int, seed: int) -> Row:
    """One row of the table."""
    chance = Chance(f"{seed} {name}")
    row = Row(name)
    chance.words = sorted({word for claim in claims[:40] for word in re.findall(r"\b[a-z]{4,}\b", claim.page.text)})
    for claim in claims:
        for sentence, start, end in claim.sentences:
            quote = corruption(sentence, chance)
            if quote is None or (plain(quote) != plain(sentence) and name not in FOUND and plain(quote) in claim.plain):
                continue
            _own_page(row, claim, quote, (sentence, start, end))
            for other in chance.sample(claims, min(others + 1, len(claims))):
                if other is not claim and plain(sentence) not in other.plain and plain(quote) not in other.plain:
                    _other_page(row, other, quote)
    return row


def _own_page(row: Row, claim: Claim, quote: str, origin: tuple[str, int, int]) -> None:
    claim.page.index  # noqa: B018  (built once a source; the time of a check is measured without it)
    started = time.process_time()
    checked = check_citation(claim.sources, Quotation(claim.page.source_id, quote))
    row.seconds += time.process_time() - started
    row.quotes += 1
    sentence, start, end = origin
    if not checked.is_sound:
        row.misses.append((quote, checked))
        return
    overlap = all(span.start < end and span.end > start for span in checked.spans)
    words = [plain(claim.page.text[span.start : span.end]) for span in checked.spans]
    if not overlap and not all(piece in plain(sentence) for piece in words):
        row.wrong += 1
        row.oddities.append((quote, checked))
    elif checked.status is Status.VERIFIED:
        row.verified += 1
    else:
        row.repaired += 1


def _other_page(row: Row, other: Claim, quote: str) -> None:
    row.tries += 1
    checked = check_citation(other.sources, Quotation(other.page.source_id, quote))
    status = checked.status
    if checked.is_sound:
        row.oddities.append((quote, checked))
    row.false_verified += status is Status.VERIFIED
    row.false_repaired += status is Status.REPAIRED


HEADING = (
    f"{'corruption':<26}{'quotes':>7}{'verified':>10}{'repaired':>10}{'wrong':>7}{'false':>7}{'of':>8}"
    f"{'precision':>11}{'recall':>8}{'ms':>7}"
)


def line(row: Row) -> str:
    share = row.quotes or 1
    return (
        f"{row.name:<26}{row.quotes:>7}{row.verified / share:>10.4f}{row.repaired / share:>10.4f}{row.wrong:>7}"
        f"{row.false_verified + row.false_repaired:>7}{row.tries:>8}{row.precision:>11.4f}{row.recall:>8.4f}"
        f"{1000 * row.seconds / share:>7.2f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("path", type=Path)
    parser.add_argument("--claims", type=int, default=None, help="the first N claims only")
    parser.add_argument("--others", type=int, default=5, help="other pages for each quote")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", default="", help="print the quotes of this corruption that were not located")
    chosen = parser.parse_args()
    claims = read_claims(chosen.path, chosen.claims)
    rows = {}
    for title, group in (("must be found", FOUND), ("near misses", NEAR), ("must never be found", NEVER)):
        if chosen.misses and chosen.misses not in group:
            continue
        print(f"{title}:\n{HEADING}")
        for name, how in group.items():
            if chosen.misses in {"", name}:
                rows[name] = measure(claims, how, name, chosen.others, chosen.seed)
                print(line(rows[name]), flush=True)
        print()
    if chosen.misses:
        row = rows[chosen.misses]
        for quote, checked in [*row.oddities, *row.misses]:
            print(f"{checked.describe()}\n    {quote!r}\n    {checked.words!r}")
    return 1 if any(rows[name].located + rows[name].wrong for name in NEVER if name in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
