"""Transcripts of debates that were held elsewhere: read, and taken into a store as records that verify."""
