"""Debates that somebody else asked for: kept as orders, held here or by any worker, and never lost on the way."""

from disputatio.workers.port import Job, JobState, NewCeilings, Runner

__all__ = ["Job", "JobState", "NewCeilings", "Runner"]
