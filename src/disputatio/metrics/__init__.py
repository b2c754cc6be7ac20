"""Measures of one record, figures over many, and alerts on thresholds."""
