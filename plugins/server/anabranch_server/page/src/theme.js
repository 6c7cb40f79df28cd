// Light or dark: as the system has it, unless somebody chooses.

import { useState } from "preact/hooks";

import { html } from "./html.js";

const KEPT = "anabranch.theme";

export function colour() {
  const theme = localStorage.getItem(KEPT);
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem(KEPT) ?? "");
  const choose = (event) => {
    localStorage.setItem(KEPT, event.currentTarget.value);
    setTheme(event.currentTarget.value);
    colour();
  };
  return html`<div class="field">
    <label for="theme">Colours</label>
    <select id="theme" value=${theme} onInput=${choose}>
      <option value="">as the system has them</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  </div>`;
}
