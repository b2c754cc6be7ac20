"""The index of the commands: where each is, without importing any of them.

Whoever asks for one command should not wait for the libraries of the others.
"""

from __future__ import annotations

from typing import Final

ABOUT: Final = (
    "Structured debate between AI models, with rules kept by code and a record that verifies.",
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
    "list": ("reading", "list_debates"),
    "show": ("reading", "show"),
    "verify": ("reading", "verify"),
    "outcome": ("afterwards", "outcome"),
    "sign-off": ("afterwards", "sign_off"),
    "dossier": ("dossier", "dossier"),
    "metrics": ("measuring", "metrics"),
    "export": ("measuring", "export"),
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
    "worker": ("working", "worker"),
    "enqueue": ("working", "enqueue"),
    "queue": ("working", "list_queue"),
    "cancel": ("working", "cancel"),
    "limits": ("working", "limits"),
    "mcp": ("serving", "mcp"),
    "market": ("market", "market"),
    "keys": ("keys", "keys"),
}
"""By name: the module in this package, and the function or group in it."""

GROUPS: Final = frozenset({"market", "keys"})
