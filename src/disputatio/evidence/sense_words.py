"""Words that carry the sense of a sentence. A quote that changed one of them is never repaired.

``classify_word`` finds words that may not be changed, omitted or added: negation, direction and order, amounts,
certainty and frequency. ``may_be_opposites`` finds words with an everyday opposite. ``is_same_word`` decides whether
two spellings are one word. English is covered best; other languages have negation, and some of them direction.

``is_same_word`` needs no list of differences: two words differ unless a rule says otherwise. So an unknown drug or a
rare noun cannot pass for another.
"""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

_NEGATION = """
not no never none nothing nobody nowhere neither nor without cannot unless except hardly scarcely barely lack lacks
lacked lacking fail fails failed failing failure refuse refused refuses deny denied denies nicht kein keine keinen
keinem keiner keines nie niemals nichts niemand weder ohne kaum pas jamais aucun aucune rien personne ni sans non
nunca jamás nada nadie ningún ninguno ninguna tampoco sin mai niente nessuno nessuna senza né não nenhum nenhuma
ninguém nem sem niet geen nooit niets niemand zonder inte ingen inget inga aldrig utan ikke intet aldri uden uten
ei eivät emme ette älä nie nigdy żaden żadna żadne bez ne není nejsou nikdy žádný žádná nincs sem nélkül nu niciodată
fără не нет ни никогда ничего никто без нельзя ні немає ніколи не няма δεν μην μη όχι ποτέ χωρίς değil yok hiç hayır
tidak tak bukan belum jangan tanpa không chưa chẳng لا لم لن ليس ليست غير بدون نه نیست هرگز לא אין בלי מעולם नहीं मत
बिना
না নেই hapana bila
"""
_DIRECTION = """
up upward/upwards down downward/downwards above below over under more most less least few/fewer/fewest higher/highest
high lower/lowest low before after earlier later prior since until ago than rise/rises/rose/risen/rising
fall/falls/fell/fallen/falling grow/grows/grew/grown/growing/growth drop/drops/dropped/dropping
gain/gains/gained/gaining
lose/loses/lost/losing/loss/losses win/wins/won/winning beat/beats/beaten against versus from plus minus positive
negative maximum/max minimum/min majority minority best worst better worse inside outside within beyond into onto
toward
towards away top bottom
mehr weniger höher niedriger über unter vor nach steigt/stieg/gestiegen sinkt/sank/gesunken besser schlechter moins
supérieur inférieur hausse baisse avant après más menos mayor menor aumento sube baja antes después più meno maggiore
minore calo prima dopo mais maior depois meer minder hoger lager voor больше меньше выше ниже до после рост снижение
"""
_DIRECTION_STEMS = """
increas decreas reduc declin improv worsen deteriorat expand shrink shrank shrunk strengthen weaken accelerat
decelerat
surg plung soar plummet climb doubl halv exceed surpass outperform underperform zunahm abnahm augment diminu aument
dismin reduzier verringer увелич уменьш снизи выросл
"""
_AMOUNT = """
all every each any some most many much few several both half either only just everyone everybody everything someone
somebody something always often usually sometimes rarely seldom occasionally frequently mostly mainly partly entirely
fully completely almost nearly approximately roughly about around exactly alle jeder jede jedes einige viele wenige
nur
immer oft selten fast tous toutes chaque quelques plusieurs peu toujours souvent presque seulement todos todas cada
algunos muchos pocos siempre casi solo sólo tutti tutte ogni alcuni molti pochi sempre quasi todos alguns muitos
poucos sempre все каждый некоторые многие всегда часто редко только
"""
_CERTAINTY = """
may might could must should would can perhaps maybe possibly probably likely unlikely certainly definitely apparently
allegedly supposedly reportedly potentially presumably if whether kann könnte muss soll vielleicht wahrscheinlich
möglicherweise angeblich peut pourrait doit probablement puede podría debe quizás probablemente può potrebbe deve
forse
"""
_OPPOSITES = """
accept reject accepted rejected agree disagree alive dead allow allowed forbid forbidden ban banned prohibit
prohibited
permit permitted approve approved disapprove disapproved oppose opposed support supported ally enemy arrive depart
attack defend begin began begun end ended start started stop stopped finish finished big small large little great
birth death born died buy bought sell sold purchase purchased cause caused causes prevent prevented prevents cheap
expensive clean dirty close closed open opened complete incomplete connect create created destroy destroyed credit
debit
deep shallow early late easy hard difficult simple complex effective ineffective efficient employer employee
enter left leave leaves right empty full exclude excluded include included excluding including export import
exports imports external internal false true fast slow quick father mother son daughter brother sister female male man
woman men women boy girl first last final former latter foreign domestic friend good bad guilty innocent happy sad
healthy sick heavy light hire hired fire fired hot cold husband wife illegal legal join joined long short love hate
loved hated major minor new old north south east west northern southern eastern western parent child pass passed past
future present permanent temporary poor rich private public pro con profit deficit surplus pull push put real fake
safe
unsafe dangerous same different senior junior strong weak succeed succeeded success successful summer winter spring
autumn teacher student thick thin today tomorrow yesterday upper valid victory defeat defeated young king queen
"""
_PAIRS = """
and or but he she it they we i you his her their our my your him them us me now then yes with without this that these
those is was are were be been being has had have do does did who which what when where why
"""
_PREFIXES = """
un in im il ir dis non non- anti anti- de mis under over counter counter- a ab ant contra ex hyper hypo inter intra
pre
post maxi mini mono multi pro re sub super up down out не без анти ne nie bez des dés mal sous sur über unter außer
ein
aus auf miss kontra onto om on
"""
_NEGATING_PREFIXES = tuple(_PREFIXES.split())
_MIN_MISSPELLING_SIMILARITY = 75
"""0 to 100, of two words if one may be the other misspelt."""

_ENDINGS_THAT_OPPOSE = (("less", "ful"), ("less", ""), ("less", "y"), ("er", "ee"), ("or", "ee"), ("free", ""))

_SMALL = """
a an the
in on at upon
while whilst
among amongst
der die das des dem den ein eine einen einem einer eines
le la les l' un une du des de d'
el la los las un una unos unas del
il lo gli i una uno
de het een
"""
_SMALL_WORDS = tuple(frozenset(line.split()) for line in _SMALL.strip().splitlines())
"""Articles and prepositions of place. Words of one line are interchangeable."""
_ARTICLES = frozenset({"the", "der", "la", "el", "il", "de"})
_EMPTY_WORDS = "that of it they 的 了 之 は が を に の も と で"
_OPTIONAL_WORDS = frozenset(_EMPTY_WORDS.split()).union(*(words for words in _SMALL_WORDS if words & _ARTICLES))
"""Words that a quote may add: they name nothing and claim nothing."""

_AUXILIARIES = frozenset(
    {"do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "can", "could", "would", "should", "will"}
)

_INFLECTIONS = (
    frozenset({"", "s", "es", "ed", "ing", "'s"}),
    frozenset({"e", "es", "ed", "ing", "e's"}),
    frozenset({"y", "ies", "ied", "ying", "y's"}),
)
"""Endings of one word. "er", "est", "ly" and "ion" make another word."""

_MIN_MISSPELT_CHARS, _MIN_ONE_LETTER_OFF_CHARS = 4, 9
_SPELLINGS = (
    ("our", "or"),
    ("s", "z"),
    ("ll", "l"),
    ("ae", "e"),
    ("oe", "e"),
    ("y", "i"),
    ("ph", "f"),
    ("gramme", "gram"),
)
"""British, American and older spellings of one sound."""
_CONFUSED = """
trial trail causal casual form from united untied diary dairy angel angle silver sliver sacred scared martial marital
cavalry calvary left felt quite quiet being begin north thorn stop spot three there lose loose desert dessert
prosecution persecution conservation conversation complementary complimentary principal principle
"""
_CONFUSED_WORDS = frozenset(_CONFUSED.split())
"""Words that are one slip away from another word."""

_NEGATING_MARKS = "[不没沒無无未非否勿莫]|ない|なく|なかっ|なけれ|ません|まい|ずに|ぬ|않|못|없|아니|안\\s|ไม่|มิ|ห้าม|ບໍ່|မ"
_BEFORE = re.compile(
    "(?:[不没沒無无未非勿莫](?:有|会|會|能|是|可|要|得|被|曾|必|应|應|应该|應該|可能)?|ไม่|ไม่ได้|มิ|ห้าม|ບໍ່)$"
)
_BEHIND = re.compile("[ぁ-ん]{0,3}(?:ない|なかっ|なく|なけれ|ません|まい|ずに|ず[、。])|\\s?(?:않|못|없|아니)")
_WINDOW = 8

_TURNING_MARKS = "[别別减減增增升降上下高低多少大小前後后]"


@cache
def _classified_words() -> dict[str, str]:
    """Return the class of each listed word; forms joined by a slash have the class of the first."""
    tables = ((_CERTAINTY, "certainty"), (_AMOUNT, "amount"), (_DIRECTION, "direction"), (_NEGATION, "negation"))
    weights: dict[str, str] = {}
    for table, kind in tables:
        for forms in (family.split("/") for family in table.split()):
            weights |= dict.fromkeys(forms, f"{kind} {forms[0]}")
    return weights | {"cannot": "negation not"}


@cache
def _direction_stems() -> tuple[str, ...]:
    return tuple(_DIRECTION_STEMS.split())


@cache
def _opposites() -> frozenset[str]:
    return frozenset(_OPPOSITES.split())


@cache
def _function_words() -> frozenset[str]:
    return frozenset(_PAIRS.split())


def classify_word(fold: str) -> str | None:
    """Return the class of a folded word, such as ``negation not``, or None.

    Forms of one verb have one class: ``increases`` and ``increased``.
    """
    if fold.endswith("n't"):
        return "negation not"
    found = _classified_words().get(fold)
    if found is None and fold.startswith(_direction_stems()):
        return "direction " + next(stem for stem in _direction_stems() if fold.startswith(stem))
    return found


def is_negation(fold: str) -> bool:
    """Whether a folded word negates."""
    return (classify_word(fold) or "").startswith("negation")


def find_negating_marks(text: str) -> list[str]:
    """Find negation inside words, in scripts without spaces and in Korean, in order."""
    return re.findall(_NEGATING_MARKS, text)


def find_adjacent_negation(text: str, start: int, end: int) -> str:
    """Find negation that touches ``text[start:end]`` from outside, in the same scripts; else an empty text.

    Chinese and Thai negate before a word, Japanese and Korean after it.
    """
    before = _BEFORE.search(text[max(0, start - _WINDOW) : start])
    if before:
        return before.group()
    left = max(start, end - 3)
    for behind in _BEHIND.finditer(text[left : end + _WINDOW]):
        if left + behind.start() <= end < left + behind.end():
            return behind.group()
    return ""


def find_sense_marks(text: str) -> list[str]:
    """Find ``find_negating_marks`` and letters of direction and amount in Chinese and Japanese, in order."""
    return re.findall(f"{_NEGATING_MARKS}|{_TURNING_MARKS}", text)


def may_be_opposites(one: str, other: str) -> bool:
    """Whether two different folded words may be opposites.

    They may if one is listed and the other is not a form or misspelling of it, if a prefix or ending turns the sense,
    or if both are function words such as ``and`` and ``or``.
    """
    if one == other:
        return False
    if {one, other} <= _function_words():
        return True
    short, long = sorted((one, other), key=len)
    if any(long == prefix + short for prefix in _NEGATING_PREFIXES) or _differ_by_prefix(one, other):
        return True
    for against, to in _ENDINGS_THAT_OPPOSE:
        for left, right in ((one, other), (other, one)):
            stem = left.removesuffix(against)
            if stem != left and len(stem) > 2 and right == stem + to:
                return True
    listed = {one, other} & _opposites()
    return (
        bool(listed)
        and (len(listed) == 2 or not is_similar(one, other))
        and not _are_inflections_or_spellings(one, other)
    )


def is_same_word(quote: str, source: str, *, is_a_word: bool = False) -> bool:
    """Whether two different folded words are one: interchangeable, forms of one verb or noun, or a slip.

    A slip swaps two neighbouring letters, doubles or undoubles a letter, or uses another usual spelling. In words of
    nine letters or more it may change one letter, but not the first or the last two, where chemistry and law differ
    (``nitrate``, ``nitrite``; ``lessor``, ``lessee``).

    Args:
        quote: the word of the quote, folded.
        source: the word of the source, folded.
        is_a_word: whether the source has ``quote`` elsewhere, so it is not a slip.
    """
    return (
        are_interchangeable(quote, source)
        or _are_inflections(quote, source)
        or (not is_a_word and _is_slip(quote, source))
    )


def are_interchangeable(one: str, other: str) -> bool:
    """Whether two folded words are interchangeable articles or prepositions."""
    return any(one in group and other in group for group in _SMALL_WORDS)


def is_auxiliary(fold: str) -> bool:
    """Whether a folded word before ``not`` may be half of a contraction: ``do not`` for ``don't``."""
    return fold in _AUXILIARIES


def may_be_added(fold: str) -> bool:
    """Whether a quote may add this folded word."""
    return fold in _OPTIONAL_WORDS


def _are_inflections(one: str, other: str) -> bool:
    """Whether two words are forms of one verb or noun: ``support``, ``supported``; ``study``, ``studies``."""
    short, long = sorted((one, other), key=len)
    shared = next(
        (place for place, (left, right) in enumerate(zip(short, long, strict=False)) if left != right), len(short)
    )
    for length in range(max(3, shared - 2), shared + 1):
        endings = {one[length:], other[length:]}
        if any(endings <= family for family in _INFLECTIONS):
            return True
    return len(short) > 2 and long in {f"{short}{short[-1]}{ending}" for ending in ("ed", "ing")}


def _is_slip(quote: str, source: str) -> bool:
    if min(len(quote), len(source)) < _MIN_MISSPELT_CHARS or quote[0] != source[0]:
        return False
    if {quote, source} & _CONFUSED_WORDS or not (quote.isalpha() and source.isalpha()):
        return False
    if sorted(quote) == sorted(source):
        return OSA.distance(quote, source) == 1
    if _undouble_letters(quote) == _undouble_letters(source) or _is_respelling(quote, source):
        return True
    long_enough = max(len(quote), len(source)) >= _MIN_ONE_LETTER_OFF_CHARS
    return long_enough and quote[-2:] == source[-2:] and OSA.distance(quote, source) == 1


def _undouble_letters(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)


def _is_respelling(one: str, other: str) -> bool:
    for left, right in _SPELLINGS:
        if left in one + other and one.replace(left, right) == other.replace(left, right):
            return True
    return {one[-2:], other[-2:]} == {"re", "er"} and one[:-2] == other[:-2]


def is_similar(one: str, other: str) -> bool:
    """Whether one word may be the other misspelt."""
    return min(len(one), len(other)) > 3 and fuzz.ratio(one, other) >= _MIN_MISSPELLING_SIMILARITY


def _are_inflections_or_spellings(one: str, other: str) -> bool:
    """Whether two words are forms or spellings of one word."""
    shared = min(len(one), len(other))
    same = next((index for index in range(shared) if one[index] != other[index]), shared)
    return same >= 3 and len(one) - same <= 3 and len(other) - same <= 3 and is_similar(one, other)


def _differ_by_prefix(one: str, other: str) -> bool:
    """Whether two words have one stem after different prefixes: ``import`` and ``export``."""
    for prefix in _NEGATING_PREFIXES:
        rest = one.removeprefix(prefix)
        if rest != one and len(rest) > 3 and any(other == instead + rest for instead in _NEGATING_PREFIXES):
            return True
    return False
