// A conversation as the checkpoints of its thread tell it: a tree, of which one line is shown at a time.

import { named } from "./grades.js";
import { json, post } from "./server.js";

const id = (state) => state.checkpoint?.checkpoint_id ?? state.checkpoint_id ?? null;
const parent = (state) => state.parent_checkpoint?.checkpoint_id ?? null;

export async function load(thread, tip) {
  // A run begins with a checkpoint "input"; what it goes on from is the parent of that.
  const inputs = (await history(thread, { source: "input" })).reverse();
  const begins = new Map(inputs.map((each) => [id(each), each]));
  // A first question that was edited begins from the first input itself, of which nothing was applied yet.
  const base = (input) => (begins.has(parent(input)) ? null : parent(input));
  const turns = [];
  let state = tip ? await at(thread, tip) : await latest(thread, inputs);
  while (state) {
    const mine = await inputOf(thread, state, inputs);
    if (!mine) break;
    const from = base(mine);
    const rivals = inputs.filter((each) => base(each) === from && (from !== null || isFirst(each)));
    if (!(state.next ?? []).includes("__start__")) {
      turns.unshift({
        run: mine.metadata.run_id,
        // Another one where a person was waited for: what they replied began a run of its own.
        ended: state.metadata.run_id,
        values: valuesOf(state),
        checkpoint: id(state),
        // Where another version of this question would go on from.
        base: from ?? id(rivals[0] ?? mine),
        versions: [...new Set(rivals.map((each) => each.metadata.run_id))],
        unfinished: waiting(state).length > 0,
        pause: pauseOf(state),
      });
    }
    state = from === null ? null : await at(thread, from);
  }
  return turns;

  function isFirst(input) {
    return parent(input) === null || begins.has(parent(input));
  }
}

// The steps that a run has yet to make. `next` leaves out one that was stopped when its result was written but not applied.
const waiting = (state) => [...(state.next ?? []), ...(state.tasks ?? []).map((each) => each.name)];

// Before the first step, the state is still that of the question before.
const valuesOf = ({ values, ...state }) => (waiting(state).includes("begin") ? { original_question: values.question } : resultOf(values));

// A checkpoint keeps each fact once; readers are shown what is made of them, as `derive_result` makes it for programs.
function resultOf(values) {
  if (!values.turn) return values; // of a version that kept the answer's records in other channels
  const { turn = {}, claims = [], check = {}, trace = [] } = values;
  const { status, ...verification } = check;
  const sum = (name) => trace.reduce((total, step) => total + step[name], 0);
  const ms = {};
  for (const step of trace) ms[step.node] = Math.round(((ms[step.node] ?? 0) + step.ms) * 10) / 10;
  const rounds = new Set(trace.filter((step) => step.calls).map((step) => step.round)).size;
  return {
    ...values,
    original_question: turn.question,
    standalone_question: turn.standalone_question,
    citations: claims.filter((each) => each.grade !== "not_confirmed"),
    unconfirmed: claims.filter((each) => each.grade === "not_confirmed"),
    verification: verification.claims ? verification : {},
    status,
    inferred_filter: turn.inferred?.text ?? "",
    usage: { calls: sum("calls"), rounds, prompt_tokens: sum("prompt_tokens"), output_tokens: sum("output_tokens"), ms },
  };
}

export const isOf = (turn, run) => Boolean(turn) && [turn.run, turn.ended].includes(run);

const pauseOf = (state) => (state.interrupts ?? (state.tasks ?? []).flatMap((each) => each.interrupts ?? []))[0]?.value ?? null;

const history = (thread, metadata, limit = 1000) => post(`/threads/${thread}/history`, { limit, metadata });

// The input that a state comes from. A run that goes on after a pause has none of its own.
async function inputOf(thread, state, inputs) {
  for (;;) {
    const run = state.metadata?.run_id;
    const mine = inputs.findLast((each) => each.metadata?.run_id === run);
    const before = mine ? null : await beginOf(thread, run);
    if (!before) return mine;
    state = await at(thread, before);
  }
}

// The checkpoint that a run went on from.
const beginOf = async (thread, run) => parent((await history(thread, { run_id: run })).at(-1) ?? {});

const at = (thread, checkpoint) => json(`/threads/${thread}/state/${checkpoint}`);

async function latest(thread, inputs) {
  return inputs.length ? json(`/threads/${thread}/state`) : null;
}

// The last checkpoint of a version of a question, and of what was asked after it.
export async function tipOf(thread, run) {
  const inputs = (await history(thread, { source: "input" })).reverse();
  for (;;) {
    const [end] = await history(thread, { run_id: run }, 1);
    if (!end) return null;
    const next = inputs.findLast((each) => parent(each) === id(end));
    const after = next?.metadata.run_id ?? (pauseOf(end) && (await resumed(thread, id(end), inputs)));
    if (!after) return id(end);
    run = after;
  }
}

// The run that went on from a pause.
async function resumed(thread, checkpoint, inputs) {
  const begun = new Set(inputs.map((each) => each.metadata.run_id));
  for (const { run_id: run } of await json(`/threads/${thread}/runs?limit=1000`)) {
    if (!begun.has(run) && (await beginOf(thread, run)) === checkpoint) return run;
  }
  return null;
}

// As `make_plain` and `escape_marks` of the server: anybody's words as a line of Markdown without link, picture, tag or form.
const LIVE = /\](?=[(:])|\[(?=\[)|<(?=[a-z/!?]|[^\s<>@]*@)|:(?=[/\\]{2})|(?<=https?|ftp|wss?|file|mailto|xmpp):(?=\S)|\/\/(?=[\w-]+\.)|(?<![\p{L}\p{N}])www(?=\.)/giu;
const MARKS = /[\\`*~]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^(?=[#+>-])|(?<=^\d{1,9})(?=[.)])/gu;

const plain = (text) => text.replace(/\s+/g, " ").replace(/[\p{Cc}\p{Cf}]/gu, "").trim().slice(0, 10_000).replace(LIVE, "$& ").replace(MARKS, "\\$&");

export const asMarkdown = (title, turns) => `# ${plain(title)}\n\n${turns.map(({ values }) => turnAsMarkdown(values)).join("\n")}`;

export function turnAsMarkdown(values) {
  const parts = [`## ${plain(values.original_question)}`, values.answer || "*No answer.*"];
  for (const each of firstOfEach(values.citations ?? [])) {
    // Passages that are shown whole are the answer: their words stand there already.
    const quote = values.route?.name === "compose" ? "" : `\n> ${plain(each.quote)}`;
    parts.push(`[${each.marker}] ${plain(where(each))} (${named(each.grade)})${quote}`);
  }
  for (const { text, reason, nearest } of values.unconfirmed ?? []) {
    const told = [named("not_confirmed"), reason].filter(Boolean).join(": ");
    parts.push(`[?] ${plain(text)} (${plain(told)})${nearest ? `\n> Nearest words: ${plain(nearest)}` : ""}`);
  }
  return `${parts.join("\n\n")}\n`;
}

export const where = (each) => `${each.title || each.source}${each.page ? `, page ${each.page}` : ""}`;

// All that is known of each answer, for programs.
export const asJson = (title, thread, turns) =>
  `${JSON.stringify({ title, thread_id: thread, turns: turns.map(asRecord) }, null, 2)}\n`;

const KEPT = ["answer", "status", "citations", "unconfirmed", "verification", "inferred_filter", "degraded", "queries", "evidence", "route", "candidates", "passages", "usage", "trace"];

// Under the names of `anabranch ask --json`.
const asRecord = ({ ended, values }) => ({
  run_id: ended,
  question: values.original_question,
  ...Object.fromEntries(KEPT.filter((name) => name in values).map((name) => [name, values[name]])),
});

export function firstOfEach(citations) {
  const found = new Map();
  for (const each of citations) if (!found.has(each.marker)) found.set(each.marker, each);
  return [...found.values()].sort((a, b) => a.marker - b.marker);
}
