PYTHON ?= python3
lock-prompts:
	.venv/bin/python -m disputatio.prompts.lock
