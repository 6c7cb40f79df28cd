// The page: conversations left, questions and answers in the middle, the document of a citation right.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { load, tipOf } from "./conversation.js";
import { Documents } from "./documents.js";
import { html } from "./html.js";
import { follow, json, key, onNeedsKey, post, request } from "./server.js";
import { Settings, kept } from "./settings.js";
import { Source } from "./source.js";
import { colour } from "./theme.js";
import { Threads, titleOf } from "./threads.js";
import { Turn, doing } from "./turn.js";

const MODES = ["messages-tuple", "custom"];
const place = () => location.hash.replace(/^#\/?/, "") || null;

function App() {
  const [options, setOptions] = useState(null);
  const [locked, setLocked] = useState(false);
  const [fault, setFault] = useState("");
  const [threads, setThreads] = useState([]);
  const [thread, setThread] = useState(place());
  const [turns, setTurns] = useState([]);
  const [live, setLive] = useState(null);
  const [tip, setTip] = useState(null);
  const [cite, setCite] = useState(null);
  const [panel, setPanel] = useState(null);
  const [settings, setSettings] = useState(kept());
  const reading = useRef(null);
  const opener = useRef(null);

  const told = (error) => error.status === 401 || setFault(error.message);
  const list = useCallback(async () => {
    const found = await post("/threads/search", { limit: 200 });
    setThreads(found.filter((each) => !each.metadata?.graph_id || each.metadata.graph_id === "answer"));
  }, []);

  const enter = useCallback(async () => {
    try {
      setOptions(await json("/page/options"));
      setLocked(false);
      await list();
    } catch (error) {
      told(error);
    }
  }, []);

  useEffect(() => {
    onNeedsKey(() => setLocked(true));
    enter();
    const moved = () => setThread(place());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);

  // Whatever is on its way belongs to the conversation before.
  useEffect(() => {
    if (!options || locked) return undefined;
    if (reading.current?.thread === thread) return undefined;
    reading.current?.ends.abort();
    reading.current = null;
    setTurns([]);
    setLive(null);
    setTip(null);
    setCite(null);
    setFault("");
    if (thread) show(thread).catch(told);
    return undefined;
  }, [thread, options, locked]);

  const show = async (id, from) => {
    const [found, [run]] = await Promise.all([load(id, from), json(`/threads/${id}/runs?limit=1`)]);
    if (place() !== id) return;
    if (!["pending", "running"].includes(run?.status)) return void setTurns(found);
    // A page that is loaded anew reads on what is being written.
    const own = found.find((each) => each.run === run.run_id);
    await read(id, run.run_id, null, found.filter((each) => each !== own), own?.values?.original_question);
  };

  const read = async (id, run, response, before, question) => {
    const ends = new AbortController();
    const mine = { thread: id, run, ends };
    reading.current = mine;
    const turn = { live: true, question, text: "", run };
    let message = null;
    const update = (change) => {
      if (reading.current === mine) setLive((now) => ({ ...(now ?? turn), ...change(now ?? turn) }));
    };
    setTurns(before);
    setLive(turn);
    let error = null;
    try {
      await follow(id, run, response, {
        signal: ends.signal,
        onLost: () => update(() => ({ lost: true })),
        onEvent: ({ event, data }) => {
          const [kind] = event.split("|");
          if (kind === "metadata") {
            mine.run = data.run_id ?? mine.run;
            // A worker has taken the run over and begins again.
            if (data.attempt > 1) update(() => ({ text: "", lost: false }));
          } else if (kind === "custom" && data.status === "started") update(() => ({ step: data.step, lost: false }));
          else if (kind === "custom" && typeof data.answer === "string") update(() => ({ text: data.answer }));
          else if (event === "messages") {
            const [piece] = data;
            const text = typeof piece.content === "string" ? piece.content : "";
            // A refined answer is another message and takes the place of the one before; so does one that is whole.
            const goesOn = piece.id === message && piece.type === "AIMessageChunk";
            message = piece.id;
            if (piece.type?.startsWith("AI") || piece.type === "ai") update((now) => ({ text: goesOn ? now.text + text : text, lost: false }));
          } else if (event === "error") error = data.message ?? String(data.error);
        },
      });
    } catch (problem) {
      if (ends.signal.aborted) return;
      error = problem.message;
    }
    if (reading.current !== mine) return;
    const found = await load(id);
    if (reading.current !== mine || place() !== id) return;
    reading.current = null;
    setLive(null);
    setTip(null);
    const isThere = found.at(-1)?.run === mine.run;
    setTurns(isThere ? [...found.slice(0, -1), { ...found.at(-1), error }] : [...found, { question, error: error ?? "This was stopped before it began.", values: null }]);
    list().catch(() => {});
  };

  const ask = async (question, base) => {
    setFault("");
    // An edited question stands in the place of the one before, and of all that followed.
    const at = base === undefined ? turns.length : turns.findIndex((each) => each.base === base);
    // What the server did not accept is nowhere but here.
    const before = turns.slice(0, at).filter((each) => each.values);
    setTurns(before);
    setLive({ live: true, question, text: "" });
    try {
      let id = thread;
      if (!id) {
        id = (await post("/threads", { metadata: { title: question.replace(/\s+/g, " ").slice(0, 80), graph_id: "answer" } })).thread_id;
        // Before the address changes, so that the change finds this conversation on its way.
        reading.current = { thread: id, ends: new AbortController() };
        location.hash = `/${id}`;
        setThread(id);
      }
      const response = await request(`/threads/${id}/runs/stream`, {
        method: "POST",
        body: {
          assistant_id: "answer",
          input: { question },
          context: settings,
          stream_mode: MODES,
          stream_subgraphs: true,
          stream_resumable: true,
          on_disconnect: "continue",
          checkpoint_id: base ?? tip ?? undefined,
        },
      });
      const run = (response.headers.get("Content-Location") ?? "").split("/").pop();
      list().catch(() => {});
      await read(id, run, response, before, question);
    } catch (error) {
      reading.current = null;
      setLive(null);
      setTurns([...before, { question, error: error.message, values: null }]);
    }
  };

  const stop = () => {
    const { thread: id, run } = reading.current ?? {};
    if (run) request(`/threads/${id}/runs/${run}/cancel`, { method: "POST" }).catch(told);
  };

  const line = async (from) => {
    setTurns(await load(thread, from));
    setTip(from);
  };
  const choose = async (run) => line(await tipOf(thread, run)).catch(told);
  const go = (id) => {
    location.hash = id ? `/${id}` : "";
    setThread(id);
    setPanel(null);
  };
  const open = (found, element) => {
    opener.current = element;
    setPanel(null);
    setCite(found);
  };
  const shut = () => {
    setCite(null);
    setPanel(null);
    opener.current?.focus();
  };

  const all = live ? [...turns, live] : turns;
  const column = useRef();
  // A question comes to the top, so that its answer can be read while it grows.
  useEffect(() => column.current?.querySelector("article:last-of-type")?.scrollIntoView({ block: "start" }), [thread, all.length]);
  const here = threads.find((each) => each.thread_id === thread);
  useEffect(() => {
    document.title = here ? `${titleOf(here)} - Anabranch` : "Anabranch";
  }, [here]);

  if (locked) return html`<${Login} enter=${enter} />`;
  const toggle = (name) => (event) => {
    opener.current = event.currentTarget;
    setCite(null);
    setPanel(panel === name ? null : name);
  };
  return html`<div class=${`layout ${cite || ["documents", "settings"].includes(panel) ? "aside" : ""} ${panel === "threads" ? "listed" : ""}`}>
    <header class="top">
      <button type="button" class="icon only-narrow" aria-label="Conversations" aria-expanded=${panel === "threads" ? "true" : "false"} onClick=${toggle("threads")}>☰</button>
      <h1>Anabranch</h1>
      <button type="button" class="plain" aria-expanded=${panel === "documents" ? "true" : "false"} onClick=${toggle("documents")}>Documents</button>
      <button type="button" class="plain" aria-expanded=${panel === "settings" ? "true" : "false"} onClick=${toggle("settings")}>Settings</button>
      ${options?.name && html`<button type="button" class="plain" onClick=${() => { key.clear(); location.reload(); }}>Sign out ${options.name}</button>`}
    </header>
    <${Threads} threads=${threads} current=${thread} choose=${go} begin=${() => go(null)} refresh=${() => list().catch(told)} close=${shut} />
    <main ref=${column}>
      <p class="hidden" role="status">${live ? doing(live) : all.length > 0 && "The answer is complete."}</p>
      ${fault && html`<p role="alert" class="error">${fault}</p>`}
      ${!all.length && !thread && html`<div class="welcome"><p>Ask something about your documents. Every statement of the answer is held against them, and a click on its number shows the place.</p></div>`}
      ${all.map((turn, at) => html`<${Turn} key=${turn.run ?? `new-${at}`} turn=${turn} thread=${thread} last=${at === all.length - 1} busy=${Boolean(live)}
        open=${open} shown=${cite && cite.chunk_id + cite.start} ask=${ask} stop=${stop} choose=${choose} fork=${(from) => line(from.checkpoint).catch(told)} />`)}
      <${Composer} ask=${ask} busy=${Boolean(live)} goesOn=${all.length > 0} tip=${tip} />
    </main>
    ${cite && html`<${Source} cite=${cite} close=${shut} />`}
    ${panel === "documents" && html`<${Documents} close=${shut} />`}
    ${panel === "settings" && options && html`<${Settings} fixed=${options.fixed} values=${settings} onChange=${setSettings} close=${shut} />`}
  </div>`;
}

function Composer({ ask, busy, goesOn, tip }) {
  const field = useRef();
  const send = (event) => {
    event.preventDefault();
    const question = field.current.value.trim();
    if (!question || busy) return;
    field.current.value = "";
    ask(question);
  };
  const typed = (event) => {
    // While a word is being composed, as in Japanese, Enter chooses it.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  return html`<form class="composer" onSubmit=${send}>
    ${tip && html`<p class="faint">Your next question goes on from the answer above.</p>`}
    <label class="hidden" for="question">Question</label>
    <textarea id="question" ref=${field} rows="2" placeholder=${goesOn ? "Ask a follow-up question" : "Ask a question"} required onKeyDown=${typed}></textarea>
    <button disabled=${busy}>Ask</button>
  </form>`;
}

function Login({ enter }) {
  const [told, setTold] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    key.set(new FormData(event.currentTarget).get("key").trim());
    setTold("");
    await enter();
    setTold("This key is not known here.");
  };
  return html`<main class="login"><h1>Anabranch</h1>
    <form onSubmit=${submit}>
      <label for="key">Your key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button>Sign in</button>
      <p role="alert">${told}</p>
      <p class="faint">It is kept for as long as this tab is open.</p>
    </form></main>`;
}

colour();
render(html`<${App} />`, document.getElementById("page"));
