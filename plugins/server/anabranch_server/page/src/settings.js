// Settings as a form, made from the JSON schema that the server gives of them. A field left empty is the server's.

import { useEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { json, post } from "./server.js";
import { Theme } from "./theme.js";

const KEPT = "anabranch.settings";
// In people's words, and in this order; the others are called as in code.
const WORDS = {
  effort: "How thoroughly to answer",
  model: "Chat model that writes",
  strategy: "How to search further",
  rerank: "How to reorder what is found",
  synthesis: "How to read many passages",
  answer_form: "What to ask the model for",
  verify: "How to check the answer",
  top_k: "How many passages to keep",
  grade: "What judges the evidence",
  review: "When to wait for me",
};
const FIRST = Object.keys(WORDS);

export function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

// `aim` is the setting that somebody came for.
export function Settings({ fixed, values, onChange, close, aim }) {
  const [fields, setFields] = useState(null);
  const [fault, setFault] = useState("");
  const heading = useRef();
  useEffect(() => {
    heading.current.focus();
    schemas()
      .then(({ context_schema: schema }) => setFields(fieldsOf(schema, fixed)))
      .catch((error) => setFault(error.message));
  }, []);
  useEffect(() => document.getElementById(`setting-${aim}`)?.focus(), [fields]);
  const change = (name, value) => {
    const { [name]: _, ...rest } = values;
    const now = value === undefined ? rest : { ...rest, [name]: value };
    localStorage.setItem(KEPT, JSON.stringify(now));
    onChange(now);
  };
  const shown = (names) => names.map((field) => html`<${Field} key=${field.name} ...${field} value=${values[field.name]} change=${(value) => change(field.name, value)} />`);
  return html`<aside class="settings" aria-label="Settings">
    <header><h2 ref=${heading} tabindex="-1">Settings</h2><button type="button" class="icon" aria-label="Close the settings" onClick=${close}>✕</button></header>
    <${Theme} />
    <h3>Questions</h3>
    <p class="faint">They hold for the questions you ask from now on, in this browser. An empty field is as the server has it.</p>
    ${fault && html`<p role="alert">${fault}</p>`}
    ${fields && html`${shown(fields.filter((each) => FIRST.includes(each.name)))}
    <details><summary>All others</summary>${shown(fields.filter((each) => !FIRST.includes(each.name)))}</details>
    <p><button type="button" onClick=${() => { localStorage.removeItem(KEPT); onChange({}); }}>Leave everything to the server</button></p>`}
  </aside>`;
}

// LangGraph's own servers know an assistant by an id of theirs, not by the name of its graph.
async function schemas() {
  const found = await post("/assistants/search", { graph_id: "answer" });
  const { assistant_id: id } = found.find((each) => each.graph_id === "answer");
  return json(`/assistants/${id}/schemas`);
}

function fieldsOf(schema, fixed) {
  const isShown = (name) => !fixed.includes(name) && !name.endsWith("_prompt");
  const found = Object.entries(schema.properties ?? {}).filter(([name]) => isShown(name));
  const fields = found.map(([name, given]) => {
    const resolved = resolve(given, schema);
    const real = (resolved.anyOf ?? [resolved]).map((each) => resolve(each, schema)).find((each) => each.type !== "null") ?? {};
    const { type, minimum, maximum, exclusiveMinimum } = real;
    return {
      name, type, maximum, minimum: minimum ?? exclusiveMinimum, default: given.default,
      description: given.description ?? "", options: real.enum ?? resolved.enum ?? null,
    };
  });
  const place = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return fields.sort((a, b) => place(a) - place(b));
}

function resolve(part, schema) {
  const name = /^#\/\$defs\/(.+)$/.exec(part.$ref ?? "")?.[1];
  return name ? { ...schema.$defs[name], ...part } : part;
}

function Field({ name, type, options, minimum, maximum, description, default: usual, value, change }) {
  const id = `setting-${name}`;
  const read = (text) => {
    if (text === "") return undefined;
    if (type === "integer" || type === "number") return Number(text);
    if (type === "boolean") return text === "true";
    if (type === "array") return text.split(",").map((each) => each.trim()).filter(Boolean);
    return text;
  };
  const choices = options ?? (type === "boolean" ? ["true", "false"] : null);
  const common = { id, "aria-describedby": `${id}-is`, onInput: (event) => change(read(event.currentTarget.value)) };
  const is = usual === null || usual === undefined ? "" : ` Usually ${Array.isArray(usual) ? usual.join(", ") : usual}.`;
  return html`<div class="field">
    <label for=${id}>${WORDS[name] ?? name.replaceAll("_", " ")}</label> ${name in WORDS && html`<code class="faint">${name}</code>`}
    ${choices
      ? html`<select ...${common} value=${value === undefined ? "" : String(value)}>
          <option value="">as the server has it</option>
          ${choices.map((each) => html`<option value=${each}>${each}</option>`)}
        </select>`
      : html`<input ...${common} type=${type === "integer" || type === "number" ? "number" : "text"} min=${minimum} max=${maximum}
          step=${type === "number" ? "any" : undefined} value=${Array.isArray(value) ? value.join(", ") : (value ?? "")} />`}
    <p id=${`${id}-is`} class="faint">${description}${is}</p>
  </div>`;
}
