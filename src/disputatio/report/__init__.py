"""What people read of a debate: one read model, folded from its record, and the surfaces made from it."""
