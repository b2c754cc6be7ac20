"""Whatever is sent, the server answers as its OpenAPI document says, and never with a failure of its own."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks
from served import ended, served, started

from disputatio._service.keys import Scope
from strategies import examples

pytestmark = pytest.mark.slow


def _held(url: str, document: dict, debate: str, token: str) -> Counter[int]:
    """Sends cases of every operation; returns how often each status was the answer."""
    schema = schemathesis.openapi.from_dict(document)
    load_all_checks()
    from schemathesis.specs.openapi import checks

    count, answers = 0, Counter()
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith("/events"):
            continue  # a stream has tests of its own

        def check(case) -> None:
            nonlocal count
            count += 1
            if count % 2 and "debate_id" in (case.path_parameters or {}):
                # Nobody guesses an id; half of the cases are about a debate that is there.
                case.path_parameters["debate_id"] = debate
            answer = case.call_and_validate(
                base_url=url,
                headers={"Authorization": f"Bearer {token}"},
                timeout=30,
                checks=[
                    schemathesis.checks.not_a_server_error,
                    checks.status_code_conformance,
                    checks.content_type_conformance,
                    checks.response_schema_conformance,
                ],
            )
            answers[answer.status_code] += 1

        given(case=operation.as_strategy())(
            settings(
                examples(5),
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )(check)
        )()
    return answers


async def test_no_request_breaks_the_contract(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key(Scope.ADMIN, per_minute=10_000)) as client:
        document = (await client.get("/openapi.json")).json()
        debate = await started(client)
        await ended(client, debate)
        answers = await asyncio.to_thread(_held, here.url, document, debate, client.headers["Authorization"][7:])
        assert sum(answers.values()) > 100
        # Cases that are only ever refused would show little.
        assert answers[200] > 15, answers
        assert {404, 422} <= set(answers), answers
