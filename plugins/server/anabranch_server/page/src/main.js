// The page: conversations left, questions and answers in the middle, the document of a citation right.

import { render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { filtersOf } from "./choice.js";
import { Composer, draft } from "./composer.js";
import { isOf, load, tipOf } from "./conversation.js";
import { Documents } from "./documents.js";
import { html, keepFocus } from "./html.js";
import { Login, comeBack } from "./login.js";
import { begun, heard } from "./reading.js";
import { follow, isEmpty, json, key, onNeedsKey, post, request } from "./server.js";
import { Settings, kept } from "./settings.js";
import { Source } from "./source.js";
import { colour } from "./theme.js";
import { Threads, titleOf } from "./threads.js";
import { Turn, doing } from "./turn.js";
import { Welcome } from "./welcome.js";

const STREAMED = {
  assistant_id: "answer",
  stream_mode: ["messages-tuple", "custom"],
  stream_subgraphs: true,
  stream_resumable: true,
  on_disconnect: "continue",
};
const LISTED = 200;
const MOST_LISTED = 1000; // that a server gives at once
const place = () => location.hash.replace(/^#\/?/, "") || null;

function App({ failed }) {
  const [options, setOptions] = useState(null);
  const [locked, setLocked] = useState(false);
  const [fault, setFault] = useState("");
  const [threads, setThreads] = useState([]);
  const [hasMore, setHasMore] = useState(false);
  const [thread, setThread] = useState(place());
  const [turns, setTurns] = useState([]);
  const [live, setLive] = useState(null);
  const [tip, setTip] = useState(null);
  const [cite, setCite] = useState(null);
  const [panel, setPanel] = useState(null);
  const [wasOpened, setWasOpened] = useState(false);
  const [none, setNone] = useState(null);
  const [overview, setOverview] = useState(null);
  const [only, setOnly] = useState([]);
  const [aim, setAim] = useState(null);
  const [settings, setSettings] = useState(kept());
  const reading = useRef(null);
  const listed = useRef(LISTED);
  const opener = useRef(null);

  const told = (error) => error.status === 401 || setFault(error.message);
  const list = useCallback(async () => {
    const found = await post("/threads/search", { limit: listed.current });
    setHasMore(found.length === listed.current && listed.current < MOST_LISTED);
    setThreads(found.filter((each) => !each.metadata?.graph_id || each.metadata.graph_id === "answer"));
  }, []);

  // What there is to ask about, if anything.
  const look = useCallback(async () => {
    try {
      setOverview(await json("/overview"));
      setNone(null);
    } catch (error) {
      if (isEmpty(error)) setNone(error.message);
    }
  }, []);

  const enter = useCallback(async () => {
    try {
      setOptions(await json("/page/options"));
      setLocked(false);
      look();
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
    // A page that is loaded anew reads on what is being written; a pause that was answered is what it goes on from.
    const own = found.find((each) => isOf(each, run.run_id)) ?? (found.at(-1)?.pause ? found.at(-1) : undefined);
    await read(id, run.run_id, null, found.filter((each) => each !== own), own?.values?.original_question);
  };

  const read = async (id, run, response, before, question) => {
    const ends = new AbortController();
    const mine = { thread: id, run, ends };
    let turn = begun(question, run);
    let isDue = false;
    const update = (now) => {
      turn = now;
      mine.run = now.run;
      if (isDue) return;
      isDue = true;
      // Words come faster than anybody sees them, and each change lays out the whole answer.
      requestAnimationFrame(() => {
        isDue = false;
        if (reading.current === mine) setLive(turn);
      });
    };
    reading.current = mine;
    setTurns(before);
    setLive(turn);
    try {
      await follow(id, run, response, {
        signal: ends.signal,
        onLost: () => update({ ...turn, lost: true }),
        onEvent: (event) => update(heard(turn, event)),
      });
    } catch (problem) {
      if (ends.signal.aborted) return;
      update({ ...turn, error: problem.message });
    }
    if (reading.current !== mine) return;
    try {
      const found = await load(id);
      if (reading.current !== mine || place() !== id) return;
      const own = found.at(-1);
      const lost = { question, error: turn.error ?? "This was stopped before it began.", values: null };
      setTurns(isOf(own, turn.run) || own?.pause ? [...found.slice(0, -1), { ...own, error: turn.error }] : [...found, lost]);
      setTip(null);
    } catch (problem) {
      if (reading.current === mine) setTurns([...before, { question, error: turn.error ?? problem.message, values: null }]);
    } finally {
      if (reading.current === mine) {
        reading.current = null;
        setLive(null);
        keepFocus();
      }
    }
    list().catch(() => {});
  };

  const run = async (before, question, body) => {
    setFault("");
    setTurns(before);
    setLive(begun(question));
    keepFocus();
    let id = thread;
    try {
      if (!id) {
        id = (await post("/threads", { metadata: { title: question.replace(/\s+/g, " ").slice(0, 80), graph_id: "answer" } })).thread_id;
        // Before the address changes, so that the change finds this conversation on its way.
        reading.current = { thread: id, ends: new AbortController() };
        location.hash = `/${id}`;
        setThread(id);
      }
      const response = await request(`/threads/${id}/runs/stream`, { method: "POST", body: { ...STREAMED, ...body } });
      const own = (response.headers.get("Content-Location") ?? "").split("/").pop();
      list().catch(() => {});
      // Somebody may be at another conversation by now; this one goes on by itself.
      if (place() === id) await read(id, own, response, before, question);
    } catch (error) {
      // Whoever has to sign in again finds their question where they wrote it, and the conversation is loaded anew.
      if (error.status === 401) draft.set(question);
      if (place() !== id) return;
      // Otherwise it stays the conversation that is read: a refusal may come before the change of address is noticed.
      reading.current = id && error.status !== 401 ? { thread: id, ends: new AbortController() } : null;
      setLive(null);
      setTurns([...before, { question, error: error.message, values: null }]);
    }
  };

  const ask = (question, { base, context, filters = filtersOf(only) } = {}) => {
    // An edited question stands in the place of the one before, and of all that followed.
    const at = base === undefined ? turns.length : turns.findIndex((each) => each.base === base);
    // What the server did not accept is nowhere but here.
    const before = turns.slice(0, at).filter((each) => each.values);
    return run(before, question, { input: { question, filters }, context: { ...settings, ...context }, checkpoint_id: base ?? tip ?? undefined });
  };

  // The settings are those that the thread remembers of the question.
  const resume = (reply) => run(turns.slice(0, -1), turns.at(-1).values.original_question, { command: { resume: reply } });

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
    // What was left for the panel may be gone by now.
    (opener.current?.isConnected ? opener.current : document.getElementById("question"))?.focus();
  };
  const escape = useRef();
  // What closes something smaller by it, such as a card, has prevented the default.
  escape.current = (event) => event.key === "Escape" && !event.defaultPrevented && (cite || panel) && shut();
  useEffect(() => {
    const pressed = (event) => escape.current(event);
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);

  // Another tab, or another device, may have gone on with this conversation.
  const catchUp = useRef();
  catchUp.current = async () => {
    if (!options || locked || document.visibilityState !== "visible") return;
    await list();
    if (!thread || live || tip || !turns.every((each) => each.values)) return;
    const [run] = await json(`/threads/${thread}/runs?limit=1`);
    if (run && !reading.current && !turns.some((each) => isOf(each, run.run_id))) await show(thread);
  };
  useEffect(() => {
    const seen = () => catchUp.current().catch(() => {});
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, []);

  const model = settings.model ?? overview?.model;
  const chooseModel = options && !model && !options.fixed.includes("model") ? (event) => {
    opener.current = event.currentTarget;
    setCite(null);
    setAim("model");
    setPanel("settings");
  } : null;
  const all = live ? [...turns, live] : turns;
  const shownTurn = (turn, at) => html`<${Turn} key=${turn.run ?? `new-${at}`} turn=${turn} thread=${thread} last=${at === all.length - 1} busy=${Boolean(live)} chooses=${!options?.fixed.includes("effort")} narrows=${!options?.fixed.includes("infer_filter")} open=${open} shown=${cite && cite.chunk_id + cite.start}
    resume=${tip || at < all.length - 1 ? null : resume} ask=${ask} chooseModel=${chooseModel} stop=${stop} choose=${choose} fork=${(from) => line(from.checkpoint).catch(told)} />`;
  // Those before are not laid out anew with each word of the one that is being written.
  const before = useMemo(() => turns.map(shownTurn), [turns, thread, Boolean(live), cite, settings, tip, only, overview]);
  const column = useRef();
  // A question comes to the top, so that its answer can be read while it grows; so does one that waits for somebody.
  useEffect(() => column.current?.querySelector("article:last-of-type")?.scrollIntoView({ block: "start" }), [thread, all.length, all.at(-1)?.pause]);
  const here = threads.find((each) => each.thread_id === thread);
  useEffect(() => {
    document.title = here ? `${titleOf(here)} - Anabranch` : "Anabranch";
  }, [here]);

  if (locked) return html`<${Login} enter=${enter} failed=${failed} />`;
  const toggle = (name) => (event) => {
    opener.current = event.currentTarget;
    setCite(null);
    setPanel(panel === name ? null : name);
    setAim(null);
    if (name === "documents") setWasOpened(true);
  };
  return html`<div class=${`layout ${cite || ["documents", "settings"].includes(panel) ? "aside" : ""} ${panel === "threads" ? "listed" : ""}`}>
    <header class="top">
      <button type="button" class="icon only-narrow" aria-label="Conversations" aria-expanded=${panel === "threads" ? "true" : "false"} onClick=${toggle("threads")}>☰</button>
      <h1>Anabranch</h1>
      <button type="button" class="plain" aria-expanded=${panel === "documents" ? "true" : "false"} onClick=${toggle("documents")}>Documents</button>
      <button type="button" class="plain" aria-expanded=${panel === "settings" ? "true" : "false"} onClick=${toggle("settings")}>Settings</button>
      ${options?.name && html`<button type="button" class="plain" onClick=${() => { key.clear(); location.reload(); }}>Sign out <span class="who">${options.name}</span></button>`}
    </header>
    <${Threads} threads=${threads} hasMore=${hasMore} more=${() => { listed.current += LISTED; list().catch(told); }} current=${thread} choose=${go} begin=${() => go(null)} refresh=${() => list().catch(told)} />
    <main ref=${column}>
      <p class="hidden" role="status">${live ? doing(live) : all.at(-1)?.pause ? "The run waits for you." : all.length > 0 && "The answer is complete."}</p>
      ${fault && html`<p role="alert" class="error">${fault}</p>`}
      ${!all.length && !thread && html`<${Welcome} options=${options} none=${none} overview=${overview} model=${model} ask=${ask} addDocuments=${toggle("documents")} chooseModel=${chooseModel} />`}
      ${before}
      ${live && shownTurn(live, turns.length)}
      <${Composer} ask=${ask} busy=${Boolean(live)} goesOn=${all.length > 0} tip=${tip} only=${only} setOnly=${setOnly} />
    </main>
    ${cite && html`<${Source} cite=${cite} choose=${setCite} close=${shut} />`}
    ${options && wasOpened && html`<${Documents} options=${options} isShown=${panel === "documents"} close=${shut} changed=${look} only=${only} setOnly=${setOnly} />`}
    ${panel === "settings" && options && html`<${Settings} fixed=${options.fixed} values=${settings} onChange=${setSettings} close=${shut} aim=${aim} />`}
  </div>`;
}

colour();
const failed = await comeBack();
render(html`<${App} failed=${failed} />`, document.getElementById("page"));
