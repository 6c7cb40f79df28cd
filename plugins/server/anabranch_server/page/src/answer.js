// An answer with its markers, the card of a marker, and what became of each claim.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { where } from "./conversation.js";
import { GRADES, named } from "./grades.js";
import { html } from "./html.js";
import { markdown } from "./markdown.js";
import { placed } from "./markers.js";

const LINGER = 200;

// `kind` says what the first line of the text says: what became of the question, or that these are passages.
// `after` stands behind that line.
export function Answer({ text, kind, citations, unconfirmed, busy, open, shown, after }) {
  const [card, setCard] = useState(null);
  const timer = useRef();
  const touched = useRef(false);
  const stay = () => clearTimeout(timer.current);
  const leave = () => {
    stay();
    timer.current = setTimeout(() => setCard(null), LINGER);
  };
  const show = (cite, element) => {
    stay();
    setCard({ cite, element });
  };
  useEffect(() => stay, []);

  const { numbered, places } = useMemo(() => placed(text, citations), [text, citations]);
  const marker = (number, place) => {
    const cite = places[place];
    if (!cite) return html`<span class="marker">${number}</span>`;
    const { grade } = cite;
    const active = card?.cite === cite;
    // No card comes with the focus that comes back when the source is closed.
    return html`<button
      type="button"
      class=${`marker ${grade}`}
      aria-label=${`Source ${number}, ${named(grade)}: ${where(cite)}`}
      aria-describedby=${active ? "card" : undefined}
      aria-pressed=${(cite.parts ?? [cite]).some((each) => shown === each.chunk_id + each.start) ? "true" : "false"}
      onPointerEnter=${(event) => event.pointerType !== "touch" && show(cite, event.currentTarget)}
      onPointerLeave=${(event) => event.pointerType !== "touch" && leave()}
      onPointerDown=${(event) => (touched.current = event.pointerType === "touch" && !active)}
      onFocus=${(event) => !event.relatedTarget?.closest(".source") && show(cite, event.currentTarget)}
      onBlur=${leave}
      onClick=${(event) => {
        // A finger has nothing to hover with: the first tap shows the quote, the second opens the page.
        if (touched.current) return void (touched.current = false) || show(cite, event.currentTarget);
        setCard(null);
        open(cite, event.currentTarget);
      }}
    >${number}</button>`;
  };
  const wrap = (piece) => withUnconfirmed(piece, unconfirmed);

  const [first, ...rest] = markdown(numbered, marker, wrap);
  return html`<div class="answer" data-kind=${kind} aria-busy=${busy ? "true" : "false"}>
    ${first}${after}${rest}
    ${card &&
    html`<${Card} ...${card} grade=${card.cite.grade} onEnter=${stay} onLeave=${leave} close=${() => setCard(null)}
      open=${() => {
        setCard(null);
        open(card.cite, card.element);
      }} />`}
  </div>`;
}

const SIGN = "[?]";

// The answer has a sign behind each claim that is not confirmed. Only the claim before it is underlined: its words may
// stand elsewhere, too, and be found there.
function withUnconfirmed(piece, unconfirmed) {
  const at = piece.indexOf(SIGN);
  if (at < 0) return piece;
  const text = piece.slice(0, at).trimEnd();
  const [claim] = unconfirmed.filter((each) => text.endsWith(each.text)).sort((a, b) => b.text.length - a.text.length);
  const near = claim?.nearest && `nearest words: ${claim.nearest}`;
  const told = [GRADES.not_confirmed, claim?.reason, near].filter(Boolean).join("; ");
  return [
    text.slice(0, text.length - (claim?.text.length ?? 0)),
    claim && html`<span class="not_confirmed" title=${told}>${claim.text}</span>`,
    html` <span class="marker not_confirmed" title=${told}>?<span class="hidden"> ${told}</span></span>`,
    withUnconfirmed(piece.slice(at + SIGN.length), unconfirmed),
  ];
}

function Card({ cite, element, grade, open, onEnter, onLeave, close }) {
  const own = useRef();
  // Before it is painted: it comes where it stays, and listens only while it is there.
  useLayoutEffect(() => {
    const at = element.getBoundingClientRect();
    const card = own.current;
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - card.offsetWidth - 8));
    const above = at.top - card.offsetHeight - 6;
    card.style.left = `${left}px`;
    card.style.top = `${above > 8 ? above : at.bottom + 6}px`;
    const leave = () => onLeave();
    // Wherever the focus is: a finger, or a pointer that hovers, leaves it elsewhere.
    const pressed = (event) => event.key === "Escape" && (event.preventDefault(), close());
    addEventListener("scroll", leave, true);
    addEventListener("keydown", pressed, true);
    return () => {
      removeEventListener("scroll", leave, true);
      removeEventListener("keydown", pressed, true);
    };
  }, [element]);
  return html`<div ref=${own} id="card" role="tooltip" class="card" onPointerEnter=${onEnter} onPointerLeave=${onLeave}>
    <strong dir="auto">${where(cite)}</strong>
    ${cite.heading && cite.heading !== cite.title && html`<span class="faint" dir="auto">${cite.heading}</span>`}
    <blockquote dir="auto">${cite.quote}</blockquote>
    <span class=${`grade ${grade}`}>${GRADES[grade]}</span>
    <button type="button" class="plain" tabindex="-1" onClick=${open}>Show it in the document</button>
  </div>`;
}

export function Claims({ citations, verification, unconfirmed, open }) {
  const { claims = 0, quoted = 0, found = 0, not_confirmed = 0, checked = "" } = verification;
  if (!claims) return null;
  const rows = [
    ...citations,
    ...unconfirmed.map((each) => ({ grade: "not_confirmed", claim: each.text, reason: each.reason, nearest: each.nearest })),
  ];
  const counts = [[quoted, "quoted"], [found, "found"], [not_confirmed, "not_confirmed"]];
  return html`<details class="claims">
    <summary>
      ${claims} ${claims === 1 ? "claim" : "claims"}:
      ${counts
        .filter(([count, grade]) => count > 0 || grade === "not_confirmed")
        .map(([count, grade]) => html` <span class=${`grade ${grade} ${count ? "" : "none"}`}>${count} ${named(grade)}</span>`)}
    </summary>
    <ul>
      ${rows.map(
        (row) => html`<li>
          <span class=${`grade ${row.grade}`}>${named(row.grade)}</span> <bdi>${row.claim.replaceAll("**", "")}</bdi>
          ${row.reason && html` <span class="faint" dir="auto">(${row.reason})</span>`}
          ${row.quote && html`<blockquote dir="auto">${row.quote}</blockquote>`}
          ${row.nearest && html`<blockquote dir="auto"><span class="faint">Nearest words:</span> ${row.nearest}</blockquote>`}
          ${row.chunk_id &&
          html`<button type="button" class="plain" onClick=${(event) => open(row, event.currentTarget)}>${where(row)}</button>`}
        </li>`,
      )}
    </ul>
    ${checked && html`<p class="faint">${checked}.</p>`}
  </details>`;
}
