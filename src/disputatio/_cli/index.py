"""The index of the commands: where each is and what it does in a sentence, without importing any of them.

``disputatio --help`` and a mistyped option should not wait for libraries that no command of theirs will use. The
sentences are the first ones of the commands' own help; a test holds the two together.
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
    "debate": ("debating", "debate", "Hold a debate on MOTION and print what came of it."),
    "resume": (
        "debating",
        "resume",
        "Go on with an interrupted, truncated or degraded debate. Nothing already paid is asked again.",
    ),
    "list": ("reading", "list_debates", "List the debates in the store, newest first."),
    "show": ("reading", "show", "Show a recorded debate: its turns, trace table, scores and briefing."),
    "verify": ("reading", "verify", "Check that no byte of a record was altered, and print its head hash."),
    "outcome": (
        "afterwards",
        "outcome",
        "Attach a later outcome or an expert's finding to a closed debate; its record stays as it was and grows by it.",
    ),
    "sign-off": ("afterwards", "sign_off", "Record what a named reviewer decides on the result of a closed debate."),
    "dossier": (
        "dossier",
        "dossier",
        "Write the model risk dossier of a debate: question, data, outputs, models, prompts, costs, oversight, limits.",
    ),
    "metrics": (
        "measuring",
        "metrics",
        "Count over the store: challenge strength, confidence, cost against its estimate, agreement, tilt, failures.",
    ),
    "import": (
        "importing",
        "import_files",
        "Import transcripts of debates that were held elsewhere, one debate a file.",
    ),
    "gate": ("gating", "gate", "Say whether a question is worth a debate, and why."),
    "models": (
        "setup",
        "models",
        "List the providers and presets, or the known models of one of them that write text, with their prices.",
    ),
    "topics": (
        "match_options",
        "topics",
        "List the built-in topics and personalities for `disputatio debate --topic NAME --format competition`.",
    ),
    "doctor": (
        "setup",
        "doctor",
        "Say what was found, where each setting comes from, and whether each model answers.",
    ),
    "tournament": (
        "tournament",
        "tournament",
        "Set models against each other on both sides of every topic, and rank them with intervals.",
    ),
    "check-judge": (
        "checking",
        "check_judge",
        "Plant known flaws in recorded debates and measure what the judge catches, misses and leans to.",
    ),
    "check-critic": (
        "critic",
        "check_critic",
        "Put propositions with known flaws before the critic: mean strength, flaws named, softening words.",
    ),
    "check-fallacies": (
        "checking",
        "check_fallacies",
        "Measure how well the judge names fallacies in texts that other people labelled.",
    ),
    "eval": (
        "evaluating",
        "evaluate",
        (
            "Hold debates and their baselines on questions whose right answers are known, and say what the "
            "difference shows."
        ),
    ),
    "backtest": (
        "backtesting",
        "backtest",
        "Hold the market debate on every date of a plan, and score it beside benchmarks on the same dates.",
    ),
    "serve": ("serving", "serve", "Serve debates over HTTP: an API, live events and a web page."),
    "worker": (
        "working",
        "worker",
        "Hold debates that wait in a PostgreSQL store, beside other workers, until it is stopped.",
    ),
    "enqueue": ("working", "enqueue", "Leave a debate for the workers of a PostgreSQL store, and print its id."),
    "queue": ("working", "list_queue", "Show the debates that wait or run, in the order in which they are taken."),
    "cancel": (
        "working",
        "cancel",
        "Stop a debate that waits or runs on a worker. What was said stays in its record.",
    ),
    "limits": ("working", "limits", "Show or set how many calls all workers together may make to a provider."),
    "mcp": (
        "assistants",
        "mcp",
        (
            "Offer debates to an assistant as tools: start, follow, read, list, verify, cancel, and whether one is "
            "worth it."
        ),
    ),
    "market": ("market", "market", "Build a knowledge base of the market as of a day, and read one."),
    "keys": ("keys", "keys", "Keys of the service: who may use it, and for how much."),
}
"""By name: the module in this package, the function or group in it, and what it does."""

GROUPS: Final = frozenset({"market", "keys"})
