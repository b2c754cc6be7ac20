"""Walks through a running service, made by schemathesis: each request takes what the answer before it brought."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
import schemathesis
from attack_table import Attack
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from served import Served, served

from disputatio._service.keys import Scope

pytestmark = pytest.mark.slow
WALKS, STEPS = 12, 8


def walk(here: Served, document: dict[str, Any], token: str, answers: Counter[tuple[str, int]]) -> None:
    """Make the walks; a failure of the server ends them."""

    class Walk(schemathesis.openapi.from_dict(document).as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": {"Authorization": f"Bearer {token}"}, "base_url": here.url, "timeout": 30}

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            answers[case.operation.label, response.status_code] += 1
            case.validate_response(response, checks=[not_a_server_error])

    Walk.run(
        settings=settings(
            max_examples=WALKS,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
    )


async def test_no_walk_ends_in_a_failure_of_the_server(tmp_path, attack: Attack) -> None:
    async with served(tmp_path, keyless=False) as here, here.client(here.key(Scope.ADMIN, per_minute=10_000)) as client:
        document = (await client.get("/openapi.json")).json()
        answers: Counter[tuple[str, int]] = Counter()
        await asyncio.to_thread(walk, here, document, client.headers["Authorization"][7:], answers)
        for (label, status), count in sorted(answers.items()):
            for _ in range(count):
                attack.check(status < 500, (label, status))
        attack.figure("operations walked through", len({label for label, _ in answers}))
        # Walks that are only ever refused would show little.
        assert sum(count for (_, status), count in answers.items() if status < 300) >= 5, answers
        assert (await client.get("/ready")).status_code == 200
