// The list of conversations, each of which can be renamed, exported and deleted.

import { useEffect, useRef, useState } from "preact/hooks";

import { asJson, asMarkdown, load } from "./conversation.js";
import { html } from "./html.js";
import { json } from "./server.js";

export const titleOf = (thread) => thread.metadata?.title || "Untitled";

const MANY = 10;

export function Threads({ threads, hasMore, more, current, choose, begin, refresh }) {
  const [sought, setSought] = useState("");
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const found = threads.filter((each) => words.every((word) => titleOf(each).toLowerCase().includes(word)));
  return html`<nav class="threads" aria-label="Conversations">
    <button id="new" type="button" class="new" onClick=${begin}>New question</button>
    ${threads.length > MANY && html`<input class="search" type="search" dir="auto" aria-label="Find a conversation" placeholder="Find a conversation" value=${sought} onInput=${(event) => setSought(event.currentTarget.value)} />`}
    <ul>
      ${found.map((each) => html`<${Entry} key=${each.thread_id} thread=${each} isCurrent=${each.thread_id === current} choose=${choose} begin=${begin} refresh=${refresh} />`)}
    </ul>
    ${!threads.length && html`<p class="faint">Your conversations will be listed here.</p>`}
    ${threads.length > 0 && !found.length && html`<p class="faint" role="status">None of the ${threads.length} has these words in its title.</p>`}
    ${hasMore && html`<button type="button" class="plain" onClick=${more}>Older conversations</button>`}
  </nav>`;
}

function Entry({ thread, isCurrent, choose, begin, refresh }) {
  const [mode, setMode] = useState(null);
  const more = useRef();
  const keep = useRef();
  const before = useRef(null);
  // What was pressed is gone with what it opened or closed.
  useEffect(() => {
    if (mode === "delete") keep.current.focus();
    else if (!mode && before.current) more.current.focus();
    before.current = mode;
  }, [mode]);
  const escape = (event) => event.key === "Escape" && mode && (event.preventDefault(), setMode(null));
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
    document.getElementById("new").focus();
  };
  const save = async (ending) => {
    const turns = await load(thread.thread_id);
    const text = ending === "md" ? asMarkdown(title, turns) : asJson(title, thread.thread_id, turns);
    const url = URL.createObjectURL(new Blob([text], { type: ending === "md" ? "text/markdown" : "application/json" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${title.replace(/[^\p{L}\p{N} _-]/gu, "").slice(0, 60) || "conversation"}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    setMode(null);
  };
  if (mode === "rename") {
    return html`<li><form onSubmit=${rename} onKeyDown=${escape}>
      <label class="hidden" for="title">Title of the conversation</label>
      <input id="title" name="title" value=${title} maxlength="200" ref=${(element) => element?.focus()} /> <button>Save</button>
    </form></li>`;
  }
  return html`<li class=${isCurrent ? "current" : ""} onKeyDown=${escape}>
    <button type="button" class="title" aria-current=${isCurrent ? "true" : undefined} dir="auto" onClick=${() => choose(thread.thread_id)}><span>${title}</span></button>
    <button ref=${more} type="button" class="icon" aria-label=${`More about ${title}`} aria-expanded=${mode ? "true" : "false"} onClick=${() => setMode(mode ? null : "menu")}>⋯</button>
    ${mode === "menu" && html`<div class="menu" role="group" aria-label=${`What to do with ${title}`}>
      <button type="button" class="plain" onClick=${() => setMode("rename")}>Rename</button>
      <button type="button" class="plain" onClick=${() => save("md")}>Export as Markdown</button>
      <button type="button" class="plain" onClick=${() => save("json")}>Export as JSON</button>
      <button type="button" class="plain danger" onClick=${() => setMode("delete")}>Delete</button>
    </div>`}
    ${mode === "delete" && html`<div class="menu" role="group" aria-label="Delete the conversation for good?">
      <button type="button" class="plain danger" onClick=${remove}>Delete for good</button>
      <button ref=${keep} type="button" class="plain" onClick=${() => setMode(null)}>Keep</button>
    </div>`}
  </li>`;
}
