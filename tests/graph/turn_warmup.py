"""What a turn loads, loaded on import: the fork server of the kill-and-resume test does it once for all its children.

Nothing here may start a thread, which a fork would lose.
"""

from __future__ import annotations

import anyio
from langchain.chat_models import init_chat_model
from openai.types.chat import ChatCompletion, ParsedChatCompletion

from anabranch.agent.graph.answer import build
from anabranch.models.embedders import load_embedder
from anabranch.models.onnx_embedder import OnnxEmbedder
from tests.graph import turn

__all__ = ["turn"]

anyio.run(anyio.sleep, 0)  # imports what it runs on
build().compile()
init_chat_model("openai:stub", api_key="none")
for shape in (ChatCompletion, ParsedChatCompletion):
    shape.model_rebuild()
embedder = load_embedder("minilm")
assert isinstance(embedder, OnnxEmbedder)
assert embedder.dimension == 384  # asking for it loads the model
