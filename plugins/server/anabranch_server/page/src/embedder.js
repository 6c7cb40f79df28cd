// What the documents are searched with by their meaning: chosen with the first ones, and told from then on.

import { html } from "./html.js";

const FOR = { minilm: "for documents and questions in English", multilingual: "for other languages, too, at twice the time" };

export function Embedder({ embedder, choices, usual, chosen, choose }) {
  if (embedder !== null) return html`<p class="faint">Embedder: <bdi>${embedder}</bdi></p>`;
  const now = chosen || usual;
  return html`<fieldset class="access">
    <legend>Embedder</legend>
    ${!usual && html`<label><input type="radio" name="embedder" checked=${!now} onChange=${() => choose("")} /> the one that this server is set to</label>`}
    ${choices.map(({ name, hint }) => html`<label><input type="radio" name="embedder" disabled=${Boolean(hint)} checked=${now === name} onChange=${() => choose(name)} /> ${name}, ${FOR[name]}</label>
      ${hint && html`<p class="faint">${hint}</p>`}`)}
    <p class="faint">It stays with the documents.</p>
  </fieldset>`;
}
