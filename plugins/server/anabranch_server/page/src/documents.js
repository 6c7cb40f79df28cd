// The documents that one may ask about: what they are, who may read them, a look at their pages, and their removal.

import { useEffect, useRef, useState } from "preact/hooks";

import { html } from "./html.js";
import { Choice, patternOf } from "./choice.js";
import { isEmpty, json } from "./server.js";
import { Sheet } from "./source.js";
import { Upload } from "./upload.js";

const AT_ONCE = 500; // that a server gives
const FEW = 30;

// Kept on the page while it is not shown, so that files go on being sent.
export function Documents({ options, isShown, close, changed, only, setOnly }) {
  const [found, setFound] = useState([]);
  const [more, setMore] = useState(false);
  const [fault, setFault] = useState("");
  const [none, setNone] = useState("");
  const [shown, setShown] = useState(null);
  const [told, setTold] = useState("");
  const [sought, setSought] = useState("");
  const heading = useRef();
  const seeking = useRef(false);
  const fetchMore = async (before) => {
    setFault("");
    setNone("");
    try {
      const next = await json(`/documents?limit=${AT_ONCE}&offset=${before.length}`);
      setFound([...before, ...next]);
      setMore(next.length === AT_ONCE);
      return [...before, ...next];
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
      setOnly(only.filter((each) => each !== document.source));
      await refresh();
    } catch (error) {
      setTold(error.message);
    }
  };

  // All of them are looked through, also those that are not listed yet.
  const seek = async (words) => {
    setSought(words);
    // Each letter that is typed asks for them.
    if (seeking.current) return;
    seeking.current = true;
    for (let all = found, last = more; last; ) {
      const next = await fetchMore(all);
      last = next?.length === all.length + AT_ONCE;
      all = next;
    }
    seeking.current = false;
  };
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ title, source }) => words.every((word) => `${title} ${source}`.toLowerCase().includes(word));
  const fitting = words.length ? found.filter(fits) : found;
  const choose = (each) => setOnly(only.includes(each) ? only.filter((other) => other !== each) : [...only, each]);
  const entry = (each) => html`<${Entry} key=${each.doc_id} document=${each} mayRemove=${options.may_ingest && each.removable} remove=${remove} show=${() => setShown({ ...each, number: 1 })} />`;

  return html`<aside class="documents" aria-label="Documents" hidden=${!isShown}>
    <header><h2 ref=${heading} tabindex="-1">Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${close}>✕</button></header>
    ${options.may_ingest ? html`<${Upload} options=${options} done=${refresh} />` : html`<p class="faint">To have documents added, ask whoever runs this server.</p>`}
    <p role="status">${told}</p>
    ${fault && html`<p role="alert">${fault}</p>`}
    ${none && html`<${NoDocuments} options=${options} told=${none} />`}
    ${shown && html`<h3 dir="auto">${shown.title}</h3><${Sheet} passage=${{ ...shown, page: 1 }} number=${shown.number} setNumber=${(number) => setShown({ ...shown, number })} />`}
    ${found.length > 1 && html`<input class="search" type="search" dir="auto" aria-label="Find a document" placeholder="Find a document" value=${sought} onInput=${(event) => seek(event.currentTarget.value)} />
      <p class="faint">Choose some to ask only those.</p>`}
    <${Choice} chosen=${only} clear=${() => setOnly([])} />
    ${found.length > 0 && !fitting.length && html`<p class="faint" role="status">None of the ${found.length} has these words in its title or its name.</p>`}
    <${Folder} folder=${treeOf(fitting)} opened=${words.length > 0 || found.length <= FEW} only=${only} choose=${choose} entry=${entry} />
    ${more && html`<button type="button" onClick=${() => fetchMore(found)}>More</button>`}
  </aside>`;
}

// Folders by the paths of the sources; one that holds nothing but another is shown with it.
function treeOf(documents) {
  const root = { path: "", folders: new Map(), documents: [], count: 0 };
  for (const each of documents) {
    let at = root;
    for (const part of each.source.split("/").slice(0, -1)) {
      const path = `${at.path}${part}/`;
      if (!at.folders.has(path)) at.folders.set(path, { path, folders: new Map(), documents: [], count: 0 });
      at = at.folders.get(path);
      at.count += 1;
    }
    at.documents.push(each);
  }
  return root;
}

function Folder({ folder, opened, only, choose, isWithin = false, entry }) {
  const [open, setOpen] = useState(null);
  const shown = open ?? opened;
  const { path, documents, count } = folder;
  const inner = [...folder.folders.values()];
  const inside = { opened, only, choose, entry };
  if (path && !documents.length && inner.length === 1) return html`<${Folder} ...${inside} folder=${inner[0]} isWithin=${isWithin} />`;
  const isAsked = isWithin || only.includes(patternOf(path));
  const check = (key, name, asked, within) => html`<input type="checkbox" aria-label=${`Ask ${name}`} checked=${asked} disabled=${within} onChange=${() => choose(key)} />`;
  return html`${path && html`<div class="entry">
      ${check(patternOf(path), path, isAsked, isWithin)}
      <button type="button" class="plain folder" aria-expanded=${shown ? "true" : "false"} onClick=${() => setOpen(!shown)}><bdi>${path}</bdi> <span class="faint">${count}</span></button>
    </div>`}
    ${(shown || !path) && html`<ul>
      ${inner.map((each) => html`<li key=${each.path}><${Folder} ...${inside} folder=${each} isWithin=${Boolean(path) && isAsked} /></li>`)}
      ${documents.map((each) => html`<li key=${each.doc_id} class="entry">${check(each.source, each.source, (path && isAsked) || only.includes(each.source), Boolean(path) && isAsked)}${entry(each)}</li>`)}
    </ul>`}`;
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
  return html`<div class="about">
    <div class="document">
      <div>
        ${pages > 0 ? html`<button type="button" class="plain" dir="auto" onClick=${show}>${title}</button>` : html`<span dir="auto">${title}</span>`}
        <br /><span class="faint"><bdi>${source}</bdi>${pages > 0 && `, ${pages} ${pages === 1 ? "page" : "pages"}`}</span>
        ${who.map((tag) => html` <span class="tag">${tag}</span>`)}
      </div>
      ${mayRemove && html`<button ref=${button} type="button" class="plain remove" aria-label=${`Remove ${file}`} aria-expanded=${asks ? "true" : "false"} onClick=${() => setAsks(!asks)}>Remove</button>`}
    </div>
    ${asks &&
    html`<div class="menu" role="group" aria-label=${`Remove ${file}?`}>
      <span>${file === source ? "No question will find it any more." : html`This removes all documents of <bdi>${file}</bdi>.`}</span>
      <button type="button" class="plain danger" onClick=${() => remove(document)}>Remove for good</button>
      <button type="button" class="plain" onClick=${keep}>Keep</button>
    </div>`}
  </div>`;
}
