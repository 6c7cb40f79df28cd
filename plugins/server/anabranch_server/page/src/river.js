// The river of a run: what was searched for, how the lists flowed together, what was merged, and what each step cost.

import { html } from "./html.js";

export const STEPS = {
  begin: "opening the corpus",
  condense: "reading the conversation",
  rewrite: "choosing what to search for",
  retrieve: "searching",
  fuse: "joining the lists",
  rerank: "ordering the passages",
  merge: "joining neighbouring passages",
  grade: "judging the evidence",
  widen: "searching all documents",
  follow: "looking for what has to be known first",
  survey: "listing every passage",
  pack: "choosing how to answer",
  create: "writing",
  refine: "reading on",
  map: "reading all windows",
  installed: "writing",
  gather: "laying out the parts",
  reduce: "joining the parts",
  cite: "checking the quotes",
  abstain: "finding no answer",
  finish: "finishing",
};
const SHOWN = 24;
const seconds = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`);

export function River({ values, open }) {
  const { trace = [], queries = [], route, usage = {}, evidence, chain, standalone_question: asked, original_question: question } = values;
  return html`<section class="river" aria-label="How it was found">
    <h3>Searched for</h3>
    ${asked && asked !== question && html`<p class="faint">Understood as: <bdi>${asked}</bdi></p>`}
    <ol class="queries">
      ${queries.map((each) => html`<li><bdi>${each.text}</bdi> <span class="faint">${each.kind}, weight ${Number(each.weight.toFixed(2))}</span></li>`)}
    </ol>
    ${chain?.links?.length > 0 &&
    html`<h3>Found first, and searched for next</h3>
      <ol class="queries">
        ${chain.links.map(
          (each) => html`<li>
            <bdi>${each.asked}</bdi>${" → "}
            <button type="button" class="plain" onClick=${(event) => open({ ...each, quote: each.value, title: each.value, source: "" }, event.currentTarget)}><bdi>${each.value}</bdi></button>
            ${" → "}<bdi>${each.query}</bdi>
          </li>`,
        )}
      </ol>`}
    <${Flow} values=${values} open=${open} />
    ${evidence?.verdict && html`<h3>Evidence: ${evidence.verdict}</h3><ul>${evidence.reasons.map((each) => html`<li>${each}</li>`)}</ul>`}
    ${route?.name && html`<h3>Written by: ${route.name}</h3><ul>${route.reasons.map((each) => html`<li>${each}</li>`)}</ul>`}
    <h3>Steps</h3>
    <p class="faint">${usage.calls ?? 0} model calls in ${usage.rounds ?? 0} rounds, ${usage.prompt_tokens ?? 0} tokens read, ${usage.output_tokens ?? 0} written.</p>
    <${Steps} trace=${trace} />
  </section>`;
}

function Steps({ trace }) {
  const most = Math.max(1, ...trace.map((each) => each.ms));
  return html`<div class="wide" tabindex="0" role="region" aria-label="Steps of the run">
    <table class="steps">
      <thead><tr><th scope="col">Step</th><th scope="col">Time</th><th scope="col">Calls</th><th scope="col">Tokens</th></tr></thead>
      <tbody>
        ${trace.map((each, at) => {
          const beside = at > 0 && trace[at - 1].round === each.round;
          return html`<tr class=${beside ? "beside" : ""}>
            <th scope="row">${each.node}<br /><span class="faint">${STEPS[each.node]}${beside && ", at the same time"}</span></th>
            <td><meter min="0" max=${most} value=${each.ms} aria-label=${`Time of ${each.node}`}></meter> ${seconds(each.ms)}</td>
            <td>${each.calls || ""}</td>
            <td>${each.prompt_tokens + each.output_tokens || ""}</td>
          </tr>
          ${said(each.counts) && html`<tr class=${`said ${beside ? "beside" : ""}`}><td class="faint" colspan="4">${said(each.counts)}</td></tr>`}`;
        })}
      </tbody>
    </table>
  </div>`;
}

function said(counts) {
  return Object.entries(counts)
    .filter(([, value]) => !(Array.isArray(value) && !value.length))
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
}

// Each candidate is a thread of water from its ranks in the lists to its rank after fusion and into its passage.
function Flow({ values, open }) {
  const { candidates = [], passages = [], citations = [] } = values;
  if (!candidates.length) return null;
  const arms = [...new Set(candidates.flatMap((each) => Object.keys(each.ranks)))].sort();
  const columns = [...arms, "joined", "passages"];
  const into = new Map(passages.flatMap((each, at) => each.leaves.map((leaf) => [leaf, at])));
  const cited = new Set(citations.map((each) => each.chunk_id));
  const isCited = (each) => cited.has(each.id) || cited.has(passages[into.get(each.id)]?.id);
  const deepest = Math.max(SHOWN, ...candidates.flatMap((each) => Object.values(each.ranks)));
  const width = 150 * (columns.length - 1) + 80;
  const x = (column) => 40 + 150 * columns.indexOf(column);
  const y = (rank, most) => 30 + (190 * (rank - 1)) / Math.max(most - 1, 1);
  const lines = candidates.map((each) => {
    const points = arms.filter((arm) => each.ranks[arm]).map((arm) => [x(arm), y(each.ranks[arm], deepest)]);
    points.push([x("joined"), y(each.fused, deepest)]);
    if (into.has(each.id)) points.push([x("passages"), y(into.get(each.id) + 1, Math.max(passages.length, 2))]);
    const path = points.map(([px, py], at) => (at === 0 ? `M${px},${py}` : `C${px - 75},${points[at - 1][1]} ${px - 75},${py} ${px},${py}`)).join("");
    return { path, points, strong: isCited(each) };
  });
  lines.sort((a, b) => a.strong - b.strong);
  return html`<h3>Lists, and how they flowed together</h3>
    <div class="wide" tabindex="0" role="region" aria-label="Picture of the ranks">
      <svg class="flow" viewBox=${`0 0 ${width} 235`} role="img" aria-label="Ranks of each passage in the lists, after joining them, and in the answer; cited ones are emphasised. The table below says the same.">
        ${columns.map((each) => html`<text x=${x(each)} y="16" text-anchor="middle">${each}</text>`)}
        ${lines.map(({ path, points, strong }) => html`<g class=${strong ? "strong" : ""}><path d=${path} />${points.map(([px, py]) => html`<circle cx=${px} cy=${py} r=${strong ? 3.5 : 2} />`)}</g>`)}
      </svg>
    </div>
    <details>
      <summary>Passages and their ranks</summary>
      <${Passages} values=${values} open=${open} />
    </details>`;
}

export function Passages({ values, open, ranks = true, most = Infinity }) {
  const { candidates = [], passages = [], citations = [] } = values;
  const byId = new Map(candidates.map((each) => [each.id, each]));
  const cited = new Set(citations.map((each) => each.chunk_id));
  return html`<ol class="passages">
    ${passages.slice(0, most).map((each) => {
      const leaves = each.leaves.map((leaf) => byId.get(leaf)).filter(Boolean);
      const told = leaves.map((leaf) => `${Object.entries(leaf.ranks).map(([arm, rank]) => `${arm} ${rank}`).join(", ")}, joined ${leaf.fused}`);
      return html`<li>
        <button type="button" class="plain" onClick=${(event) => open({ ...each, chunk_id: each.id, title: "" }, event.currentTarget)}>
          ${each.source}${each.page ? `, page ${each.page}` : ""}
        </button>
        ${cited.has(each.id) && html` <span class="grade quoted">cited</span>`}
        ${ranks && each.leaves.length > 1 && html` <span class="grade">merged from ${each.leaves.length}</span>`}
        <br /><bdi>${each.preview}…</bdi>
        ${ranks && html`<br /><span class="faint">${told.join("; ")}</span>`}
      </li>`;
    })}
  </ol>`;
}
