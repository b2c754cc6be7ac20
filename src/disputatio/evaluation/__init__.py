"""How good a judge is, measured: on texts that others labelled, and on debates with flaws planted in them."""
