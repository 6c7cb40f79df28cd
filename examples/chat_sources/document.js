// A document for the tests; loaded before React, which looks for one.

import { JSDOM } from "jsdom";

const { window } = new JSDOM("<main></main>", { url: "http://localhost" });
Object.assign(globalThis, { window, document: window.document });
Object.defineProperty(globalThis, "navigator", { value: window.navigator, configurable: true });
for (const name of ["HTMLElement", "Node", "MutationObserver"]) globalThis[name] = window[name];
// jsdom lays nothing out.
globalThis.ResizeObserver = window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
