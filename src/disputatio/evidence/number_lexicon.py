"""Number words, bounds, units and scales.

English number words are read (``twenty-five`` is 25); in other languages they only have to be equal. Words with another
everyday sense in English are omitted.

Units are a table of spellings; nothing is converted. Two spellings are one unit only if a line lists both. Other units
are protected too: no quote is repaired if the word after a number was changed (see ``near_miss``).
"""

from __future__ import annotations

from decimal import Decimal

_BEFORE_THAN = "less more fewer greater higher lower larger smaller better worse rather other"
BOUNDS = {
    "than": frozenset(_BEFORE_THAN.split()),
    "least": frozenset({"at"}),
    "most": frozenset({"at"}),
    "to": frozenset({"up", "equal"}),
}
"""The last word of a two-word bound, and the words that may precede it."""

_BOUND_WORDS = """
over under below above beyond within exceeding minus negative plus almost nearly barely only half twice double
"""
BOUND_WORDS = frozenset(_BOUND_WORDS.split())
"""Bounds of one word."""

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen
nineteen
"""
ONES = {word: number for number, word in enumerate(_ONES.split())}

_TENS = """
twenty thirty forty fifty sixty seventy eighty ninety
"""
TENS = {word: number * 10 for number, word in enumerate(_TENS.split(), start=2)}

_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
"""
ORDINALS = {word: number for number, word in enumerate(_ORDINALS.split(), start=1)}

_MONTHS = """
january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct
november/nov
december/dec
"""
MONTHS = {form: number for number, forms in enumerate(_MONTHS.split(), start=1) for form in forms.split("/")}

_COUNTING = """
hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens half halves
quarter
quarters thirds once twice thrice double doubled triple tripled quadruple single
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig dreissig vierzig fünfzig hundert tausend
millionen milliarde milliarden halb doppelt erste zweite dritte
deux trois quatre cinq sept huit neuf dix onze douze vingt trente quarante cinquante mille milliard milliards premier
première deuxième troisième moitié
dos tres cuatro cinco seis siete ocho nueve diez doce veinte treinta cien ciento mil millón millones mitad primero
segundo tercero
quattro cinque sette otto dieci venti trenta cento milione milioni miliardo miliardi metà
dois duas três quatro sete oito nove dez vinte trinta cem milhão milhões bilhão metade
twee vier vijf zes zeven negen tien twaalf twintig honderd duizend miljoen miljard helft
två fyra åtta tio hundra tusen miljon miljoner
dwa dwie trzy cztery pięć sześć siedem osiem dziesięć sto tysiąc milion
два две три четыре пять шесть семь восемь девять десять сто тысяча тысяч миллион миллионов
"""
COUNTING = frozenset(_COUNTING.split())
"""Number words that are compared as words."""

HAN_FIGURES = frozenset("〇零一二三四五六七八九十百千万萬亿億兆两兩半")


_SAME = """
% percent pct prozent pourcent procent; percentage pp; ms millisecond milliseconds; s sec secs second seconds;
min mins minute minutes; h hr hrs hour hours; day days; week weeks; month months; year years yr yrs; decade decades;
century centuries; nm nanometre nanometres nanometer nanometers; μm micrometre micrometres micrometer micrometers;
mm millimetre millimetres millimeter millimeters; cm centimetre centimetres centimeter centimeters;
m metre metres meter meters; km kilometre kilometres kilometer kilometers; mile miles mi; ft foot feet; yard yards yd;
inch inches; μg microgram micrograms; mg milligram milligrams; g gram grams; kg kilogram kilograms; t tonne tonnes;
ton tons; lb lbs; oz ounce ounces; ml millilitre millilitres milliliter milliliters; l litre litres liter liters;
ha hectare hectares; acre acres; W watt watts; kW kilowatt kilowatts; MW megawatt megawatts; GW gigawatt gigawatts;
TW terawatt terawatts; mW milliwatt milliwatts; kWh; MWh; GWh; TWh; J joule joules; kJ; MJ; cal calorie calories;
kcal; V volt volts; mV millivolt millivolts; kV kilovolt kilovolts; MV megavolt megavolts;
mA milliampere milliamperes; Hz hertz; kHz; MHz megahertz; mHz; GHz gigahertz; bit bits; byte bytes; kB KB; Kb;
MB megabyte megabytes; Mb megabit megabits; GB gigabyte gigabytes; Gb gigabit gigabits; TB terabyte terabytes;
Tb terabit terabits; Mbps; MBps; bps; bp; ppm; ppb; mph; kph; rpm; Pa; kPa; hPa; MPa; mPa; mol; mmol; dB; °c celsius;
°f fahrenheit; ° degree degrees; usd dollar dollars; eur euro euros; gbp; pound pounds; jpy yen; cny yuan;
inr rupee rupees; chf; cent cents; am; pm; bc bce; ad ce; times; tokens token; calls call; people persons person
"""

_SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(1_000),
    "million": Decimal(1_000_000),
    "mn": Decimal(1_000_000),
    "mio": Decimal(1_000_000),
    "billion": Decimal(1_000_000_000),
    "bn": Decimal(1_000_000_000),
    "trillion": Decimal(1_000_000_000_000),
    "tn": Decimal(1_000_000_000_000),
    "dozen": Decimal(12),
    "lakh": Decimal(100_000),
    "crore": Decimal(10_000_000),
}
_OTHER_SCALE_WORDS = """
k m b hundreds thousands millions billions trillions dozens hundert tausend millionen milliarde milliarden mrd mille
milliard milliards mil millón millones mila milione milioni miliardo miliardi milhão milhões bilhão bilhões miljoen
miljard tys mln mlrd тыс млн млрд
"""
_OTHER_SCALES = frozenset(_OTHER_SCALE_WORDS.split())

_BY_SURFACE: dict[str, str] = {}
_BY_FOLD: dict[str, set[str]] = {}
for _line in _SAME.split(";"):
    _forms = _line.split()
    for _form in _forms:
        _BY_SURFACE[_form] = _forms[0]
        _BY_FOLD.setdefault(_form.casefold(), set()).add(_forms[0])
_SHORT_IN_PROSE = frozenset({"am", "ad", "ce", "bc", "cal", "pa", "times", "mb", "k", "m", "b"})
"""Forms that are also words or letters of prose. After a space they are units only in exactly this case."""


def is_another_unit(one: str, other: str) -> bool:
    """Whether two words that differ only in case are different units, or a unit and a scale."""
    if {one, other} == {"m", "M"}:
        return True
    return one in _BY_SURFACE and other in _BY_SURFACE and _BY_SURFACE[one] != _BY_SURFACE[other]


def find_unit(surface: str, *, glued: bool = False) -> str | None:
    """Return the unit ``surface`` after a number, by its first form in the table; None if it is not a unit."""
    surface = surface.replace("µ", "μ")
    exact = _BY_SURFACE.get(surface)
    if exact is not None and not (surface in {"ad", "ce"} and not glued):
        return exact
    fold = surface.casefold()
    if fold in _SHORT_IN_PROSE and not (glued or surface.isupper()):
        return None
    found = _BY_FOLD.get(fold, set())
    if len(found) > 1:
        return surface  # neither of the units that its letters could be in the right case
    return next(iter(found), None)


def find_scale(fold: str, *, glued: bool = False) -> tuple[Decimal | None, str] | None:
    """Return the factor, if known, and the name of a scale word after a number; None if it is not a scale."""
    if fold in _SCALES:
        return _SCALES[fold], fold
    if fold in _OTHER_SCALES and (glued or len(fold) > 1):
        return None, fold
    return None
