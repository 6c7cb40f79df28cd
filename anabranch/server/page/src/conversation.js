// A conversation as the checkpoints of its thread tell it: a tree, of which one line is shown at a time.

import { json, post } from "./server.js";

const id = (state) => state.checkpoint?.checkpoint_id ?? state.checkpoint_id ?? null;
const parent = (state) => state.parent_checkpoint?.checkpoint_id ?? null;

export async function load(thread, tip) {
  // A run begins with a checkpoint "input"; what it goes on from is the parent of that.
  const inputs = (await post(`/threads/${thread}/history`, { limit: 1000, metadata: { source: "input" } })).reverse();
  const begins = new Map(inputs.map((each) => [id(each), each]));
  // A first question that was edited begins from the first input itself, of which nothing was applied yet.
  const base = (input) => (begins.has(parent(input)) ? null : parent(input));
  const turns = [];
  let state = tip ? await at(thread, tip) : await latest(thread, inputs);
  while (state) {
    const run = state.metadata?.run_id;
    const mine = inputs.findLast((each) => each.metadata?.run_id === run);
    if (!mine) break;
    const from = base(mine);
    const rivals = inputs.filter((each) => base(each) === from && (from !== null || isFirst(each)));
    if (!(state.next ?? []).includes("__start__")) {
      turns.unshift({
        run,
        values: state.values,
        checkpoint: id(state),
        // Where another version of this question would go on from.
        base: from ?? id(rivals[0] ?? mine),
        versions: [...new Set(rivals.map((each) => each.metadata.run_id))],
        unfinished: (state.next ?? []).length > 0,
        waits: (state.interrupts ?? []).length > 0,
      });
    }
    state = from === null ? null : await at(thread, from);
  }
  return turns;

  function isFirst(input) {
    return parent(input) === null || begins.has(parent(input));
  }
}

const at = (thread, checkpoint) => json(`/threads/${thread}/state/${checkpoint}`);

async function latest(thread, inputs) {
  return inputs.length ? json(`/threads/${thread}/state`) : null;
}

// The last checkpoint of a version of a question, and of what was asked after it.
export async function tipOf(thread, run) {
  const inputs = (await post(`/threads/${thread}/history`, { limit: 1000, metadata: { source: "input" } })).reverse();
  for (;;) {
    const [end] = await post(`/threads/${thread}/history`, { limit: 1, metadata: { run_id: run } });
    if (!end) return null;
    const next = inputs.findLast((each) => parent(each) === id(end));
    if (!next) return id(end);
    run = next.metadata.run_id;
  }
}

export function asMarkdown(title, turns) {
  const parts = [`# ${title}`];
  for (const { values } of turns) {
    parts.push(`## ${values.original_question}`, values.answer || "*No answer.*");
    for (const each of firstOfEach(values.citations ?? [])) {
      const page = each.page ? `, page ${each.page}` : "";
      parts.push(`[${each.marker}] ${each.title || each.source}${page} (${each.grade})\n> ${each.quote.replace(/\n/g, "\n> ")}`);
    }
  }
  return `${parts.join("\n\n")}\n`;
}

export function firstOfEach(citations) {
  const found = new Map();
  for (const each of citations) if (!found.has(each.marker)) found.set(each.marker, each);
  return [...found.values()].sort((a, b) => a.marker - b.marker);
}
