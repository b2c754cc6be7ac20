"""Present the results of each format as blocks that every surface renders."""
