// The documents that one may ask about, and a look at the pages of those that have some.

import { useEffect, useState } from "preact/hooks";

import { html } from "./html.js";
import { json } from "./server.js";
import { Sheet } from "./source.js";
import { Upload } from "./upload.js";

const AT_ONCE = 100;

export function Documents({ close }) {
  const [found, setFound] = useState([]);
  const [more, setMore] = useState(true);
  const [fault, setFault] = useState("");
  const [shown, setShown] = useState(null);
  const fetchMore = async (before = found) => {
    try {
      const next = await json(`/documents?limit=${AT_ONCE}&offset=${before.length}`);
      setFound([...before, ...next]);
      setFault("");
      setMore(next.length === AT_ONCE);
    } catch (error) {
      setMore(false);
      setFault(error.message);
    }
  };
  useEffect(() => void fetchMore(), []);
  return html`<aside class="documents" aria-label="Documents" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <header><h2>Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${close}>✕</button></header>
    <${Upload} done=${() => fetchMore([])} />
    ${fault && html`<p role="alert">${fault}</p>`}
    ${shown && html`<h3>${shown.title}</h3><${Sheet} passage=${{ ...shown, page: 1 }} number=${shown.number} setNumber=${(number) => setShown({ ...shown, number })} />`}
    <ul>
      ${found.map(
        (each) => html`<li>
          ${each.pages > 0 ? html`<button type="button" class="plain" onClick=${() => setShown({ ...each, number: 1 })}>${each.title}</button>` : each.title}
          <br /><span class="faint">${each.source}${each.pages > 0 && `, ${each.pages} ${each.pages === 1 ? "page" : "pages"}`}</span>
        </li>`,
      )}
    </ul>
    ${more && found.length > 0 && html`<button type="button" onClick=${() => fetchMore()}>More</button>`}
  </aside>`;
}
