"""What an answer costs, beside LlamaIndex, LangChain, Haystack and a hand-written program, on the same model server."""
