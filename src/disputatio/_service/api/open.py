"""What is open to probes, and the metrics for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import Health, Ready
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import RefusedError, responses
from disputatio._version import VERSION
from disputatio.fleet import JobState

router = APIRouter(tags=["operation"])


@router.get("/health", response_model=Health)
async def health() -> Health:
    """Say that the process lives."""
    return Health(status="ok", version=VERSION)


@router.get("/ready", response_model=Ready, responses={503: responses()[503]})
async def ready(request: Request) -> Ready:
    """Say whether the store answers and debates are taken; 503 while the server goes down."""
    service = service_of(request)
    if service.draining.is_set():
        raise RefusedError(503, "store", "The server is going down.", "Ask another one.")
    jobs = await service.holder.jobs(unfinished=True)
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
    caller: Annotated[Caller, Depends(Needs(Scope.ADMIN))],  # noqa: ARG001  (its being there is checked)
) -> Response:
    """Metrics of the whole server for Prometheus."""
    service = service_of(request)
    text = await asyncio.to_thread(service.exposition)
    return Response(text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
