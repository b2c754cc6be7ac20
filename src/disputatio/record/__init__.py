"""The product: an append-only, hash-chained history of one debate, and everything read from it."""
