// Runs Python beside the page: the page stays quick while a text is decoded. Python and the decoder come from
// the folder of this page, or, in the single file, from the message `begin`.
const HERE = "https://page.invalid/"; // no address: every request for it is answered from what the page brought
const TYPES = { wasm: "application/wasm", js: "text/javascript", json: "application/json", zip: "application/zip" };
let python;

function typed(name, bytes) {
  return new Blob([bytes], { type: TYPES[name.split(".").pop()] });
}

async function begin(assets) {
  const part = async (name) => assets[name] ?? (await (await fetch(new URL(name, self.location))).arrayBuffer());
  const names = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "idcore.zip"];
  const files = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await part(name)])));
  const away = self.fetch;
  self.fetch = async (address, ...more) => {
    const url = String(address.url ?? address);
    const name = url.startsWith(HERE) ? url.slice(HERE.length) : "";
    return files[name] ? new Response(typed(name, files[name])) : away(address, ...more);
  };
  const load = self.importScripts.bind(self);
  self.importScripts = () => { throw new TypeError("as in a module"); }; // Pyodide asks, and takes no other worker
  for (const name of ["pyodide.asm.js", "pyodide.js"]) load(URL.createObjectURL(typed(name, files[name])));
  python = await loadPyodide({ indexURL: HERE, createPyodideModule: self._createPyodideModule });
  python.unpackArchive(files["idcore.zip"], "zip", { extractDir: "/app" });
  python.runPython("import sys; sys.path.insert(0, '/app'); from idcore.presentation.offline import answer");
}

function decode({ text, lang, zone, now, any }) {
  const answer = python.globals.get("answer");
  const made = answer(text, lang, zone, now, any ? "any" : "strict");
  const { html, csv } = made.toJs({ dict_converter: Object.fromEntries });
  made.destroy();
  answer.destroy();
  return { html, csv };
}

self.onmessage = async ({ data }) => {
  try {
    if (data.assets) await begin(data.assets);
    self.postMessage({ turn: data.turn, ...(data.assets ? { ready: true } : decode(data)) });
  } catch (problem) {
    self.postMessage({ turn: data.turn, problem: String(problem.message ?? problem).split("\n").filter(Boolean).pop() });
  }
};
