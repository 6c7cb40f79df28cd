// Who may read what is added: some of one's own access tags, or everybody.

import { html } from "./html.js";

const listed = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);

// What the graph is told. Untouched, nothing: new documents get all tags of whoever adds them, and others keep theirs.
export function accessOf(options, chosen) {
  if (options.name === null) return {};
  if (chosen === null) return options.access.length ? {} : { access: [] };
  return { access: chosen.everybody ? [] : [...new Set([...chosen.tags, ...listed(chosen.others)])] };
}

export function Access({ options, chosen, choose }) {
  const now = chosen ?? { everybody: !options.access.length, tags: options.access, others: "" };
  const change = (what) => choose({ ...now, ...what });
  if (!options.access.length && !options.is_admin) return html`<p class="faint">Everybody will be able to read them.</p>`;
  const toggle = (tag, isHeld) => change({ tags: isHeld ? [...now.tags, tag] : now.tags.filter((each) => each !== tag) });
  return html`<fieldset class="access">
    <legend>Who may read them</legend>
    <label><input type="radio" name="access" checked=${!now.everybody} onChange=${() => change({ everybody: false })} /> whoever has one of these access tags</label>
    <div>
      ${options.access.map((tag) => html`<label><input type="checkbox" disabled=${now.everybody} checked=${now.tags.includes(tag)} onChange=${(event) => toggle(tag, event.target.checked)} /> ${tag}</label>`)}
      ${options.is_admin && html`<label>others, with commas between them <input disabled=${now.everybody} value=${now.others} onInput=${(event) => change({ others: event.target.value })} /></label>`}
    </div>
    <label><input type="radio" name="access" checked=${now.everybody} onChange=${() => change({ everybody: true })} /> everybody</label>
    <p class="faint">${chosen === null ? "Files that are here already keep their tags." : "Files that are here already get these tags, too."}</p>
  </fieldset>`;
}
