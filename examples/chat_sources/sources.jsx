// The sources of an answer, from the message that Anabranch's graph streams: for Agent Chat UI and any other page in React.

/** List what an answer cites: marker, place, the quoted words, and how well they support the claim. */
export function Sources({ message }) {
  const { sources = [], unconfirmed = [] } = message?.response_metadata ?? {};
  if (!sources.length && !unconfirmed.length) return null;
  return (
    <aside aria-label="Sources">
      <ol style={{ listStyle: "none", padding: 0 }}>
        {sources.map((source, number) => (
          <li key={number}>
            [{source.marker}] {source.link ? <a href={source.link}>{placeOf(source)}</a> : placeOf(source)}
            <blockquote>{source.quote}</blockquote>
            <small>{source.grade}</small>
          </li>
        ))}
      </ol>
      {unconfirmed.map((claim, number) => (
        <p key={number}>Not confirmed: {claim.text}</p>
      ))}
    </aside>
  );
}

function placeOf({ source, page, heading }) {
  return [source, page && `p. ${page}`, heading].filter(Boolean).join(", ");
}
