"""Answers from given passages by a small model: ours beside a plain prompt, LlamaIndex's and LangChain's."""
