"""Search in twelve languages, on XQuAD."""
