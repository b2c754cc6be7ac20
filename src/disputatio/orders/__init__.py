"""A debate as somebody far away asks for it: what may stand in an order, and the debate that it proposes."""

from disputatio.orders.form import EvidenceGiven, Order
from disputatio.orders.reading import check_kept, kept_source, proposal_of, read_order

__all__ = ["EvidenceGiven", "Order", "check_kept", "kept_source", "proposal_of", "read_order"]
