"""A debate as somebody far away asks for it: what may stand in an order, and the debate that it proposes."""

from disputatio.orders.form import EvidenceGiven, Order
from disputatio.orders.reading import proposal_of, read_order

__all__ = ["EvidenceGiven", "Order", "proposal_of", "read_order"]
