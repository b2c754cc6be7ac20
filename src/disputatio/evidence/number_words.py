"""Numbers written as words, and the words that bound a number.

English numbers are read (``twenty-five`` is 25); in the other languages a number word only has to be the same one.
Words that are also everyday English words of another sense are left out.
"""

from __future__ import annotations

BOUNDS = {
    "than": frozenset(
        {
            "less",
            "more",
            "fewer",
            "greater",
            "higher",
            "lower",
            "larger",
            "smaller",
            "better",
            "worse",
            "rather",
            "other",
        }
    ),
    "least": frozenset({"at"}),
    "most": frozenset({"at"}),
    "to": frozenset({"up", "equal"}),
}
"""The last word of a bound of two words, and the words that may stand before it."""

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
