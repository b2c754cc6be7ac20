"""Money, tokens and calls: reserved before a call is sent, settled when it returns, never above a ceiling."""
