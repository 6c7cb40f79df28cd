// An answer as elements. It is a model's text and may say anything: it becomes text nodes and never HTML, and an
// address in it becomes no link.

import { html } from "./html.js";
import { NUMBERED, unplaced } from "./markers.js";
import { isRow, isRule, table, takeTable } from "./table.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/;
const QUOTED = /^\s*(?:>\s?)+(.*)$/;
const INLINE = new RegExp(
  String.raw`(\`[^\`\n]+\`)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?!\w)|${NUMBERED}|!?\[([^\]\n]*)\]\([^)\s]*\)`,
  "g",
);

// `marker` makes the element of a marker from its number and its place, `wrap` what a piece of text is shown as.
export function markdown(text, marker, wrap = (piece) => piece) {
  const inline = (line) => spans(line, marker, wrap);
  const lines = text.split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length; ) {
    const start = at;
    const take = (fits) => {
      while (at < lines.length && fits(lines[at])) at += 1;
      return lines.slice(start, at);
    };
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (!line.trim()) at += 1;
    else if (FENCE.test(line)) {
      at += 1;
      while (at < lines.length && !FENCE.test(lines[at])) at += 1;
      blocks.push(html`<pre tabindex="0"><code>${unplaced(lines.slice(start + 1, at).join("\n"))}</code></pre>`);
      at += 1;
    } else if (heading) {
      at += 1;
      // Below the question, which is a heading of the second level.
      blocks.push(heading[1].length > 2 ? html`<h4 dir="auto">${inline(heading[2])}</h4>` : html`<h3 dir="auto">${inline(heading[2])}</h3>`);
    } else if (isRow(line) && isRule(lines[at + 1] ?? "")) {
      const [rows, end] = takeTable(lines, at);
      blocks.push(table(lines, rows, (row, from, to) => inline(lines[row].slice(from, to))));
      at = end;
    } else if (QUOTED.test(line)) {
      const inner = take((each) => QUOTED.test(each)).map((each) => QUOTED.exec(each)[1]);
      blocks.push(html`<blockquote>${markdown(inner.join("\n"), marker, wrap)}</blockquote>`);
    } else if (ITEM.test(line)) {
      const taken = take((each) => ITEM.test(each) || (/^\s+\S/.test(each) && !FENCE.test(each)));
      blocks.push(list(taken, inline));
    } else {
      const taken = take((each) => each.trim() && !FENCE.test(each) && !HEADING.test(each) && !ITEM.test(each) && !QUOTED.test(each));
      blocks.push(html`<p dir="auto">${inline((taken.length ? taken : [lines[at++]]).join("\n"))}</p>`);
    }
  }
  return blocks;
}

const DEEPEST = 6; // lists within lists; a text may be made to go down without end

function list(lines, inline, depth = 1) {
  const items = [];
  const first = ITEM.exec(lines[0]);
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found && found[1].length <= first[1].length) items.push({ text: found[3], inner: [] });
    else items.at(-1).inner.push(line.slice(first[1].length));
  }
  const shown = items.map(
    ({ text, inner }) =>
      html`<li>
        ${inline(text)}
        ${inner.length > 0 && (ITEM.test(inner[0]) && depth < DEEPEST ? list(inner, inline, depth + 1) : html` ${inline(inner.map((each) => each.trim()).join(" "))}`)}
      </li>`,
  );
  if (!/\d/.test(first[2])) return html`<ul dir="auto">${shown}</ul>`;
  return html`<ol dir="auto" start=${parseInt(first[2], 10)}>${shown}</ol>`;
}

function spans(text, marker, wrap) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, number, place, label] = found;
    if (found.index > from) parts.push(wrap(text.slice(from, found.index)));
    from = found.index + whole.length;
    if (code) parts.push(html`<code>${unplaced(code.slice(1, -1))}</code>`);
    else if (strong) parts.push(html`<strong>${spans(strong, marker, wrap)}</strong>`);
    else if (emphasis) parts.push(html`<em>${spans(emphasis, marker, wrap)}</em>`);
    else if (number) parts.push(marker(Number(number), Number(place)));
    else parts.push(label);
  }
  if (from < text.length) parts.push(wrap(text.slice(from)));
  return parts;
}
