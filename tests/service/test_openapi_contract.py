"""Whatever is sent, the server answers as its OpenAPI document says, and never with a failure of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from served import Served, ended, served, started

from disputatio._service.keys import Scope
from strategies import examples

pytestmark = pytest.mark.slow
MODES = {GenerationMode.POSITIVE: 3, GenerationMode.NEGATIVE: 2}
"""How many cases of each kind an operation is sent: such as its document allows, and such as it does not."""


class Visitor:
    """Sends cases of every operation, about things that are there as often as about things that are not."""

    def __init__(self, url: str, token: str, there: dict[str, str]) -> None:
        load_all_checks()
        from schemathesis.specs.openapi import checks

        self._url, self._headers, self._there = url, {"Authorization": f"Bearer {token}"}, there
        self._checks = [
            schemathesis.checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ]
        self.answers: dict[str, Counter[int]] = {}
        self._sent = 0

    def visit(self, operation: Any, mode: GenerationMode, most: int) -> None:
        """Send up to ``most`` cases of one operation."""
        answers = self.answers.setdefault(operation.label, Counter())

        def send(case: Any) -> None:
            self._sent += 1
            for name, value in self._there.items():
                if self._sent % 2 and name in (case.path_parameters or {}):
                    # Nobody guesses an id.
                    case.path_parameters[name] = value
            answer = case.call_and_validate(base_url=self._url, headers=self._headers, timeout=30, checks=self._checks)
            answers[answer.status_code] += 1

        given(case=operation.as_strategy(generation_mode=mode))(
            settings(
                examples(most),
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )(send)
        )()


def _visited(here: Served, document: dict[str, Any], token: str, there: dict[str, str]) -> Visitor:
    visitor = Visitor(here.url, token, there)
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = result.ok()
        for mode, most in MODES.items():
            if mode is GenerationMode.POSITIVE or operation.body or list(operation.iter_parameters()):
                visitor.visit(operation, mode, most)
    return visitor


async def test_no_request_breaks_the_contract_on_any_route(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key(Scope.ADMIN, per_minute=10_000)) as client:
        document = (await client.get("/openapi.json")).json()
        debate = await started(client, format="freeform")
        await ended(client, debate)
        here.key(Scope.READ)
        there = {"debate_id": debate, "key_id": here.service.keys.all()[-1].id}
        token = client.headers["Authorization"][7:]
        visitor = await asyncio.to_thread(_visited, here, document, token, there)
        listed = {
            f"{method.upper()} {path}" for path, row in document["paths"].items() for method in row if method != "head"
        }
        assert set(visitor.answers) == listed
        assert all(answers.total() > 0 for answers in visitor.answers.values())
        # Cases that are only ever refused, or only ever taken, would show little.
        whole = sum(visitor.answers.values(), Counter())
        assert whole[200] > 15, whole
        assert {404, 422} <= set(whole), whole
