"""Where market data come from, and the knowledge bases built from them. Nothing pure imports this package.

What needs numpy is imported where it is first called, so that reading a file needs none.
"""
