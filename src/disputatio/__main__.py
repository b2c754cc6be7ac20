"""``python -m disputatio``: the same as the command ``disputatio``."""

from disputatio._cli.main import main

if __name__ == "__main__":
    main()
