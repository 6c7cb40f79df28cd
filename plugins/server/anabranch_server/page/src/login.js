// Who asks: somebody who signs in at the issuer of tokens, or has a key.

import { useEffect, useState } from "preact/hooks";

import { html } from "./html.js";
import { json, key } from "./server.js";

const KEPT = "anabranch.login";
const encoded = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => encoded(crypto.getRandomValues(new Uint8Array(32)));
const here = () => location.origin + location.pathname;

// The authorization code flow with PKCE (RFC 7636). The code is exchanged by our own server, so that the page speaks to
// no other.
async function begin({ authorization_endpoint: address, client_id, scope }) {
  // Browsers have it on https and on one's own machine alone.
  if (!crypto.subtle) throw new Error("Signing in needs https.");
  const [state, verifier] = [random(), random()];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  sessionStorage.setItem(KEPT, JSON.stringify({ state, verifier, hash: location.hash }));
  const to = new URL(address);
  const asked = { response_type: "code", client_id, scope, state, redirect_uri: here(), code_challenge: encoded(new Uint8Array(digest)), code_challenge_method: "S256" };
  for (const [name, value] of Object.entries(asked)) to.searchParams.set(name, value);
  location.assign(to);
}

// Coming back from the issuer: the token is kept, or what went wrong is returned.
export async function comeBack() {
  const found = new URLSearchParams(location.search);
  const [code, state, error] = ["code", "state", "error"].map((name) => found.get(name));
  if (!state || !(code || error)) return "";
  const begun = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  sessionStorage.removeItem(KEPT);
  history.replaceState(null, "", here() + (begun.hash ?? ""));
  // Somebody else's link must not sign a person in under another name.
  if (begun.state !== state) return "This sign-in was not begun in this tab. Sign in again.";
  if (error) return `The sign-in was not completed: ${found.get("error_description") ?? error}`;
  try {
    key.set((await json("/login", { method: "POST", body: { code, code_verifier: begun.verifier, redirect_uri: here() } })).token);
    return "";
  } catch (problem) {
    return problem.message;
  }
}

export function Login({ enter, failed }) {
  const [told, setTold] = useState(failed || (key.get() ? "Your sign-in, or your key, does not count any more." : ""));
  const [issuer, setIssuer] = useState(null);
  useEffect(() => void json("/login").then((found) => found.issuer && setIssuer(found), (error) => setTold(error.message)), []);
  const submit = async (event) => {
    event.preventDefault();
    key.set(new FormData(event.currentTarget).get("key").trim());
    setTold("");
    await enter();
    setTold("This key is not known here.");
  };
  return html`<main class="login"><h1>Anabranch</h1>
    ${issuer && html`<p><button type="button" onClick=${() => begin(issuer).catch((error) => setTold(error.message))}>Sign in at ${issuer.issuer}</button></p>`}
    <form onSubmit=${submit}>
      <label for="key">${issuer ? "Or your key" : "Your key"}</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button class=${issuer ? "second" : ""}>Sign in</button>
      <p role="alert">${told}</p>
      <p class="faint">It is kept for as long as this tab is open.</p>
    </form></main>`;
}
