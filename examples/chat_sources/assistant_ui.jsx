// The same for assistant-ui: put <AnswerSources /> behind the text of your AssistantMessage.

import { useAuiState } from "@assistant-ui/react";
import { useLangGraphState } from "@assistant-ui/react-langgraph";

import { Sources } from "./sources.jsx";

/** assistant-ui keeps the text of a message alone, so its sources are read from the state of the graph. */
export function AnswerSources() {
  const id = useAuiState(({ message }) => message.id);
  const state = useLangGraphState();
  return <Sources message={state?.messages?.find((message) => message.id === id)} />;
}
