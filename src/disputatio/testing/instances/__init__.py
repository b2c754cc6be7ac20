"""Valid instances of a JSON Schema, made from a text."""

from disputatio.testing.instances.lengths import at_realistic_lengths
from disputatio.testing.instances.making import Maker, instance, maker_of, schema_text
from disputatio.testing.instances.phrases import prose
from disputatio.testing.instances.seeds import mixed, seed_of

__all__ = ["Maker", "at_realistic_lengths", "instance", "maker_of", "mixed", "prose", "schema_text", "seed_of"]
