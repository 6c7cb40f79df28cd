// One question with its answer, what was found for it, and what can be done with it.

import { useEffect, useRef, useState } from "preact/hooks";

import { Answer, Claims } from "./answer.js";
import { Choice, chosenOf } from "./choice.js";
import { firstOfEach, turnAsMarkdown, where } from "./conversation.js";
import { Feedback } from "./feedback.js";
import { html } from "./html.js";
import { Review } from "./review.js";
import { Passages, River, STEPS } from "./river.js";
import { json } from "./server.js";
import { Questions } from "./welcome.js";

const NOTHING = {};
const NONE = [];

export function Turn({ turn, thread, busy, last, open, shown, chooses, narrows, ask, resume, stop, fork, choose, chooseModel }) {
  const [editing, setEditing] = useState(false);
  const [river, setRiver] = useState(false);
  const edit = useRef();
  const cancel = () => {
    setEditing(false);
    requestAnimationFrame(() => edit.current?.focus());
  };
  const values = turn.values ?? NOTHING;
  const { citations = [], unconfirmed = [], verification = {}, status, route } = values;
  // A step of each round may say the same.
  const degraded = [...new Map((values.degraded ?? []).map((each) => [`${each.step} ${each.reason}`, each])).values()];
  // Passages that are shown whole claim nothing, and their first line says what they are.
  const kind = route?.name === "compose" && status === "answered" ? "passages" : status;
  const text = turn.live ? turn.text : (values.answer ?? "");
  const question = turn.question ?? values.original_question ?? "";
  const at = turn.versions?.indexOf(turn.run) ?? -1;
  // Asked again, it is asked of the same documents.
  const filters = values.turn?.filters;
  const again = (changed, more) => ask(changed, { base: turn.base, filters, ...more });
  const quick = values.trace?.some((each) => each.node === "begin" && each.counts.effort === "quick");

  return html`<article class="turn">
    ${editing
      ? html`<${Edit} question=${question} cancel=${cancel} save=${(changed) => {
          setEditing(false);
          again(changed);
        }} />`
      : html`<h2 dir="auto">${question}</h2>`}
    ${turn.versions?.length > 1 &&
    html`<p class="versions">
      <button type="button" class="icon" aria-label="Earlier version" disabled=${at <= 0 || busy} onClick=${() => choose(turn.versions[at - 1])}>‹</button>
      Version ${at + 1} of ${turn.versions.length}
      <button type="button" class="icon" aria-label="Later version" disabled=${at >= turn.versions.length - 1 || busy} onClick=${() => choose(turn.versions[at + 1])}>›</button>
    </p>`}
    <${Choice} chosen=${chosenOf(filters)} />
    <${Answer} text=${text} kind=${turn.live ? undefined : kind} citations=${turn.live ? NONE : citations} unconfirmed=${turn.live ? NONE : unconfirmed}
      busy=${Boolean(turn.live)} open=${open} shown=${shown}
      after=${!turn.live && kind === "passages" && chooseModel && html`<p><button type="button" class="plain" onClick=${chooseModel}>Set a chat model</button> to have answers written.</p>`} />
    ${turn.live && html`<${Progress} turn=${turn} stop=${stop} />`}
    ${turn.live && turn.found && html`<div class="meanwhile"><${Answer} text=${turn.found} kind="passages" citations=${NONE} unconfirmed=${NONE} /></div>`}
    ${turn.error && html`<p role="alert" class="error">${turn.error}</p>`}
    ${!turn.live && turn.unfinished && !turn.pause && html`<p class="note">This was stopped before the answer was complete.</p>`}
    ${turn.pause && (resume ? html`<${Review} key=${turn.ended} pause=${turn.pause} busy=${busy} resume=${resume} open=${open} />` : html`<p class="note">This version waited for a person. Ask it again to go on.</p>`)}
    ${!turn.live && status && status !== "answered" && values.passages?.length > 0 && html`<details class="nearest"><summary>The nearest passages, to be opened</summary>
      <${Passages} values=${values} open=${open} ranks=${false} most=${5} /></details>`}
    ${!turn.live && kind !== "passages" && html`<${Claims} citations=${citations} verification=${verification} unconfirmed=${unconfirmed} open=${open} />`}
    ${!turn.live && values.inferred_filter && html`<p class="note">Searched only: <bdi>${values.inferred_filter}</bdi>
      ${narrows && html`${" "}<button type="button" class="plain" disabled=${busy} onClick=${() => again(question, { context: { infer_filter: false } })}>Search all documents</button>`}</p>`}
    ${!turn.live && degraded.length > 0 && html`<ul class="degraded">${degraded.map((each) => html`<li><strong>${each.step}</strong> could not do its best: ${each.reason}</li>`)}</ul>`}
    ${!turn.live && html`<div class="actions">
      ${turn.values && html`<button type="button" class="plain" aria-expanded=${river ? "true" : "false"} onClick=${() => setRiver(!river)}>How it was found</button>`}
      <button type="button" class="plain" disabled=${busy} onClick=${() => again(question)}>Retry</button>
      ${quick && chooses && html`<button type="button" class="plain" disabled=${busy} onClick=${() => again(question, { context: { effort: "normal" } })}>Look further</button>`}
      ${turn.base !== undefined && html`
        <button ref=${edit} type="button" class="plain" disabled=${busy} onClick=${() => setEditing(true)}>Edit</button>`}
      ${values.answer && html`<${Copy} values=${values} />`}
      ${turn.checkpoint && !last && html`<button type="button" class="plain" disabled=${busy} onClick=${() => fork(turn)}>Go on from here</button>`}
      ${turn.run && !turn.unfinished && html`<${Feedback} key=${turn.run} thread=${thread} turn=${turn} />`}
    </div>`}
    ${river && !turn.live && html`<${River} values=${values} open=${open} />`}
    ${last && !turn.live && citations.length > 0 && html`<${Further} key=${turn.run} citations=${citations} ask=${ask} />`}
    ${!turn.live && citations.length > 0 && html`<ol class="printed">
      ${firstOfEach(citations).map((each) => html`<li value=${each.marker}>${where(each)}${kind !== "passages" && html`<blockquote dir="auto">${each.quote}</blockquote>`}</li>`)}
    </ol>`}
  </article>`;
}

const FURTHER = 3;

// Questions from the headings around what is cited, one document after the other.
function Further({ citations, ask }) {
  const [headings, setHeadings] = useState(NONE);
  useEffect(() => {
    const ends = new AbortController();
    const cited = [...new Map(citations.map((each) => [each.source, each.chunk_id]).reverse()).values()].reverse().slice(0, FURTHER);
    // A passage may come from another retriever, or be gone: then there is nothing to suggest.
    const near = (id) => json(`/passages/${encodeURIComponent(id)}/headings`, { signal: ends.signal }).catch(() => NONE);
    Promise.all(cited.map(near)).then((found) => {
      const known = citations.map((each) => each.heading.split(" > ").at(-1));
      const ranked = [...Array(FURTHER).keys()].flatMap((at) => found.map((each) => each[at]).filter((each) => each && !known.includes(each)));
      if (!ends.signal.aborted) setHeadings([...new Set(ranked)].slice(0, FURTHER));
    });
    return () => ends.abort();
  }, []);
  return html`<${Questions} headings=${headings} ask=${ask} />`;
}

function Copy({ values }) {
  const [told, setTold] = useState("");
  const copy = async () => {
    const text = turnAsMarkdown(values);
    try {
      await navigator.clipboard.writeText(text);
      setTold("Copied");
    } catch {
      // Browsers give it only to pages of this machine and of https.
      setTold("The browser does not let this page copy: export the conversation instead");
    }
  };
  return html`<button type="button" class="plain" onClick=${copy}>Copy</button><span role="status" class="faint">${told}</span>`;
}

export const doing = (turn) => (turn.lost ? "connecting again" : (STEPS[turn.step] ?? turn.step ?? "waiting"));

function Progress({ turn, stop }) {
  const step = doing(turn);
  return html`<p class="progress">
    <span class="dot" aria-hidden="true"></span>
    <span>${step}</span>
    <button type="button" onClick=${stop}>Stop</button>
  </p>`;
}

function Edit({ question, save, cancel }) {
  const submit = (event) => {
    event.preventDefault();
    const changed = new FormData(event.currentTarget).get("question").trim();
    if (changed) save(changed);
  };
  return html`<form class="edit" onSubmit=${submit} onKeyDown=${(event) => event.key === "Escape" && (event.preventDefault(), cancel())}>
    <label class="hidden" for="edited">Edit the question</label>
    <textarea id="edited" dir="auto" name="question" rows="3" required ref=${(element) => element?.focus()}>${question}</textarea>
    <button>Ask again</button> <button type="button" class="plain" onClick=${cancel}>Cancel</button>
  </form>`;
}
