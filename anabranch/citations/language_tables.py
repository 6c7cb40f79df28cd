"""Names of months, weekdays, units and currencies in a language, from the Unicode CLDR."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from babel.dates import get_day_names, get_month_names
from babel.numbers import get_currency_name
from babel.units import format_unit

from anabranch.citations.quantities import CURRENCIES
from anabranch.text.function_words import fold_word

# Languages with number words and calendars, by their codes in ISO 639-1.
_CODES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "nb", "finnish": "fi", "turkish": "tr",
    "russian": "ru", "arabic": "ar", "greek": "el", "hindi": "hi",
}  # fmt: skip
# Units by their names in the CLDR, and numbers that together need every form of a word.
_UNITS = {
    "concentr-percent": "%", "length-meter": "m", "length-kilometer": "km", "length-centimeter": "cm",
    "length-millimeter": "mm", "mass-gram": "g", "mass-kilogram": "kg", "volume-liter": "l", "length-mile": "mi",
    "length-foot": "ft", "duration-second": "s", "duration-minute": "min", "duration-hour": "h",
}  # fmt: skip
_FORMS = (1, 2, 5)
_KILOS = {"kilo": "kg", "kilos": "kg"}
_MORE_UNITS = {
    "en": _KILOS, "de": _KILOS, "fr": _KILOS, "es": _KILOS, "nl": _KILOS, "pt": {"quilo": "kg", "quilos": "kg"},
    "it": {"per cento": "%", "chilo": "kg", "chili": "kg"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LanguageTables:
    """The tables of a language; their words are folded."""

    months: dict[str, int]
    weekdays: dict[str, int]
    short_months: dict[str, int]
    short_weekdays: dict[str, int]
    units: dict[str, str]


@cache
def tables_of(language: str) -> LanguageTables:
    """Return the tables of a language, empty for other languages. Owner: this module; at most 17 entries."""
    if language not in _CODES:
        return LanguageTables({}, {}, {}, {}, {})
    code = _CODES[language]
    return LanguageTables(
        _read_names(code, get_month_names, 0),
        _read_names(code, get_day_names, 1),
        _read_names(code, get_month_names, 0, "abbreviated"),
        _read_names(code, get_day_names, 1, "abbreviated"),
        # "Metres" and "per cent" are English as well.
        _read_units(code) | (_read_units("en_GB") if code == "en" else {}) | _MORE_UNITS.get(code, {}),
    )


def _read_names(code: str, names: Callable[..., Mapping[int, str]], first: int, width: str = "wide") -> dict[str, int]:
    return {
        fold_word(name.rstrip(".")): at + first
        for context in ("format", "stand-alone")
        for at, name in names(width, context, code).items()
    }


def _read_units(code: str) -> dict[str, str]:
    """Return the symbols of units by their names, in every grammatical form."""
    found: dict[str, str] = {}
    for unit, symbol in _UNITS.items():
        for number in _FORMS:
            _, *words = format_unit(number, unit, "long", locale=code).split()
            # A locale without words for a unit writes "5 length-mile", and the Turkish percent precedes its number.
            if words and all(word[0].isalpha() and "-" not in word for word in words):
                name = " ".join(map(fold_word, words))
                found[name] = symbol
                if code == "de" and name.endswith("er"):
                    found[f"{name}n"] = symbol  # "ab 3 Metern"
    for currency, symbol in CURRENCIES.items():
        for number in _FORMS:
            # People write only the last word of a name, such as "US-Dollar".
            found[fold_word(re.split(r"[\s-]", get_currency_name(currency, number, locale=code))[-1])] = symbol
    return found
