// What is dropped or chosen: the files with their names below the folder, and what is left out of it.

const MOST = 1000;
const MORE = "more files";

const MADE = ["node_modules", "__pycache__"];
const isCounted = (name) => !name.startsWith(".") && !MADE.includes(name);

class Found {
  files = [];
  left = new Map();

  add(name, file) {
    if (this.files.length < MOST) this.files.push({ name, file });
    else this.leaveMore();
  }

  leaveMore() {
    this.leave(MORE, "not sent", `At most ${MOST} files are sent at once: take smaller folders.`);
  }

  leave(name, status = "left out", reason = "hidden, or written by a program") {
    this.left.set(name, { name, status, reason });
  }

  get isFull() {
    return this.files.length === MOST && this.left.has(MORE);
  }

  get all() {
    return { files: this.files, left: [...this.left.values()] };
  }
}

export function chosen(list) {
  const found = new Found();
  for (const file of list) {
    const name = file.webkitRelativePath || file.name;
    const parts = name.split("/");
    // What was chosen by itself is meant, whatever it is called.
    const at = parts.findIndex((part, depth) => depth > 0 && !isCounted(part));
    if (at < 0) found.add(name, file);
    else found.leave(parts.slice(0, at + 1).join("/"));
  }
  return found.all;
}

export function dropped(transfer) {
  // All at once: when the event is over, a browser gives none.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  return entries.length ? walked(entries) : chosen([...transfer.files]);
}

async function walked(entries) {
  const found = new Found();
  // A list and no recursion, because folders nest deep; the first is the next.
  const waiting = entries.map((entry) => [entry.name, entry]);
  while (waiting.length && !found.isFull) {
    const [name, entry] = waiting.shift();
    try {
      if (entry.isFile) found.add(name, await new Promise((done, failed) => entry.file(done, failed)));
      else {
        const inside = (await listed(entry, found)).map((each) => [`${name}/${each.name}`, each]);
        inside.filter(([, each]) => !isCounted(each.name)).forEach(([each]) => found.leave(each));
        waiting.unshift(...inside.filter(([, each]) => isCounted(each.name)));
      }
    } catch {
      found.leave(name, "not sent", "The browser cannot read it.");
    }
  }
  return found.all;
}

async function listed(folder, found) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    // A browser gives a hundred or so at a time, and nothing after the last.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return all;
    all.push(...some);
    if (all.length > 2 * MOST) {
      found.leaveMore();
      return all;
    }
  }
}
