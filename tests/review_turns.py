"""Turns of a review, written down: a debate on two sources in which everybody does what the rules want."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from disputatio.evidence.sources import Source, SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.formats.review import ReviewRules
from disputatio.kernel import Abstention, Ask, AskPath, Seat, Turn
from disputatio.motion import Motion
from disputatio.participants.call import Call, Reply, Usage
from disputatio.record.text import canonical
from disputatio.testing import ScriptedClient
from strategies import Held, hold

CLAUSE = "The supplier is liable without limit for delays that it could have avoided."
STUDY = "In the audit of 2021 the supplier was late in 14 of 52 deliveries."
SOURCES = (Source("clause", "clause.txt", CLAUSE), Source("audit", "audit.txt", STUDY))
ATTACKS = ("tail_risk", "misread_evidence", "hidden_assumption", "harm_if_true")


def resting(ask: Ask, quote: tuple[str, str] | None = None, basis: str = "reasoning") -> dict[str, Any]:
    """The keys for what an argument rests on, where the form asks for them."""
    if "rests_on" not in str(ask.spec.schema):
        return {}
    quotations = [{"source": quote[0], "quote": quote[1]}] if quote else []
    return {"rests_on": basis, "quotations": quotations}


def framing(ask: Ask, **more: Any) -> dict[str, Any]:
    keys: Any = ask.spec.schema["properties"]
    known = {"key_evidence": [], "evidence_wanted": ["How often deliveries are late."]}
    positions = {"positions": [f"Do what is proposed in way {n}." for n in range(1, 1 + count_of(keys))]}
    body = {
        "thesis": "The clause exposes the supplier.",
        "scope": "This contract.",
        "criteria": ["It is lawful."],
    }
    return {**body, **{key: row for key, row in {**known, **positions}.items() if key in keys}, **more}


def count_of(keys: Any) -> int:
    return keys["positions"]["minItems"] if "positions" in keys else 0


def proposition(ask: Ask, **more: Any) -> dict[str, Any]:
    claims = ("The liability has no limit", "Delays happen in one delivery of four", "No insurer covers that exposure")
    return {
        "thesis": "The clause must be changed before it is signed.",
        "arguments": [
            {
                "claim": f"{claim}.",
                "reasoning": f"{claim}, and the supplier carries it alone in every case.",
                "evidence": "The wording.",
                **resting(ask, ("clause", CLAUSE) if number == 0 else None, "evidence" if number == 0 else "reasoning"),
            }
            for number, claim in enumerate(claims)
        ],
        "objections": [{"objection": "It was always so.", "answer": "Then nobody was late before."}],
        **more,
    }


def criticism(ask: Ask, strength: int = 8, number: int = 4, **more: Any) -> dict[str, Any]:
    targets = targets_of(ask)
    return {
        "thesis": "The change does more harm than the clause.",
        "arguments": [
            {
                "target": targets[place % len(targets)],
                "attack": ATTACKS[place % 4],
                "claim": f"Ground {place + 1} fails: the customer walks away in {place + 3} weeks.",
                "reasoning": f"Without the clause the customer buys elsewhere, which costs {place + 2} million.",
                **resting(ask),
            }
            for place in range(number)
        ],
        "challenge_strength": strength,
        **more,
    }


def targets_of(ask: Ask) -> list[str]:
    schema: Any = ask.spec.schema
    return schema["properties"]["arguments"]["items"]["properties"]["target"]["enum"]


def rebuttal(ask: Ask, **kinds: str) -> dict[str, Any]:
    keys: Any = ask.spec.schema["properties"]["answers"]["properties"]  # type: ignore[index,call-overload]
    return {
        "answers": {
            name: {
                "reasoning": f"{name} overlooks that three customers signed the changed clause.",
                "response": kinds.get(name, "refute"),
                **resting(ask),
            }
            for name in keys
        },
        "thesis": "The clause must be changed in its limit.",
    }


def moderation(ask: Ask, *, again: bool = False, **outcomes: str) -> dict[str, Any]:
    keys: Any = ask.spec.schema["properties"]
    scores = {"validity": 7, "evidence_quality": 6, "completeness": 5, "consistency": 8}
    body: dict[str, Any] = {}
    if "findings" in keys:
        body["findings"] = {
            name: {"reason": f"What {name} says follows.", **scores} for name in keys["findings"]["properties"]
        }
    if "points" in keys:
        body["points"] = {
            name: {"because": f"{name} was met.", "outcome": outcomes.get(name, "resolved_for_proposition")}
            for name in keys["points"]["properties"]
        }
    if "positions" in keys:
        body["positions"] = {
            name: {"because": "It is well defended.", "support": 8 - place}
            for place, name in enumerate(keys["positions"]["properties"])
        }
    return {
        **body,
        "synthesis": "Change the limit and keep the duty.",
        "confidence": "MODERATE",
        "uncertainties": ["Whether an insurer would cover it."],
        "another_round_would_help": "yes" if again else "no",
    }


WRITTEN = {
    "framing": framing,
    "proposition": proposition,
    "criticism": criticism,
    "rebuttal": rebuttal,
    "moderation": moderation,
}


def written(path: AskPath, ask: Ask) -> Turn | Abstention:
    """The written turn at ``path``."""
    turn: Turn = ask.spec.read(WRITTEN[ask.spec.name](ask))
    return turn


def reviewed(
    answering: Any = written,
    *,
    sources: tuple[Source, ...] = (),
    proposers: int = 1,
    introduced: dict[str, int] | None = None,
    **rules: Any,
) -> Held:
    """A review held to its end."""
    form = FORMATS["review"]
    further = tuple(Seat(f"proposer_{number}") for number in range(2, proposers + 1))
    context = DebateContext(
        (*form.seats, *further), Motion("We should change the clause"), SourceSet(sources), introduced=introduced or {}
    )
    return hold(form.rulebook(ReviewRules(**rules), context), answering)


def saying(**answers: Any) -> Any:
    """Answers by the name of the form, the written ones for the others; a list is used up turn by turn."""

    def answering(path: AskPath, ask: Ask) -> Turn | Abstention:
        given = answers.get(ask.spec.name)
        if isinstance(given, list):
            given = given.pop(0) if len(given) > 1 else given[0]
        if given is None:
            return written(path, ask)
        body = given(ask) if callable(given) else given
        return body if isinstance(body, Abstention) else ask.spec.read(body)

    return answering


def silent(ask: Ask) -> Abstention:
    """Nothing is said."""
    return Abstention(ask.seat, "drawn", "it was drawn to abstain")


def speaking(tokens: int = 100, **answers: Any) -> Any:
    """Models that say what is written; ``answers`` take the place of it by the name of the form, lists in turn."""

    def answer(call: Call) -> Reply:
        asked = SimpleNamespace(spec=SimpleNamespace(schema=call.schema, name=call.schema_name))
        given = answers.get(call.schema_name, WRITTEN[call.schema_name])
        if isinstance(given, list):
            given = given.pop(0) if len(given) > 1 else given[0]
        return Reply(canonical(given(asked)), "written", Usage(tokens, tokens, 0))

    model_client = ScriptedClient(answer)
    return lambda *_: model_client
