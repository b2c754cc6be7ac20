"""Sources, the passages in them, and the check of every citation by code."""
