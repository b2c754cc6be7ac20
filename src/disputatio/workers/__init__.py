"""Debates that other callers request: stored as jobs, run here or by any worker, and never lost on the way."""

from disputatio.workers.port import Job, JobState, NewCeilings, Runner

__all__ = ["Job", "JobState", "NewCeilings", "Runner"]
