// Files that are dropped or chosen: sent one by one, taken in together, and told about one by one.

import { useRef, useState } from "preact/hooks";

import { Access, accessOf } from "./access.js";
import { html } from "./html.js";
import { events, json, request } from "./server.js";

const STAGES = { files: "Reading", passages: "Learning the passages", index: "Making the index" };
const BAD = ["failed", "not sent"];

export function Upload({ options, done }) {
  const [over, setOver] = useState(false);
  const [files, setFiles] = useState([]);
  const [stage, setStage] = useState(null);
  const [fault, setFault] = useState("");
  const [chosen, setChosen] = useState(null);
  const picker = useRef();
  const change = (name, what) => setFiles((now) => now.map((each) => (each.name === name ? { ...each, ...what } : each)));

  // One at a time: each tells for itself how far it is, and one that is refused costs the others nothing.
  const send = async (given) => {
    const paths = [];
    for (const file of given) {
      const form = new FormData();
      form.append("files", file);
      change(file.name, { status: "being sent" });
      try {
        paths.push(...(await json("/uploads", { method: "POST", body: form })).paths);
        change(file.name, { status: "sent" });
      } catch (error) {
        change(file.name, { status: "not sent", reason: error.message });
        if (error.status === 401) throw error;
      }
    }
    return paths;
  };

  const takeIn = async (paths) => {
    const body = { assistant_id: "ingest", input: { paths, ...accessOf(options, chosen) }, stream_mode: ["custom", "values"] };
    let report = null;
    for await (const each of events(await request("/runs/stream", { method: "POST", body }))) {
      if (each.event === "error") throw new Error(each.data.message);
      if (each.event === "custom") {
        setStage(each.data);
        if (each.data.stage === "files") change(each.data.detail, { status: "being read" });
      }
      if (each.event === "values" && each.data.files) report = each.data;
    }
    if (!report) throw new Error("The connection ended before the report came. The list below shows what was taken in.");
    return report;
  };

  const take = async (given) => {
    if (!given.length || stage) return;
    setFault("");
    setStage({ stage: "sending" });
    setFiles(given.map(({ name }) => ({ name, status: "waiting" })));
    try {
      const paths = await send(given);
      if (paths.length) {
        const report = await takeIn(paths);
        setFiles((now) => [...now.filter((each) => each.status === "not sent"), ...report.files.map((each) => ({ ...each, name: each.source }))]);
      }
    } catch (error) {
      setFault(error.message);
    }
    setStage(null);
    done();
  };

  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    take([...event.dataTransfer.files]);
  };
  const isReady = chosen === null || chosen.everybody || accessOf(options, chosen).access?.length > 0;
  return html`<section class=${`upload ${over ? "over" : ""}`} aria-label="Add documents" onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <p>Drop files here, or <button type="button" class="plain" disabled=${Boolean(stage) || !isReady} onClick=${() => picker.current.click()}>choose some</button>.</p>
    <input ref=${picker} type="file" multiple hidden aria-label="Files to add" onChange=${(event) => (take([...event.target.files]), (event.target.value = ""))} />
    ${options.name !== null && html`<${Access} options=${options} chosen=${chosen} choose=${setChosen} />`}
    ${fault && html`<p role="alert">${fault}</p>`}
    ${stage && html`<${Stage} ...${stage} files=${files} />`}
    <p class="hidden" role="status">${!stage && files.length > 0 && summary(files)}</p>
    ${files.length > 0 && html`<${Report} files=${files} isOver=${!stage} />`}
  </section>`;
}

function Stage({ stage, done: count, total, files }) {
  const sent = files.filter((each) => each.status === "sent").length;
  const [at, of] = stage === "sending" ? [sent, files.length] : [count, total];
  return html`<p>${STAGES[stage] ?? "Sending"}${of > 0 && ` ${at} of ${of}`}</p>
    <progress aria-label="Progress" ...${of > 0 ? { value: at, max: of } : {}} />`;
}

function Report({ files, isOver }) {
  const ordered = isOver ? [...files].sort((a, b) => BAD.includes(b.status) - BAD.includes(a.status)) : files;
  return html`${isOver && html`<h3>${summary(files)}</h3>`}
    <ul class="report">
      ${ordered.map(
        ({ name, status, reason, notes, documents }) => html`<li class=${BAD.includes(status) ? "bad" : ""}>
          <strong><bdi>${name}</bdi></strong>: ${status}${documents > 1 && `, ${documents} documents`}${reason && `, ${reason}`}
          ${notes?.length > 0 && html`<br /><span class="faint">${notes.join(" ")}</span>`}
        </li>`,
      )}
    </ul>`;
}

function summary(files) {
  const counts = new Map();
  for (const { status } of files) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
}
