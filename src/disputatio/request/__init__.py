"""What a debate is asked for with: one model, and every surface derives from it."""
