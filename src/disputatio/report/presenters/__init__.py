"""What each format says of its own result, as blocks that every surface renders."""
