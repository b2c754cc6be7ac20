"""Every mishap of the fake provider, as the gateway tells it, in one piece and streamed."""

from __future__ import annotations

import pytest
from remote_server import a_call, opened

from disputatio.participants.call import Fault, FaultKind, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.testing.provider import FakeProvider, Mishap, MishapFamily, Mishaps

pytestmark = pytest.mark.usefixtures("warm_libraries")

K = FaultKind
TOLD = {
    Mishap.HTTP_400: K.BAD_REQUEST,
    Mishap.HTTP_401: K.KEY_REJECTED,
    Mishap.HTTP_402: K.QUOTA_EXHAUSTED,
    Mishap.HTTP_403: K.KEY_REJECTED,
    Mishap.HTTP_404: K.NO_SUCH_MODEL,
    Mishap.HTTP_408: K.TIMED_OUT,
    Mishap.HTTP_429: K.RATE_LIMITED,
    Mishap.HTTP_429_WITHOUT_WAIT: K.RATE_LIMITED,
    Mishap.HTTP_500: K.SERVER_ERROR,
    Mishap.HTTP_502: K.SERVER_ERROR,
    Mishap.HTTP_503: K.SERVER_ERROR,
    Mishap.HTTP_529: K.SERVER_ERROR,
    Mishap.QUOTA_EXHAUSTED: K.QUOTA_EXHAUSTED,
    Mishap.CONTEXT_TOO_LONG: K.CONTEXT_TOO_LONG,
    Mishap.SCHEMA_REJECTED: K.SCHEMA_UNSUPPORTED,
    Mishap.MODE_UNSUPPORTED: K.SCHEMA_UNSUPPORTED,
    Mishap.HANG: K.TIMED_OUT,
    Mishap.STALLED_STREAM: K.TIMED_OUT,
    Mishap.CONNECTION_RESET: K.CUT_OFF,
    Mishap.CONNECTION_CLOSED: K.CUT_OFF,
    Mishap.TRUNCATED_BODY: K.CUT_OFF,
    Mishap.CUT_STREAM: K.CUT_OFF,
    Mishap.REFUSAL: K.REFUSED,
    Mishap.CONTENT_FILTER: K.REFUSED,
}
WAITED_FOR = {Mishap.HANG, Mishap.STALLED_STREAM}


async def outcome(mishap: Mishap, *, streamed: bool) -> Reply | Fault:
    async with FakeProvider(mishaps=Mishaps().always(mishap), drip_s=0) as provider:
        timeout_s = 0.1 if mishap in WAITED_FOR else 30
        seating = ModelSeating(provider="openai_compatible", model="m", base_url=provider.base_url, timeout_s=timeout_s)
        async with opened(seating) as model_client:
            return await model_client.call(a_call(), on_text=(lambda _: None) if streamed else None)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mishap", list(TOLD))
async def test_a_mishap_with_a_clear_cause_is_told_by_it(mishap: Mishap, streamed: bool) -> None:
    fault = await outcome(mishap, streamed=streamed)
    assert isinstance(fault, Fault), fault
    assert fault.kind is TOLD[mishap], fault.message


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mishap", [mishap for mishap in Mishap if mishap not in TOLD])
async def test_any_other_mishap_is_worth_a_try_or_an_answer(mishap: Mishap, streamed: bool) -> None:
    """A broken envelope is a fault that another try may cure; a proper completion is a reply, good or bad."""
    result = await outcome(mishap, streamed=streamed)
    if isinstance(result, Fault):
        assert result.kind in {K.GARBLED, K.CUT_OFF, K.SERVER_ERROR}
        assert mishap.family is MishapFamily.ENVELOPE
    else:
        assert result.text.strip()
