"""What is open to probes, and the metrics for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import Health, Ready
from disputatio._service.keys import OWN_TENANT, Caller, Scope
from disputatio._service.problems import RefusedError, responses, retry_after
from disputatio._service.service import READY_S
from disputatio._version import VERSION
from disputatio.workers import JobState

router = APIRouter(tags=["operation"])


@router.get("/health", response_model=Health)
async def health() -> Health:
    """Say that the process lives."""
    return Health(status="ok", version=VERSION)


@router.get("/ready", response_model=Ready, responses={503: responses()[503]})
async def ready(request: Request) -> Ready:
    """Say whether keys are checked, the store answers and debates are taken; 503 where not, and while it goes down."""
    service = service_of(request)
    if service.draining.is_set():
        raise RefusedError(503, "store", "The server is going down.", "Ask another one.")
    try:
        jobs = await service.answers()
    except TimeoutError:
        raise RefusedError(
            503,
            "busy",
            f"The server does not check keys and read its store within {READY_S:g} s.",
            "Use another server meanwhile.",
            retry_after(READY_S),
        ) from None
    running = sum(job.state is JobState.RUNNING for job in jobs)
    return Ready(status="ready", running=running, waiting=len(jobs) - running)


@router.get(
    "/metrics",
    response_class=Response,
    responses=responses(
        good={200: {"description": "Prometheus text.", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    ),
)
async def prometheus(
    request: Request,
    caller: Annotated[Caller, Depends(Needs(Scope.ADMIN))],
) -> Response:
    """Metrics of the whole server for Prometheus, for the operator's tenant."""
    if caller.tenant != OWN_TENANT:
        raise RefusedError(
            403,
            "forbidden",
            f"These figures are of all tenants together, and only keys of the tenant {OWN_TENANT} read them.",
            "GET /v1/metrics counts the debates of your tenant.",
        )
    service = service_of(request)
    text = await asyncio.to_thread(service.metrics.text)
    return Response(text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
