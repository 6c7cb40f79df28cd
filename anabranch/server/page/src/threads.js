// The list of conversations, each of which can be renamed, exported and deleted.

import { useState } from "preact/hooks";

import { asMarkdown, load } from "./conversation.js";
import { html } from "./html.js";
import { json } from "./server.js";

export const titleOf = (thread) => thread.metadata?.title || "Untitled";

export function Threads({ threads, current, choose, begin, refresh, close }) {
  return html`<nav class="threads" aria-label="Conversations" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <button type="button" class="new" onClick=${begin}>New question</button>
    <ul>
      ${threads.map((each) => html`<${Entry} key=${each.thread_id} thread=${each} isCurrent=${each.thread_id === current} choose=${choose} begin=${begin} refresh=${refresh} />`)}
    </ul>
    ${!threads.length && html`<p class="faint">Your conversations will be listed here.</p>`}
  </nav>`;
}

function Entry({ thread, isCurrent, choose, begin, refresh }) {
  const [mode, setMode] = useState(null);
  const place = `/threads/${thread.thread_id}`;
  const title = titleOf(thread);
  const rename = async (event) => {
    event.preventDefault();
    const changed = new FormData(event.currentTarget).get("title").trim();
    if (changed) await json(place, { method: "PATCH", body: { metadata: { title: changed } } });
    setMode(null);
    refresh();
  };
  const remove = async () => {
    await json(place, { method: "DELETE" });
    if (isCurrent) begin();
    refresh();
  };
  const save = async () => {
    const url = URL.createObjectURL(new Blob([asMarkdown(title, await load(thread.thread_id))], { type: "text/markdown" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${title.replace(/[^\p{L}\p{N} _-]/gu, "").slice(0, 60) || "conversation"}.md`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    setMode(null);
  };
  if (mode === "rename") {
    return html`<li><form onSubmit=${rename} onKeyDown=${(event) => event.key === "Escape" && (event.stopPropagation(), setMode(null))}>
      <label class="hidden" for="title">Title of the conversation</label>
      <input id="title" name="title" value=${title} maxlength="200" ref=${(element) => element?.focus()} /> <button>Save</button>
    </form></li>`;
  }
  return html`<li class=${isCurrent ? "current" : ""}>
    <button type="button" class="title" aria-current=${isCurrent ? "true" : undefined} onClick=${() => choose(thread.thread_id)}>${title}</button>
    <button type="button" class="icon" aria-label=${`More about ${title}`} aria-expanded=${mode ? "true" : "false"} onClick=${() => setMode(mode ? null : "menu")}>⋯</button>
    ${mode === "menu" && html`<div class="menu" role="group" aria-label=${`What to do with ${title}`}>
      <button type="button" class="plain" onClick=${() => setMode("rename")}>Rename</button>
      <button type="button" class="plain" onClick=${save}>Export</button>
      <button type="button" class="plain danger" onClick=${() => setMode("delete")}>Delete</button>
    </div>`}
    ${mode === "delete" && html`<div class="menu" role="group" aria-label="Delete the conversation for good?">
      <button type="button" class="plain danger" onClick=${remove}>Delete for good</button>
      <button type="button" class="plain" onClick=${() => setMode(null)}>Keep</button>
    </div>`}
  </li>`;
}
