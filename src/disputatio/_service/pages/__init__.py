"""The web page: rendered here, read without scripts, followed live with one."""
