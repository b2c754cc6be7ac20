"""Structured debate with rules kept by code."""
