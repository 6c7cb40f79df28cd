// A question while its run goes on: what each event of the stream makes of it.

export const begun = (question, run) => ({ live: true, question, text: "", found: "", run, message: null, error: null, lost: false });

export function heard(turn, { event, data }) {
  const [kind] = event.split("|");
  if (kind === "metadata") {
    const run = data.run_id ?? turn.run;
    // A worker has taken the run over and begins again.
    return data.attempt > 1 ? { ...turn, run, text: "", found: "", lost: false } : { ...turn, run };
  }
  if (kind === "custom" && data.status === "started") return { ...turn, step: data.step, lost: false };
  // The model has not said a word for long: what was found is no answer, and goes when one comes.
  if (kind === "custom" && data.status === "waiting") return { ...turn, found: data.answer };
  if (kind === "custom" && typeof data.answer === "string") return { ...turn, text: data.answer, found: "" };
  if (event === "messages") return written(turn, data[0]);
  if (event === "error") return { ...turn, error: data.message ?? String(data.error) };
  return turn;
}

function written(turn, piece) {
  if (!piece.type?.startsWith("AI") && piece.type !== "ai") return turn;
  // A whole message has its text in blocks.
  const text = typeof piece.content === "string" ? piece.content : (piece.content ?? []).map((block) => block.text ?? "").join("");
  // A refined answer is another message and takes the place of the one before; so does one that is whole.
  const goesOn = piece.id === turn.message && piece.type === "AIMessageChunk";
  return { ...turn, message: piece.id, text: goesOn ? turn.text + text : text, found: "", lost: false };
}
