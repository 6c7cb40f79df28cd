// What stands there before the first question: what may be asked about, who writes, and questions to begin with.

import { html } from "./html.js";
import { NoDocuments } from "./documents.js";

// A heading in its own words, whatever its language.
export const questionOf = (heading) => `What does “${heading}” say?`;

const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export function Welcome({ options, none, overview, model, ask, addDocuments, chooseModel }) {
  if (none !== null) {
    return html`<div class="welcome">
      <${NoDocuments} options=${options} told=${none} />
      ${options.may_ingest && html`<button type="button" onClick=${addDocuments}>Add documents</button>`}
    </div>`;
  }
  const { documents, passages, more, headings = [] } = overview ?? {};
  return html`<div class="welcome">
    <p>Ask something about your documents. Every statement of the answer is held against them, and a click on its number shows the place.</p>
    ${overview && html`<p>
      ${documents > 0 && `${more ? "More than " : ""}${counted(documents, "document")}, ${counted(passages, "passage")}. `}
      ${model ? html`Answers are written by <bdi>${model}</bdi>.` : html`No chat model is set: you will see the passages that match best. `}
      ${!model && chooseModel && html`<button type="button" class="plain" onClick=${chooseModel}>Set a chat model</button>`}
    </p>`}
    <${Questions} headings=${headings} ask=${ask} />
  </div>`;
}

export function Questions({ headings, ask }) {
  if (!headings.length) return null;
  return html`<ul class="questions" aria-label="Questions from the headings of the documents">
    ${headings.map((each) => html`<li><button type="button" class="plain" dir="auto" onClick=${() => ask(questionOf(each))}>${questionOf(each)}</button></li>`)}
  </ul>`;
}
