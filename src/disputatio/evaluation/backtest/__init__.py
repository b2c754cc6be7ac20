"""A backtest: its plan, its labels, its benchmarks, the debates it holds, and what they come to.

Nothing that argues or that builds a knowledge base may import anything from here: labels are outcomes.
"""
