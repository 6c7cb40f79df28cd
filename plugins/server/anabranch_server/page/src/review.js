// A run that waits for a person: what to search for, or which passages to answer from.

import { useState } from "preact/hooks";

import { html } from "./html.js";

export function Review({ pause, busy, resume, open }) {
  if (pause.review === "queries") return html`<${Queries} pause=${pause} busy=${busy} resume=${resume} />`;
  if (pause.review === "sources") return html`<${Sources} pause=${pause} busy=${busy} resume=${resume} open=${open} />`;
  return html`<p class="note">This run waits for a person, in a way that this page does not know; go on with it in the program that began it.</p>`;
}

function Queries({ pause, busy, resume }) {
  const [texts, setTexts] = useState(pause.queries);
  const change = (at, text) => setTexts(texts.map((each, other) => (other === at ? text : each)));
  const wanted = texts.map((each) => each.trim()).filter(Boolean);
  const submit = (event) => {
    event.preventDefault();
    if (wanted.length && !busy) resume(wanted);
  };
  return html`<form class="review" aria-label="What to search for" onSubmit=${submit}>
    <h3>This will be searched for. Change it, or go on.</h3>
    ${pause.problem && html`<p role="alert">${pause.problem}</p>`}
    ${pause.inferred_filter && html`<p class="note">Only documents of: <bdi>${pause.inferred_filter}</bdi></p>`}
    <ol>
      ${texts.map(
        (text, at) => html`<li key=${at}>
          <input aria-label=${`Query ${at + 1}`} dir="auto" value=${text} maxlength="10000" onInput=${(event) => change(at, event.currentTarget.value)} />
          <button type="button" class="icon" aria-label=${`Leave out query ${at + 1}`} disabled=${texts.length < 2} onClick=${() => setTexts(texts.filter((_, other) => other !== at))}>✕</button>
        </li>`,
      )}
    </ol>
    <button disabled=${busy || !wanted.length}>Search</button>
    <button type="button" class="plain" onClick=${() => setTexts([...texts, ""])}>Add a query</button>
  </form>`;
}

function Sources({ pause, busy, resume, open }) {
  const [left, setLeft] = useState([]);
  const wanted = pause.passages.map((each) => each.id).filter((each) => !left.includes(each));
  const choose = (id, isKept) => setLeft(isKept ? left.filter((each) => each !== id) : [...left, id]);
  const submit = (event) => {
    event.preventDefault();
    if (wanted.length && !busy) resume(wanted);
  };
  return html`<form class="review" aria-label="Which passages to answer from" onSubmit=${submit}>
    <h3>The answer will be written from these. Leave out what should not count, or go on.</h3>
    ${pause.problem && html`<p role="alert">${pause.problem}</p>`}
    <ul class="passages">
      ${pause.passages.map(
        (each) => html`<li key=${each.id}>
          <label><input type="checkbox" checked=${!left.includes(each.id)} onChange=${(event) => choose(each.id, event.currentTarget.checked)} />
            <span><strong>${each.source}${each.page ? `, page ${each.page}` : ""}</strong> <span dir="auto">${each.preview}…</span></span></label>
          <button type="button" class="plain" aria-label=${`Show the passage of ${each.source}`} onClick=${(event) => open({ ...each, chunk_id: each.id, title: "" }, event.currentTarget)}>Show</button>
        </li>`,
      )}
    </ul>
    <button disabled=${busy || !wanted.length}>Answer from ${wanted.length === 1 ? "this passage" : `these ${wanted.length}`}</button>
  </form>`;
}
