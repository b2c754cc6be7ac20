"""Settings from the command line, the environment and a file: seats, models, limits and keys."""

from disputatio.config.arguments import Arguments, arguments_of
from disputatio.config.doctor import Finding, State, diagnose
from disputatio.config.resolve import resolve
from disputatio.config.settings import (
    FormatScope,
    MissingKey,
    Settings,
    fallback_seat,
    missing_keys,
    variable_prefix,
)

__all__ = [
    "Arguments",
    "Finding",
    "FormatScope",
    "MissingKey",
    "Settings",
    "State",
    "arguments_of",
    "diagnose",
    "fallback_seat",
    "missing_keys",
    "resolve",
    "variable_prefix",
]
