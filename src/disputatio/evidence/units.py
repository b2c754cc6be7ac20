"""The units and scales that belong to the number before them.

A table of surface forms, not a system of units: nothing is converted. Two forms are the same unit only where a line
below says so. A unit that is not listed is still protected where it stands: no quote is repaired when the word
after a number was changed (see ``near_miss``).
"""

from __future__ import annotations

from decimal import Decimal

_SAME = """
% percent pct prozent pourcent procent
percentage pp
ms millisecond milliseconds
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
day days
week weeks
month months
year years yr yrs
decade decades
century centuries
nm nanometre nanometres nanometer nanometers
μm micrometre micrometres micrometer micrometers
mm millimetre millimetres millimeter millimeters
cm centimetre centimetres centimeter centimeters
m metre metres meter meters
km kilometre kilometres kilometer kilometers
mile miles mi
ft foot feet
yard yards yd
inch inches
μg microgram micrograms
mg milligram milligrams
g gram grams
kg kilogram kilograms
t tonne tonnes
ton tons
lb lbs
oz ounce ounces
ml millilitre millilitres milliliter milliliters
l litre litres liter liters
ha hectare hectares
acre acres
W watt watts
kW kilowatt kilowatts
MW megawatt megawatts
GW gigawatt gigawatts
TW terawatt terawatts
mW milliwatt milliwatts
kWh
MWh
GWh
TWh
J joule joules
kJ
MJ
cal calorie calories
kcal
V volt volts
mV millivolt millivolts
kV kilovolt kilovolts
MV megavolt megavolts
mA milliampere milliamperes
Hz hertz
kHz
MHz megahertz
mHz
GHz gigahertz
bit bits
byte bytes
kB KB
Kb
MB megabyte megabytes
Mb megabit megabits
GB gigabyte gigabytes
Gb gigabit gigabits
TB terabyte terabytes
Tb terabit terabits
Mbps
MBps
bps
bp
ppm
ppb
mph
kph
rpm
Pa
kPa
hPa
MPa
mPa
mol
mmol
dB
°c celsius
°f fahrenheit
° degree degrees
usd dollar dollars
eur euro euros
gbp
pound pounds
jpy yen
cny yuan
inr rupee rupees
chf
cent cents
am
pm
bc bce
ad ce
times
tokens token
calls call
people persons person
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
for _line in _SAME.split("\n"):
    _forms = _line.split()
    for _form in _forms:
        _BY_SURFACE[_form] = _forms[0]
        _BY_FOLD.setdefault(_form.casefold(), set()).add(_forms[0])
_SHORT_IN_PROSE = frozenset({"am", "ad", "ce", "bc", "cal", "pa", "times", "mb", "k", "m", "b"})
"""Forms that are words or letters of prose too: after a space they are units only in the very case listed above."""


def case_makes_another(one: str, other: str) -> bool:
    """Whether two words that differ in case alone are two units, or a unit and a scale, behind a number."""
    if {one, other} == {"m", "M"}:
        return True
    return one in _BY_SURFACE and other in _BY_SURFACE and _BY_SURFACE[one] != _BY_SURFACE[other]


def unit_of(surface: str, *, glued: bool = False) -> str | None:
    """The unit that ``surface`` is behind a number, by its first form in the table; None where it is none."""
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


def scale_of(fold: str, *, glued: bool = False) -> tuple[Decimal | None, str] | None:
    """The factor that a folded word is behind a number, if it is a known one, and its name; None where it is none."""
    if fold in _SCALES:
        return _SCALES[fold], fold
    if fold in _OTHER_SCALES and (glued or len(fold) > 1):
        return None, fold
    return None
