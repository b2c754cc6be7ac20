"""Money, tokens and calls: reserved before a call leaves, settled when it comes back, never past a ceiling."""
