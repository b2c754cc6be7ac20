"""The typed turns of debaters and judges, and the spec of each."""
