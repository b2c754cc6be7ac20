"""Questions whose right answers are known: one's own files, and golden sets."""
