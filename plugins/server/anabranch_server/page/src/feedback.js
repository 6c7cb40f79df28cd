// Was the answer right: kept by the server with what was asked and shown, as material for an evaluation.

import { useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { post } from "./server.js";

const VERDICTS = { right: "Right", wrong: "Wrong", better_source: "Better source" };

export function Feedback({ thread, turn }) {
  const [verdict, setVerdict] = useState(null);
  const [told, setTold] = useState("");
  const opener = useRef();
  const send = async (given) => {
    try {
      await post("/feedback", { run_id: turn.ended, thread_id: thread, ...given });
      if (verdict) opener.current.focus();
      setVerdict(null);
      setTold(`Noted: ${VERDICTS[given.verdict].toLowerCase()}.`);
    } catch (error) {
      setTold(error.message);
    }
  };
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    send({ verdict, comment: form.get("comment"), chunk_id: form.get("chunk_id") || null });
  };
  const passages = turn.values?.passages ?? [];
  return html`<span class="feedback" role="group" aria-label="Feedback">
      ${Object.entries(VERDICTS).map(
        ([name, label]) =>
          html`<button type="button" class="plain" aria-pressed=${verdict === name ? "true" : "false"}
            onClick=${(event) => ((opener.current = event.currentTarget), name === "right" ? send({ verdict: name, comment: "" }) : setVerdict(verdict === name ? null : name))}>${label}</button>`,
      )}
      <span role="status" class="faint">${told}</span>
    </span>
    ${verdict &&
    html`<form class="opinion" onSubmit=${submit}>
      ${verdict === "better_source" && passages.length > 0 &&
      html`<label>The passage that says it
        <select name="chunk_id"><option value="">none of these</option>
          ${passages.map((each) => html`<option value=${each.id}>${each.source}${each.page ? `, page ${each.page}` : ""}: ${each.preview.slice(0, 60)}</option>`)}
        </select></label>`}
      <label>What should it say, or where does it stand?<input name="comment" maxlength="2000" /></label>
      <button>Send</button>
    </form>`}`;
}
