"""What the surfaces need to know about each kind of turn."""
