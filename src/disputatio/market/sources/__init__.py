"""Market data sources and the knowledge bases built from them. Pure modules do not import this package.

numpy is imported where it is first needed, so that reading a file does not need it.
"""
