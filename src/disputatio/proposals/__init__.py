"""The debate that a request proposes, whichever surface it came from."""

from disputatio.proposals.remote import check_stored, proposal_of, read_request, request_of, stored_source

__all__ = ["check_stored", "proposal_of", "read_request", "request_of", "stored_source"]
