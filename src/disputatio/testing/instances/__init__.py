"""Valid instances of a JSON Schema, made from a text."""

from disputatio.testing.instances.maker import Maker, instance, lengthen, maker_of, schema_text
from disputatio.testing.instances.phrases import mix, prose, seed_from

__all__ = ["Maker", "instance", "lengthen", "maker_of", "mix", "prose", "schema_text", "seed_from"]
