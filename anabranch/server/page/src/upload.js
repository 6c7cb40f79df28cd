// Files that are dropped or chosen: sent, taken in, and told about one by one.

import { useEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { events, json, request } from "./server.js";

const STAGES = { files: "Reading", passages: "Learning the passages", index: "Making the index" };

export function Upload({ done }) {
  const [over, setOver] = useState(false);
  const [state, setState] = useState(null);
  const [name, setName] = useState(null);
  const [tags, setTags] = useState("");
  const [everybody, setEverybody] = useState(false);
  const picker = useRef();
  useEffect(() => void json("/page/options").then((options) => setName(options.name), () => {}), []);

  const take = async (files) => {
    if (!files.length) return;
    const form = new FormData();
    for (const file of files) form.append("files", file);
    try {
      setState({ told: `Sending ${files.length === 1 ? files[0].name : `${files.length} files`}` });
      const { paths } = await json("/uploads", { method: "POST", body: form });
      const own = tags.split(",").map((tag) => tag.trim()).filter(Boolean);
      const access = everybody ? { access: [] } : own.length ? { access: own } : {};
      const body = { assistant_id: "ingest", input: { paths, ...access }, stream_mode: ["custom", "values"] };
      let report = null;
      for await (const each of events(await request("/runs/stream", { method: "POST", body }))) {
        if (each.event === "error") throw new Error(each.data.message);
        if (each.event === "custom") setState({ told: STAGES[each.data.stage] ?? each.data.stage, ...each.data });
        if (each.event === "values" && each.data.files) report = each.data;
      }
      setState({ files: report?.files ?? [] });
      done();
    } catch (error) {
      setState({ fault: error.message });
    }
  };

  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    take([...event.dataTransfer.files]);
  };
  const busy = state?.told !== undefined;
  return html`<section class=${`upload ${over ? "over" : ""}`} aria-label="Add documents" onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <p>Drop files here, or <button type="button" class="plain" disabled=${busy} onClick=${() => picker.current.click()}>choose some</button>.</p>
    <input ref=${picker} type="file" multiple hidden aria-label="Files to add" onChange=${(event) => (take([...event.target.files]), (event.target.value = ""))} />
    ${
      name !== null &&
      html`<label>Who may read them: access tags, separated by commas <input value=${tags} disabled=${everybody} placeholder="your own tags" onInput=${(event) => setTags(event.target.value)} /></label>
        <label><input type="checkbox" checked=${everybody} onChange=${(event) => setEverybody(event.target.checked)} /> everybody</label>`
    }
    <div role="status">
      ${busy && html`<p>${state.told}${state.total > 0 && ` ${state.done} of ${state.total}`}${state.detail && `: ${state.detail}`}</p><progress aria-label="Progress" ...${state.total > 0 ? { value: state.done, max: state.total } : {}} />`}
      ${state?.fault && html`<p role="alert">${state.fault}</p>`}
      ${state?.files && html`<ul>${state.files.map((each) => html`<li><strong>${each.source}</strong>: ${each.status}${each.reason && `, ${each.reason}`}${each.notes?.length > 0 && html`<br /><span class="faint">${each.notes.join(" ")}</span>`}</li>`)}</ul>`}
    </div>
  </section>`;
}
