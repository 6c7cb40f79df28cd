// Files and folders that are dropped or chosen: sent one by one, taken in together, and told about one by one.

import { useEffect, useRef, useState } from "preact/hooks";

import { Access, accessOf } from "./access.js";
import { Embedder } from "./embedder.js";
import { chosen as namesOf, dropped } from "./folder.js";
import { html } from "./html.js";
import { events, json, request } from "./server.js";

const STAGES = { looking: "Looking for files", limit: "Waiting until the server takes more", files: "Reading", passages: "Learning the passages", index: "Making the index", embedder: "Making the embedder" };
const BAD = ["failed", "not sent"];
// Of these one row is enough for all that are alike.
const ALIKE = ["waiting", "unchanged", "skipped", "left out", "not sent"];
const TO_SEND = ["waiting", "being sent", "sent", "not sent"];
const OPENS = /\.(pdf|doc[xm]?|dot[xm]|xls[xmb]?|ppt[xm]?|ppsx)$/i;
const MINUTE = 60;

export function Upload({ options, done }) {
  const [over, setOver] = useState(false);
  const [files, setFiles] = useState([]);
  const [stage, setStage] = useState(null);
  const [fault, setFault] = useState("");
  const [chosen, setChosen] = useState(null);
  const [embedders, setEmbedders] = useState(null);
  const [embedder, setEmbedder] = useState("");
  const [warnings, setWarnings] = useState([]);
  const picker = useRef();
  const folder = useRef();
  const heading = useRef();
  const look = () => json("/uploads/embedders").then(setEmbedders).catch((error) => setFault(error.message));
  useEffect(() => void look(), []);
  const change = (name, what) => setFiles((now) => now.map((each) => (each.name === name ? { ...each, ...what } : each)));

  // How many one may send in a minute is waited for, and not how many in a day.
  const patiently = async (call) => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (error.status !== 429 || !(error.after > 0 && error.after <= MINUTE)) throw error;
        setStage({ stage: "limit" });
        await new Promise((over) => setTimeout(over, error.after * 1000));
        setStage({ stage: "sending" });
      }
    }
  };

  // One at a time: each tells for itself how far it is, and one that is refused costs the others nothing.
  const send = async (given, password) => {
    const sent = [];
    for (const { name, file, sentAs = name } of given) {
      const form = new FormData();
      form.append("files", file, file.name);
      form.append("folder", sentAs.slice(0, sentAs.lastIndexOf("/") + 1));
      if (password) form.append("password", password);
      change(name, { status: "being sent", fault: "" });
      try {
        const { paths, names } = await patiently(() => json("/uploads", { method: "POST", body: form }));
        sent.push({ path: paths[0], name: names[0], file });
        change(name, { name: names[0], status: "sent" });
      } catch (error) {
        change(name, password ? { status: "failed", fault: error.message } : { status: "not sent", reason: error.message });
        if (error.status === 401) throw error;
        if (error.status === 429) {
          setFiles((now) => now.map((each) => (each.status === "waiting" ? { ...each, status: "not sent", reason: error.message } : each)));
          break;
        }
      }
    }
    return sent;
  };

  const takeIn = async (paths) => {
    const body = { assistant_id: "ingest", input: { paths, ...accessOf(options, chosen), ...(embedder && embedders?.embedder === null ? { embedder } : {}) }, stream_mode: ["custom", "values"] };
    let report = null;
    for await (const each of events(await patiently(() => request("/runs/stream", { method: "POST", body })))) {
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

  const add = async (given, password) => {
    setFault("");
    setWarnings([]);
    setStage({ stage: "sending" });
    try {
      const sent = await send(given, password);
      if (sent.length) {
        const report = await takeIn(sent.map(({ path }) => path));
        setWarnings(report.warnings ?? []);
        const names = new Set(sent.map(({ name }) => name));
        setFiles((now) => [...now.filter(({ name }) => !names.has(name)), ...report.files.map((row) => told(row, sent))]);
      }
    } catch (error) {
      setFault(error.message);
    }
    await look();
    setStage(null);
    done();
  };

  const take = async (finding) => {
    if (stage) return;
    setStage({ stage: "looking" });
    const { files: given, left } = await finding;
    setFiles([...given.map((each) => ({ ...each, status: "waiting" })), ...left]);
    if (given.length) await add(given);
    else setStage(null);
  };

  const unlock = async (row, password) => {
    await add([row], password);
    requestAnimationFrame(() => document.activeElement === document.body && heading.current?.focus());
  };

  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    take(dropped(event.dataTransfer));
  };
  const pick = (event) => {
    take(namesOf([...event.target.files]));
    event.target.value = "";
  };
  const isReady = chosen === null || chosen.everybody || accessOf(options, chosen).access?.length > 0;
  const choose = (input, words) => html`<button type="button" class="plain" disabled=${Boolean(stage) || !isReady} onClick=${() => input.current.click()}>${words}</button>`;
  return html`<section class=${`upload ${over ? "over" : ""}`} aria-label="Add documents" onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <p>Drop files or folders here, or ${choose(picker, "choose files")} or ${choose(folder, "a folder")}.</p>
    <input ref=${picker} type="file" multiple hidden aria-label="Files to add" onChange=${pick} />
    <input ref=${folder} type="file" webkitdirectory hidden aria-label="A folder to add" onChange=${pick} />
    ${options.name !== null && html`<${Access} options=${options} chosen=${chosen} choose=${setChosen} />`}
    ${embedders && html`<${Embedder} ...${embedders} chosen=${embedder} choose=${setEmbedder} />`}
    ${fault && html`<p role="alert">${fault}</p>`}
    ${stage && html`<${Stage} ...${stage} files=${files} />`}
    ${warnings.map((each) => html`<p>${each}</p>`)}
    <p class="hidden" role="status">${!stage && files.length > 0 && summary(files)}</p>
    ${files.length > 0 && html`<${Report} files=${files} isOver=${!stage} heading=${heading} unlock=${unlock} />`}
  </section>`;
}

// A row of the report, with the file that it is of while that can be sent again with its password.
function told(row, sent) {
  const { source, status, reason } = row;
  const of = sent.find(({ name }) => name === source) ?? sent.find(({ name }) => source.endsWith(`/${name}`));
  const isLocked = status === "failed" && reason.startsWith("encrypted:") && OPENS.test(source) && of;
  return { ...row, name: source, ...(isLocked ? { file: of.file, isLocked, sentAs: of.name } : {}) };
}

function Stage({ stage, done: count, total, files }) {
  const sending = files.filter((each) => TO_SEND.includes(each.status));
  const sent = sending.filter((each) => each.status === "sent").length;
  const [at, of] = stage === "sending" ? [sent, sending.length] : [count, total];
  return html`<p>${STAGES[stage] ?? "Sending"}${of > 0 && ` ${at} of ${of}`}</p>
    <progress aria-label="Progress" ...${of > 0 ? { value: at, max: of } : {}} />`;
}

function Report({ files, isOver, heading, unlock }) {
  const ordered = isOver ? [...files].sort((a, b) => BAD.includes(b.status) - BAD.includes(a.status)) : files;
  return html`${isOver && html`<h3 ref=${heading} tabindex="-1">${summary(files)}</h3>`}
    <ul class="report">
      ${[...folded(ordered)].map(([key, rows]) => html`<li key=${key} class=${BAD.includes(rows[0].status) ? "bad" : ""}><${Row} rows=${rows} isOver=${isOver} unlock=${unlock} /></li>`)}
    </ul>`;
}

const withoutName = ({ name, reason }) => (reason ?? "").replaceAll(`'${name}'`, "It");

// The rows to show by their keys, each a list of those that are alike.
function folded(files) {
  const rows = new Map();
  for (const each of files) {
    const isAlike = ALIKE.includes(each.status);
    let key = isAlike ? `${each.status}: ${withoutName(each)}` : each.name;
    while (!isAlike && rows.has(key)) key += " ";
    rows.set(key, [...(rows.get(key) ?? []), each]);
  }
  return rows;
}

function Row({ rows, isOver, unlock }) {
  const [{ name, status, reason, notes, documents, isLocked }] = rows;
  if (rows.length > 1) {
    return html`<details>
      <summary><strong>${rows.length} files</strong>: ${status}${reason && `, ${withoutName(rows[0])}`}</summary>
      ${rows.map((each) => html`<bdi>${each.name}</bdi><br />`)}
    </details>`;
  }
  if (isLocked) return html`<${Locked} row=${rows[0]} isOver=${isOver} unlock=${unlock} />`;
  return html`<strong><bdi>${name}</bdi></strong>: ${status}${documents > 1 && `, ${documents} documents`}${reason && `, ${reason}`}
    ${notes?.length > 0 && html`<br /><span class="faint">${notes.join(" ")}</span>`}`;
}

function Locked({ row, isOver, unlock }) {
  const field = useRef();
  const submit = (event) => {
    event.preventDefault();
    // Held nowhere else: it goes with the request.
    const password = field.current.value;
    field.current.value = "";
    field.current.focus();
    if (password && isOver) unlock(row, password);
  };
  return html`<strong><bdi>${row.name}</bdi></strong>: ${isOver ? "failed, it is protected by a password." : row.status}
    <form class="locked" onSubmit=${submit}>
      <label>Its password<span class="hidden">: ${row.name}</span> <input ref=${field} type="password" autocomplete="off" required /></label>
      <button aria-disabled=${isOver ? "false" : "true"}>Open it<span class="hidden">: ${row.name}</span></button>
      ${row.fault && html`<p role="alert">${row.fault}</p>`}
      <p class="faint">The server keeps the file without its protection, and the password nowhere.</p>
    </form>`;
}

function summary(files) {
  const counts = new Map();
  for (const { status } of files) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
}
