// The page of a document with the quote marked on it; where there is no picture, the text around it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { GRADES } from "./grades.js";
import { html } from "./html.js";
import { json, request } from "./server.js";
import { isRow, table, takeTable } from "./table.js";

export function Source({ cite, choose, close }) {
  const [reply, setReply] = useState(null);
  const [number, setNumber] = useState(null);
  const [fault, setFault] = useState("");
  const heading = useRef();
  const passage = useRef();
  // Not that of the one before, while this one is on its way.
  const found = reply?.of === cite ? reply.passage : null;
  const span = cite.end > cite.start ? `start=${cite.start}&end=${cite.end}` : "";

  useEffect(() => {
    const ends = new AbortController();
    setFault("");
    setNumber(null);
    // Who goes from part to part stays there.
    if (!heading.current?.closest("aside").contains(document.activeElement)) heading.current?.focus();
    json(`/passages/${encodeURIComponent(cite.chunk_id)}?${span}`, { signal: ends.signal })
      .then((passage) => {
        // What is cited may go on for pages; its own is that of the words that fit best.
        const page = passage.page === null ? null : (cite.page ?? passage.page);
        setReply({ of: cite, passage: { ...passage, page } });
        setNumber(page);
      })
      .catch((error) => ends.signal.aborted || setFault(error.status === 404 ? "This passage is not in the documents of this server any more, or comes from another retriever." : error.message));
    return () => ends.abort();
  }, [cite]);

  // Beside the picture of a page, that is where to look.
  useLayoutEffect(() => {
    if (found && number === null) passage.current.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }, [found, number]);

  const link = /^https?:/.test(cite.link ?? "") ? cite.link : null;
  return html`<aside class="source" aria-label="Source">
    <header>
      <h2 ref=${heading} tabindex="-1" dir="auto" title=${cite.title || cite.source}>${cite.title || cite.source}</h2>
      <button type="button" class="icon" aria-label="Close the source" onClick=${close}>✕</button>
    </header>
    <p class="faint" dir="auto">${[found?.heading ?? cite.heading, cite.source].filter(Boolean).join(" · ")}</p>
    ${cite.grade && html`<p><span class=${`grade ${cite.grade}`}>${GRADES[cite.grade]}</span></p>`}
    ${cite.parts && html`<p class="parts">
      ${cite.parts.map((each, at) => html`<button type="button" class="plain" aria-pressed=${each.chunk_id + each.start === cite.chunk_id + cite.start ? "true" : "false"} onClick=${() => choose({ ...each, parts: cite.parts })}>Part ${at + 1} of ${cite.parts.length}</button>`)}
    </p>`}
    ${fault && html`<p role="alert">${fault}</p>${cite.quote && html`<blockquote dir="auto">${cite.quote}</blockquote>`}`}
    ${found && number !== null && html`<${Sheet} passage=${found} number=${number} setNumber=${setNumber} span=${span} />`}
    ${found &&
    html`<section ref=${passage} class="passage" aria-label="Text of the passage">
      <h3>Text of the passage</h3>
      ${words(found)}
    </section>`}
    ${link && html`<p><a href=${link} target="_blank" rel="noopener noreferrer">Open the original</a></p>`}
  </aside>`;
}

// Paragraphs, and tables where the text has rows of one; what is quoted is marked.
function words({ before, quote, after }) {
  const text = before + quote + after;
  const [first, last] = [before.length, before.length + quote.length];
  const marked = (start, end) => {
    const [from, to] = [Math.max(start, first), Math.min(end, last)];
    return from < to ? html`${text.slice(start, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to, end)}` : text.slice(start, end);
  };
  const lines = text.split("\n");
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const blocks = [];
  let from = 0;
  const paragraph = (to) => {
    const end = starts[to] - 1;
    if (text.slice(starts[from], end).trim()) blocks.push(html`<p dir="auto">${marked(starts[from], end)}</p>`);
  };
  for (let at = 0; at < lines.length; at += 1) {
    // One row alone may be prose with bars, unless it begins as readers write a table.
    if (!isRow(lines[at]) || !(lines[at].startsWith("| ") || isRow(lines[at + 1] ?? ""))) continue;
    paragraph(at);
    const [rows, end] = takeTable(lines, at);
    blocks.push(table(lines, rows, (row, start, stop) => marked(starts[row] + start, starts[row] + stop)));
    from = end;
    at = end - 1;
  }
  paragraph(lines.length);
  return blocks;
}

// `span` are the words to be marked; without them, a page is only shown.
export function Sheet({ passage, number, setNumber, span }) {
  const [sheet, setSheet] = useState(null);
  const mark = useRef();
  const place = `/documents/${encodeURIComponent(passage.doc_id)}/pages/${number}`;
  const asked = `${place} ${passage.chunk_id} ${span}`;
  useEffect(() => {
    const ends = new AbortController();
    let url = null;
    (async () => {
      const marks = await json(`${place}/marks${passage.chunk_id ? `?chunk_id=${passage.chunk_id}&${span}` : ""}`, { signal: ends.signal });
      if (!marks.reason) {
        // Fetched and not linked: a picture's address carries no key.
        const picture = await request(`${place}.png`, { signal: ends.signal });
        url = URL.createObjectURL(await picture.blob());
      }
      if (ends.signal.aborted) return url && URL.revokeObjectURL(url);
      setSheet({ ...marks, url, asked, doc: passage.doc_id });
    })().catch((error) => ends.signal.aborted || setSheet({ reason: "fault", told: error.message, asked }));
    return () => {
      ends.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [asked]);

  const isDrawn = sheet?.asked === asked;
  const drawing = html`<p class="faint" role="status">Page ${number} is being drawn.</p>`;
  if (isDrawn && sheet.reason) return html`<p class="note">${sheet.told}</p>`;
  // While another page is drawn, what turns the pages stays, and so does its focus.
  if (!isDrawn && sheet?.doc !== passage.doc_id) return drawing;
  const { width, height, boxes, on, pages, url } = sheet;
  const isQuoted = Boolean(passage.chunk_id && span);
  const elsewhere = on.filter((each) => each !== number);
  const told = boxes.length ? "the quote is marked" : "nothing is marked";
  return html`<figure>
    ${!isDrawn && drawing}
    ${isDrawn && html`<div class="sheet">
      <img src=${url} onLoad=${() => mark.current?.scrollIntoView({ block: "nearest" })} alt=${`Page ${number} of ${passage.title}${isQuoted ? `; ${told}` : ""}`} />
      <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        ${boxes.map(([x0, y0, x1, y1], at) => html`<rect ref=${at === 0 ? mark : undefined} x=${x0 - 1} y=${y0 - 1} width=${x1 - x0 + 2} height=${y1 - y0 + 2} rx="1.5" />`)}
      </svg>
    </div>`}
    <figcaption>
      <button type="button" class="icon" aria-label="Previous page" disabled=${number <= 1} onClick=${() => setNumber(number - 1)}>‹</button>
      <span>Page ${number} of ${pages}</span>
      <button type="button" class="icon" aria-label="Next page" disabled=${number >= pages} onClick=${() => setNumber(number + 1)}>›</button>
      ${isDrawn && elsewhere.map((each) => html`<button type="button" class="plain" onClick=${() => setNumber(each)}>The quote is also on page ${each}</button>`)}
      ${isQuoted && number !== passage.page && html`<button type="button" class="plain" onClick=${() => setNumber(passage.page)}>Back to page ${passage.page}</button>`}
    </figcaption>
    ${isDrawn && isQuoted && !on.length && number === passage.page && html`<p class="note">The exact place was not found on the drawn page, so nothing is marked there.</p>`}
  </figure>`;
}
