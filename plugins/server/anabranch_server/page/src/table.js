// Tables of Markdown: their rows, cells and headers, as answers and the text of passages have them.

import { html } from "./html.js";

const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;
const CELL = /((?:\\.|[^|\\])*)\|/g;

export const isRow = (line) => ROW.test(line);
export const isRule = (line) => RULE.test(line);

// The cells of a row as [start, end) in it, without the blanks around them.
function cellsOf(line) {
  const first = line.indexOf("|") + 1;
  return [...line.slice(first).matchAll(CELL)].map(({ 1: cell, index }) => {
    const start = first + index + cell.length - cell.trimStart().length;
    return [start, start + cell.trim().length];
  });
}

// Takes the table that begins at a line: its rows, each the number of a line, and the number of the line behind it. A
// document says the header again with every few rows, for those who find them alone; here once is enough.
export function takeTable(lines, at) {
  const header = lines[at].trim();
  const rows = [];
  for (let next = at; ; ) {
    for (at = next; at < lines.length && isRow(lines[at]); at += 1) {
      if (!isRule(lines[at]) && (!rows.length || lines[at].trim() !== header)) rows.push(at);
    }
    next = at;
    while (next < lines.length && !lines[next].trim()) next += 1;
    if (lines[next]?.trim() !== header) return [rows, at];
  }
}

// `shown` makes what stands in a cell from the number of its line, and where in that it is.
export function table(lines, rows, shown) {
  const cells = (row) => cellsOf(lines[row]).map(([start, end]) => shown(row, start, end));
  const [head, ...rest] = rows;
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table">
    <table>
      <thead><tr>${cells(head).map((each) => html`<th scope="col" dir="auto">${each}</th>`)}</tr></thead>
      <tbody>${rest.map((row) => html`<tr>${cells(row).map((each) => html`<td dir="auto">${each}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}
