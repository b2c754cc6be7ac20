"""Migrations of the store, run by Alembic when an older store is opened."""
