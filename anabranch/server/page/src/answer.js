// An answer with its markers, the card of a marker, and what became of each claim.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { markdown } from "./markdown.js";
import { placed } from "./markers.js";

export const GRADES = {
  quoted: "Quoted: the words stand in the document",
  found: "Found: a passage says so in another form",
  not_confirmed: "Not confirmed: it could not be matched to a passage",
  contradicted: "Contradicted by the document",
};
const LINGER = 200;
const named = (grade) => grade.replace("_", " ");

export const where = (each) => `${each.title || each.source}${each.page ? `, page ${each.page}` : ""}`;

export function Answer({ text, citations, verification, unsupported, busy, open, shown }) {
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

  const gradeOf = (cite) => (isContradicted(cite, verification) ? "contradicted" : cite.grade);
  const { numbered, places } = useMemo(() => placed(text, citations), [text, citations]);
  const marker = (number, place) => {
    const cite = places[place];
    if (!cite) return html`<span class="marker">${number}</span>`;
    const grade = gradeOf(cite);
    const active = card?.cite === cite;
    return html`<button
      type="button"
      class=${`marker ${grade}`}
      aria-label=${`Source ${number}, ${named(grade)}: ${where(cite)}`}
      aria-describedby=${active ? "card" : undefined}
      aria-pressed=${shown === cite.chunk_id + cite.start ? "true" : "false"}
      onPointerEnter=${(event) => event.pointerType !== "touch" && show(cite, event.currentTarget)}
      onPointerLeave=${(event) => event.pointerType !== "touch" && leave()}
      onPointerDown=${(event) => (touched.current = event.pointerType === "touch" && !active)}
      onFocus=${(event) => show(cite, event.currentTarget)}
      onBlur=${leave}
      onKeyDown=${(event) => event.key === "Escape" && card && (event.preventDefault(), setCard(null))}
      onClick=${(event) => {
        // A finger has nothing to hover with: the first tap shows the quote, the second opens the page.
        if (touched.current) return void (touched.current = false) || show(cite, event.currentTarget);
        setCard(null);
        open(cite, event.currentTarget);
      }}
    >${number}</button>`;
  };
  const wrap = (piece) => withUnsupported(piece, unsupported, refuted(verification));

  return html`<div class="answer" aria-busy=${busy ? "true" : "false"}>
    ${markdown(numbered, marker, wrap)}
    ${card &&
    html`<${Card} ...${card} grade=${gradeOf(card.cite)} onEnter=${stay} onLeave=${leave}
      open=${() => {
        setCard(null);
        open(card.cite, card.element);
      }} />`}
  </div>`;
}

const refuted = (verification) => new Set((verification.contradicted ?? []).map((each) => each.claim));

function isContradicted(cite, verification) {
  return cite.judged === "contradicted" || refuted(verification).has(cite.claim);
}

const SIGN = "[?]";

// The answer has a sign behind each claim that is not confirmed. Only the claim before it is underlined: its words may
// stand elsewhere, too, and be found there.
function withUnsupported(piece, unsupported, against) {
  const at = piece.indexOf(SIGN);
  if (at < 0) return piece;
  const text = piece.slice(0, at).trimEnd();
  const [claim = ""] = unsupported.filter((each) => each && text.endsWith(each)).sort((a, b) => b.length - a.length);
  const grade = against.has(claim) ? "contradicted" : "not_confirmed";
  return [
    text.slice(0, text.length - claim.length),
    claim && html`<span class="not_confirmed" title=${GRADES[grade]}>${claim}</span>`,
    html` <span class=${`marker ${grade}`} title=${GRADES[grade]}>${grade === "contradicted" ? "!" : "?"}<span class="hidden"> ${GRADES[grade]}</span></span>`,
    withUnsupported(piece.slice(at + SIGN.length), unsupported, against),
  ];
}

function Card({ cite, element, grade, open, onEnter, onLeave }) {
  const own = useRef();
  useEffect(() => {
    const at = element.getBoundingClientRect();
    const card = own.current;
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - card.offsetWidth - 8));
    const above = at.top - card.offsetHeight - 6;
    card.style.left = `${left}px`;
    card.style.top = `${above > 8 ? above : at.bottom + 6}px`;
    const close = () => onLeave();
    addEventListener("scroll", close, true);
    return () => removeEventListener("scroll", close, true);
  }, [element]);
  return html`<div ref=${own} id="card" role="tooltip" class="card" onPointerEnter=${onEnter} onPointerLeave=${onLeave}>
    <strong dir="auto">${where(cite)}</strong>
    ${cite.heading && html`<span class="faint" dir="auto">${cite.heading}</span>`}
    <blockquote dir="auto">${cite.quote}</blockquote>
    <span class=${`grade ${grade}`}>${GRADES[grade]}</span>
    <button type="button" class="plain" tabindex="-1" onClick=${open}>Show it in the document</button>
  </div>`;
}

export function Claims({ citations, verification, unsupported, open }) {
  const against = refuted(verification);
  // What a judge found contradicted has lost its words, and counts among those without any.
  const bare = unsupported.filter((claim) => !against.has(claim));
  const { claims = 0, quoted = 0, found = 0, missing = [], contradicted = [], checked = "" } = verification;
  if (!claims && !unsupported.length) return null;
  const rows = [
    ...citations.map((each) => ({ ...each, grade: isContradicted(each, verification) ? "contradicted" : each.grade })),
    ...contradicted
      .filter((each) => !citations.some((cite) => cite.claim === each.claim))
      .map((each) => ({ grade: "contradicted", claim: each.claim, quote: each.quote ?? each.evidence ?? "" })),
    ...bare.map((claim) => ({ grade: "not_confirmed", claim })),
  ];
  const counts = [
    [quoted, "quoted"],
    [found, "found"],
    [(verification.not_confirmed ?? unsupported.length) - (unsupported.length - bare.length), "not_confirmed"],
    [contradicted.length, "contradicted"],
  ].filter(([count, grade]) => count > 0 || grade === "not_confirmed");
  return html`<details class="claims">
    <summary>
      ${claims} ${claims === 1 ? "claim" : "claims"}:
      ${counts.map(([count, grade]) => html` <span class=${`grade ${grade} ${count ? "" : "none"}`}>${count} ${named(grade)}</span>`)}
    </summary>
    <ul>
      ${rows.map(
        (row) => html`<li>
          <span class=${`grade ${row.grade}`}>${named(row.grade)}</span> <bdi>${row.claim.replaceAll("**", "")}</bdi>
          ${row.quote && html`<blockquote dir="auto">${row.quote}</blockquote>`}
          ${row.chunk_id &&
          html`<button type="button" class="plain" onClick=${(event) => open(row, event.currentTarget)}>${where(row)}</button>`}
        </li>`,
      )}
    </ul>
    ${missing.length > 0 && html`<p class="faint">In no passage: ${missing.join(", ")}.</p>`}
    ${checked && html`<p class="faint">${checked}.</p>`}
  </details>`;
}
