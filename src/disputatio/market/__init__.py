"""The market as it was known at one moment, what each lens sees of it, and the check of evidence against it.

All of this is pure. Where the data come from, and files, are in ``disputatio.market.sources``.
"""
