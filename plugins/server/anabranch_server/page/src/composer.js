// Where a question is written.

import { useEffect, useRef } from "preact/hooks";

import { Choice } from "./choice.js";
import { html } from "./html.js";

const KEPT = "anabranch.draft";

// A question that could not be asked, for as long as the tab lives.
export const draft = {
  set: (question) => sessionStorage.setItem(KEPT, question),
  take: () => {
    const question = sessionStorage.getItem(KEPT) ?? "";
    sessionStorage.removeItem(KEPT);
    return question;
  },
};

export function Composer({ ask, busy, goesOn, tip, only, setOnly }) {
  const field = useRef();
  useEffect(() => {
    field.current.value ||= draft.take();
  }, []);
  const send = (event) => {
    event.preventDefault();
    const question = field.current.value.trim();
    if (!question || busy) return;
    field.current.value = "";
    ask(question);
  };
  const typed = (event) => {
    // While a word is being composed, as in Japanese, Enter chooses it.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  return html`<form class="composer" onSubmit=${send}>
    ${tip && html`<p class="faint">Your next question goes on from the answer above.</p>`}
    <${Choice} chosen=${only} clear=${() => setOnly([])} />
    <label class="hidden" for="question">Question</label>
    <textarea id="question" dir="auto" maxlength="10000" ref=${field} rows="2" placeholder=${goesOn ? "Ask a follow-up question" : "Ask a question"} required onKeyDown=${typed}></textarea>
    <button disabled=${busy}>Ask</button>
  </form>`;
}
