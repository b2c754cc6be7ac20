"""Measures judges, critics and debates: labelled texts, injected flaws, questions with known answers, backtests."""
