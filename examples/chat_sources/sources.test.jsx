// Renders the components with the message of a real answer, which tests/examples/test_chat_sources.py hands over in MESSAGE.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { useLangGraphRuntime } from "@assistant-ui/react-langgraph";
import { createRoot } from "react-dom/client";
import { renderToStaticMarkup } from "react-dom/server";

import { AnswerSources } from "./assistant_ui.jsx";
import { Sources } from "./sources.jsx";

const message = JSON.parse(readFileSync(process.env.MESSAGE, "utf8"));
const [source] = message.response_metadata.sources;

test("the sources of a message are listed, with the place and the words", () => {
  const html = renderToStaticMarkup(<Sources message={message} />);
  for (const part of [`[${source.marker}]`, source.source, ...source.heading.split(" > ")]) assert.ok(html.includes(part));
  assert.ok(html.includes(source.quote));
  assert.ok(html.includes(source.grade));
});

test("what is no answer has no sources", () => {
  assert.equal(renderToStaticMarkup(<Sources message={{ type: "human", content: "Who?" }} />), "");
  assert.equal(renderToStaticMarkup(<Sources />), "");
});

test("what a document says is text, whatever it says", () => {
  const hostile = { ...source, quote: "<img src=x onerror=alert(1)>" };
  const html = renderToStaticMarkup(<Sources message={{ response_metadata: { sources: [hostile] } }} />);
  assert.ok(!html.includes("<img"));
});

test("assistant-ui shows them below the answer", async () => {
  let runtime;
  async function* stream(asked) {
    yield { event: "values", data: { messages: [...asked, message] } };
  }
  const Answer = () => (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts />
      <AnswerSources />
    </MessagePrimitive.Root>
  );
  const App = () => {
    runtime = useLangGraphRuntime({ stream, create: async () => ({ externalId: "t" }) });
    return (
      <AssistantRuntimeProvider runtime={runtime}>
        <ThreadPrimitive.Messages components={{ UserMessage: () => null, AssistantMessage: Answer }} />
      </AssistantRuntimeProvider>
    );
  };
  const place = window.document.querySelector("main");
  const root = createRoot(place);
  root.render(<App />);
  await until(() => runtime);
  runtime.thread.append("Who built the Halden weir?");
  await until(() => place.querySelector("blockquote"));
  assert.equal(place.querySelector("blockquote").textContent, source.quote);
  assert.ok(place.textContent.includes(message.content[0].text.split("\n")[0]));
  root.unmount();
});

async function until(happened) {
  for (let tries = 0; tries < 2000 && !happened(); tries++) await new Promise((next) => setTimeout(next, 5));
  assert.ok(happened());
}
