"""The request for a debate: one model, from which every surface derives."""
