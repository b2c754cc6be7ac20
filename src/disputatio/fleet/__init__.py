"""Debates that somebody else asked for: kept as orders, held here or by any worker, and never lost on the way."""

from disputatio.fleet.port import Holder, Job, JobState, Raised

__all__ = ["Holder", "Job", "JobState", "Raised"]
