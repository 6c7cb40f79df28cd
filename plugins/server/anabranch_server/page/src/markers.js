// Which citation each marker of an answer stands for. A marker names a passage, and several claims may cite one: each
// of its places in the answer is for the claim that ends there.

const MARKER = /\[(\d{1,4})\](?!\()/g;
const OPEN = "\uE000"; // of Unicode's private area, so that no answer has them
const CLOSE = "\uE001";

export const NUMBERED = `${OPEN}(\\d+)\\.(\\d+)${CLOSE}`;

const letters = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

// The answer with its markers numbered by their places, and the citation of each place, or nothing.
export function placed(answer, citations) {
  const text = answer.replaceAll(OPEN, "").replaceAll(CLOSE, "");
  const bare = letters(text.replace(MARKER, " "));
  let from = 0;
  const ends = citations.map((each) => {
    const claim = letters(each.claim.replace(MARKER, " "));
    // Claims come in the order of the answer; one that is cited twice is found at the same place again.
    const at = bare.indexOf(claim, from) >= 0 ? bare.indexOf(claim, from) : bare.indexOf(claim);
    if (at < 0) return null;
    from = at;
    return at + claim.length;
  });
  const places = [];
  const numbered = text.replace(MARKER, (whole, number, at) => {
    const before = letters(text.slice(0, at).replace(MARKER, " ")).length;
    const own = citations.map((each, index) => ({ each, away: Math.abs((ends[index] ?? Infinity) - before) }));
    const fitting = own.filter(({ each }) => each.marker === Number(number)).sort((a, b) => a.away - b.away);
    places.push(fitting[0]?.each);
    return `${OPEN}${number}.${places.length - 1}${CLOSE}`;
  });
  return { numbered, places: places.map((each) => withParts(each, places, citations)) };
}

// Where a marker has one place, all that is cited under it is behind that: a passage may be of leaves that touch.
function withParts(cite, places, citations) {
  if (!cite || places.filter((each) => each?.marker === cite.marker).length > 1) return cite;
  const parts = new Map(citations.filter((each) => each.marker === cite.marker).map((each) => [each.chunk_id + each.start, each]));
  return parts.size > 1 ? { ...cite, parts: [...parts.values()] } : cite;
}

// What is code is shown as it was written.
export const unplaced = (text) => text.replace(new RegExp(NUMBERED, "g"), "[$1]");
