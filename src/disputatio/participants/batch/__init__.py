"""Batch interfaces of providers: calls of many debates go out together and cost half; answers may take a day."""
