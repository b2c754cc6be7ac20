"""The debate that a request proposes, whichever surface it came from."""

from disputatio.proposals.remote import check_kept, kept_source, proposal_of, read_request, request_of

__all__ = ["check_kept", "kept_source", "proposal_of", "read_request", "request_of"]
