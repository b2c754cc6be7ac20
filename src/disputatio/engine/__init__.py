"""The only place with a clock, a network, retries and money: runs one debate and writes its record."""
