"""Rules to and from JSON, so that a debate resumes under the rules it began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from disputatio.formats.format import Format
from disputatio.formats.jury import JuryRules
from disputatio.formats.rule_values import Brief, Cast, DecisionRule, RuleName
from disputatio.judging.panel_verdict import PanelMethod
from disputatio.judging.scoring import Criterion, Rubric
from disputatio.kernel import JsonObject, Limits


def rules_json(rules: Any) -> JsonObject:
    """Return a format's rules as JSON; exact fractions are strings."""
    return {row.name: _value_json(getattr(rules, row.name)) for row in fields(rules)}


def rules_from_json(debate_format: Format, body: Mapping[str, Any]) -> Any:
    """Read recorded rules. A rule that the record lacks gets its value from ``ABSENT`` of the rules class: its meaning
    before the rule existed.

    Raises:
        TypeError: the record names a rule that the format does not have.
    """
    values = {name: _value(body[name]) for name in body}
    return debate_format.rules(**{**getattr(debate_format.rules, "ABSENT", {}), **values})


def _value_json(value: Any) -> Any:
    if isinstance(value, Limits):
        return {row.name: getattr(value, row.name) for row in fields(value)}
    if isinstance(value, JuryRules):
        weights = {judge: str(weight) for judge, weight in value.weights}
        return {**asdict(value), "method": value.method.value, "weights": weights, "dead_zone": str(value.dead_zone)}
    if isinstance(value, DecisionRule):
        share = None if value.share is None else str(value.share)
        weights = {name: str(weight) for name, weight in value.weights}
        return {"rule": value.name.value, "threshold": value.threshold, "share": share, "weights": weights}
    if isinstance(value, Brief | Cast):
        return value.as_json()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Rubric):
        criteria = [{"key": row.key, "weight": str(row.weight), "question": row.question} for row in value.criteria]
        return {"name": value.name, "criteria": criteria}
    return value


def _value(value: Any) -> Any:
    if isinstance(value, Mapping) and "attack_lines" in value:
        return Brief.from_json(value)
    if isinstance(value, Mapping) and "personalities" in value:
        return Cast.from_json(value)
    if isinstance(value, Mapping) and "criteria" in value:
        criteria = (Criterion(row["key"], Fraction(row["weight"]), row["question"]) for row in value["criteria"])
        return Rubric(value["name"], tuple(criteria))
    if isinstance(value, Mapping) and "both_orders" in value:
        weights = tuple((judge, Fraction(weight)) for judge, weight in value["weights"].items())
        exact = {"method": PanelMethod(value["method"]), "dead_zone": Fraction(value["dead_zone"])}
        return JuryRules(**{**value, **exact, "weights": weights})
    if isinstance(value, Mapping) and "rule" in value:
        share = None if value["share"] is None else Fraction(value["share"])
        weights = tuple((name, Fraction(weight)) for name, weight in value["weights"].items())
        return DecisionRule(RuleName(value["rule"]), value["threshold"], share, weights)
    if isinstance(value, list | tuple):
        return tuple(value)
    return Limits(**value) if isinstance(value, Mapping) else value
