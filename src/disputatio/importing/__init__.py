"""Import transcripts of debates that took place elsewhere, as records that verify."""
