// What the page asks of the server: LangGraph's paths for threads and runs, and the page's own for documents.

const KEY = "anabranch.key";

export class Refused extends Error {
  constructor(status, message, type = "", after = null) {
    super(message);
    this.status = status;
    this.type = type;
    this.after = after;
  }
}

// Nothing was taken in yet, or all of it is removed.
export const isEmpty = (error) => ["CorpusNotFoundError", "CorpusEmptyError"].includes(error.type);

let needsKey = () => {};

export function onNeedsKey(call) {
  needsKey = call;
}

// For as long as the tab lives, and never in an address: addresses are kept in logs.
export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  clear: () => sessionStorage.removeItem(KEY),
};

export async function request(path, { method = "GET", body, headers = {}, signal } = {}) {
  const own = key.get();
  // Of a form the browser names the type itself, with what stands between its parts.
  const isForm = body instanceof FormData;
  const response = await reached(path, {
    method,
    signal,
    headers: {
      ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
      ...(own ? { Authorization: `Bearer ${own}` } : {}),
      ...headers,
    },
    body: body === undefined || isForm ? body : JSON.stringify(body),
  });
  if (response.status === 401) needsKey();
  if (!response.ok) throw await refusal(response);
  return response;
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    // A browser says only that it failed.
    throw new Error("The server does not answer. See that it runs, and try again.");
  }
}

export async function json(path, options) {
  const response = await request(path, options);
  return response.status === 204 ? null : response.json();
}

export const post = (path, body) => json(path, { method: "POST", body });

async function refusal(response) {
  let told = `The server answered ${response.status}.`;
  let type = "";
  try {
    const { detail, error } = await response.json();
    told = typeof detail === "string" ? detail : JSON.stringify(detail);
    type = error?.type ?? "";
  } catch {
    // What stands between here and the server may answer with anything.
  }
  const after = response.headers.get("Retry-After");
  const seconds = after && secondsOf(after);
  return new Refused(response.status, after ? `${told} (${inWords(seconds)})` : told, type, seconds);
}

// Retry-After: seconds, or a date (RFC 9110, section 10.2.3).
const secondsOf = (after) => (/^\d+$/.test(after) ? Number(after) : Math.max(0, Math.round((new Date(after) - Date.now()) / 1000)));

function inWords(seconds) {
  if (!(seconds >= 90)) return `Try again in ${seconds || 1} s.`;
  const at = new Date(Date.now() + seconds * 1000);
  return `Try again after ${at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}.`;
}

// Server-sent events, one object for each: `event`, `data` as it was before it became JSON, `id`.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  let event = {};
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (held + value).split(/\r?\n/);
      held = lines.pop();
      for (const line of lines) {
        const at = line.indexOf(":");
        if (line === "") {
          if (event.data !== undefined) yield { ...event, data: JSON.parse(event.data) };
          event = {};
        } else if (at > 0) {
          const name = line.slice(0, at);
          const text = line.slice(at + 1).replace(/^ /, "");
          event[name] = name === "data" && event.data !== undefined ? `${event.data}\n${text}` : text;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const TRIES = 8;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Reads a run to its end. A connection that breaks, or ends before the run does, is taken up behind the last event.
export async function follow(thread, run, response, { onEvent, onLost, signal }) {
  let last = null;
  for (let failures = 0; failures < TRIES; failures += 1) {
    try {
      response ??= await request(`/threads/${thread}/runs/${run}/stream`, {
        signal,
        headers: last === null ? {} : { "Last-Event-ID": last },
      });
      for await (const each of events(response)) {
        failures = 0;
        last = each.id ?? last;
        if (each.event === "end") return;
        if (each.event === "metadata") run = each.data.run_id ?? run;
        onEvent(each);
      }
      const { status } = await json(`/threads/${thread}/runs/${run}`, { signal });
      if (status !== "pending" && status !== "running") return;
    } catch (error) {
      if (signal?.aborted || error instanceof Refused) throw error;
    }
    response = null;
    onLost();
    await wait(Math.min(250 * 2 ** failures, 5000));
  }
  throw new Refused(0, "The connection to the server is lost. Reload the page to read on.");
}
