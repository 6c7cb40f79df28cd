import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);

// What had the focus is gone: it must not be lost, or a keyboard begins again at the top of the page. Not by a finger,
// for which a keyboard would come up.
export const keepFocus = () =>
  requestAnimationFrame(() => {
    if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) document.getElementById("question")?.focus({ preventScroll: true });
  });
