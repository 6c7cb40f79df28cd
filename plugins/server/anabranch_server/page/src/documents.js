// The documents that one may ask about: what they are, who may read them, a look at their pages, and their removal.

import { useEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { isEmpty, json } from "./server.js";
import { Sheet } from "./source.js";
import { Upload } from "./upload.js";

const AT_ONCE = 100;

// Kept on the page while it is not shown, so that files go on being sent.
export function Documents({ options, isShown, close, changed }) {
  const [found, setFound] = useState([]);
  const [more, setMore] = useState(false);
  const [fault, setFault] = useState("");
  const [none, setNone] = useState("");
  const [shown, setShown] = useState(null);
  const [told, setTold] = useState("");
  const heading = useRef();
  const fetchMore = async (before) => {
    setFault("");
    setNone("");
    try {
      const next = await json(`/documents?limit=${AT_ONCE}&offset=${before.length}`);
      setFound([...before, ...next]);
      setMore(next.length === AT_ONCE);
    } catch (error) {
      setFound([]);
      setMore(false);
      if (isEmpty(error)) setNone(error.message);
      else setFault(error.message);
    }
  };
  const refresh = () => {
    changed();
    return fetchMore([]);
  };
  useEffect(() => {
    if (!isShown) return;
    heading.current.focus();
    fetchMore([]);
  }, [isShown]);

  const remove = async (document) => {
    heading.current.focus();
    try {
      const { file, documents, deleted } = await json(`/documents/${encodeURIComponent(document.doc_id)}`, { method: "DELETE" });
      setTold(`Removed ${file}${documents > 1 ? ` with ${documents} documents` : ""}.${deleted ? "" : " The file itself stays where it is."}`);
      setShown(null);
      await refresh();
    } catch (error) {
      setTold(error.message);
    }
  };

  return html`<aside class="documents" aria-label="Documents" hidden=${!isShown}>
    <header><h2 ref=${heading} tabindex="-1">Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${close}>✕</button></header>
    ${options.may_ingest ? html`<${Upload} options=${options} done=${refresh} />` : html`<p class="faint">To have documents added, ask whoever runs this server.</p>`}
    <p role="status">${told}</p>
    ${fault && html`<p role="alert">${fault}</p>`}
    ${none && html`<${NoDocuments} options=${options} told=${none} />`}
    ${shown && html`<h3 dir="auto">${shown.title}</h3><${Sheet} passage=${{ ...shown, page: 1 }} number=${shown.number} setNumber=${(number) => setShown({ ...shown, number })} />`}
    <ul>${found.map((each) => html`<${Entry} key=${each.doc_id} document=${each} mayRemove=${options.may_ingest && each.removable} remove=${remove} show=${() => setShown({ ...each, number: 1 })} />`)}</ul>
    ${more && html`<button type="button" onClick=${() => fetchMore(found)}>More</button>`}
  </aside>`;
}

export function NoDocuments({ options, told }) {
  // What the server says names its folders and commands: for whoever has both, which is the one person of a machine.
  return html`<p>There are no documents here yet. ${options.may_ingest ? "Add some first." : "Ask whoever runs this server to add some."}</p>
    ${options.name === null && html`<p class="faint">${told}</p>`}`;
}

function Entry({ document, mayRemove, remove, show }) {
  const [asks, setAsks] = useState(false);
  const button = useRef();
  const keep = () => {
    setAsks(false);
    button.current.focus();
  };
  const { title, source, file, pages, access, has_other_access: others } = document;
  const who = [...access, ...(others ? ["others"] : [])];
  return html`<li>
    <div class="document">
      <div>
        ${pages > 0 ? html`<button type="button" class="plain" dir="auto" onClick=${show}>${title}</button>` : html`<span dir="auto">${title}</span>`}
        <br /><span class="faint"><bdi>${source}</bdi>${pages > 0 && `, ${pages} ${pages === 1 ? "page" : "pages"}`}</span>
        ${who.map((tag) => html` <span class="tag">${tag}</span>`)}
      </div>
      ${mayRemove && html`<button ref=${button} type="button" class="plain danger" aria-label=${`Remove ${file}`} aria-expanded=${asks ? "true" : "false"} onClick=${() => setAsks(!asks)}>Remove</button>`}
    </div>
    ${asks &&
    html`<div class="menu" role="group" aria-label=${`Remove ${file}?`}>
      <span>${file === source ? "No question will find it any more." : html`This removes all documents of <bdi>${file}</bdi>.`}</span>
      <button type="button" class="plain danger" onClick=${() => remove(document)}>Remove for good</button>
      <button type="button" class="plain" onClick=${keep}>Keep</button>
    </div>`}
  </li>`;
}
