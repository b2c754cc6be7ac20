"""The typed turns that debaters and judges take, and the form each is asked for in."""
