"""Who sits where, under which limits: settings from the command line, the environment and a file."""

from disputatio.config.doctor import Finding, State, findings
from disputatio.config.resolve import resolve
from disputatio.config.settings import (
    CommandLine,
    FormatOptions,
    LimitSettings,
    MissingKey,
    RubricChoice,
    RuleValue,
    Settings,
    fallback_seat,
    missing_keys,
    variable_prefix,
)

__all__ = [
    "CommandLine",
    "Finding",
    "FormatOptions",
    "LimitSettings",
    "MissingKey",
    "RubricChoice",
    "RuleValue",
    "Settings",
    "State",
    "fallback_seat",
    "findings",
    "missing_keys",
    "resolve",
    "variable_prefix",
]
