// Which documents a question is asked of: their sources, and folders as patterns that end with a star.

import { html } from "./html.js";

export const patternOf = (folder) => `${folder.replace(/[[*?]/g, "[$&]")}*`;
const isPattern = (each) => each.endsWith("*");
const labelOf = (each) => (isPattern(each) ? each.slice(0, -1).replace(/\[([[*?])\]/g, "$1") : each);

// In the language of filters, and back; nothing is chosen where all are asked.
export function filtersOf(chosen) {
  const sources = chosen.filter((each) => !isPattern(each));
  const parts = chosen.filter(isPattern).map((glob) => ({ source: { glob } }));
  if (sources.length) parts.push({ source: { in: sources } });
  return parts.length ? { or: parts } : null;
}

export const chosenOf = (filters) => (filters?.or ?? []).flatMap(({ source }) => source?.glob ?? source?.in ?? []);

const NAMED = 3;

export function Choice({ chosen, clear }) {
  if (!chosen.length) return null;
  const others = chosen.length - NAMED;
  return html`<p class="choice">
    <span class="faint">${clear ? "Asks only" : "Asked only"}</span>
    ${chosen.slice(0, NAMED).map((each) => html` <span class="tag" dir="auto">${labelOf(each)}</span>`)}
    ${others > 0 && ` and ${others} more`}
    ${clear && html` <button type="button" class="plain" onClick=${clear}>Ask all documents</button>`}
  </p>`;
}
