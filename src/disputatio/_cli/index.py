"""The index of the commands: the module and function of each.

It imports none of them, so that one command does not wait for the libraries of the others.
"""

from __future__ import annotations

from typing import Final

ABOUT: Final = (
    "Structured debates between AI models. Code enforces the rules and keeps a tamper-evident record.",
    'Start with: disputatio debate "We should adopt microservices"',
)
EPILOG: Final = (
    "Exit codes: 0 complete, 2 invalid input, 3 truncated at a ceiling, 4 seats missing, 5 provider failure, "
    "6 failed verification, 7 store failure, 8 judge worse than its baseline, 9 a threshold passed, 130 interrupted."
)

COMMANDS: Final = {
    "debate": ("debating", "debate"),
    "resume": ("debating", "resume"),
    "fork": ("forking", "fork"),
    "list": ("records", "list_debates"),
    "show": ("records", "show"),
    "verify": ("records", "verify"),
    "outcome": ("attachments", "outcome"),
    "sign-off": ("attachments", "sign_off"),
    "dossier": ("dossier", "dossier"),
    "metrics": ("metrics", "metrics"),
    "export": ("metrics", "export"),
    "archive": ("archiving", "archive"),
    "restore": ("archiving", "restore"),
    "import": ("importing", "import_files"),
    "gate": ("gating", "gate"),
    "models": ("setup", "models"),
    "topics": ("setup", "topics"),
    "doctor": ("setup", "doctor"),
    "tournament": ("tournament", "tournament"),
    "check-judge": ("checking", "check_judge"),
    "check-critic": ("checking", "check_critic"),
    "check-fallacies": ("checking", "check_fallacies"),
    "eval": ("evaluating", "evaluate"),
    "backtest": ("backtesting", "backtest"),
    "serve": ("serving", "serve"),
    "worker": ("workers", "worker"),
    "enqueue": ("workers", "enqueue"),
    "queue": ("workers", "list_queue"),
    "cancel": ("workers", "cancel"),
    "limits": ("workers", "limits"),
    "mcp": ("serving", "mcp"),
    "market": ("market", "market"),
    "keys": ("keys", "keys"),
}
"""By the name of the command: a module of this package, and its function or group."""

GROUPS: Final = frozenset({"market", "keys"})
