"""A backtest: its plan, labels, benchmarks, debates and scores.

Nothing that argues or builds a knowledge base may import anything from here, since labels are outcomes.
"""
