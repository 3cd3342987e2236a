// Runs Python beside the page: the page stays quick while a text is decoded. Python and the decoder come from
// the folder of this page, whose files a browser keeps compiled, or, in the single file, from the message `begin`.
const HERE = "https://page.invalid/"; // no address: every request for it is answered from what the page brought
const TYPES = { wasm: "application/wasm", js: "text/javascript", json: "application/json", zip: "application/zip" };
let python;

function typed(name, bytes) {
  return new Blob([bytes], { type: TYPES[name.split(".").pop()] });
}

function bring(files) {
  const away = self.fetch;
  self.fetch = async (address, ...more) => {
    const url = String(address.url ?? address);
    const name = url.startsWith(HERE) ? url.slice(HERE.length) : "";
    return files[name] ? new Response(typed(name, files[name])) : away(address, ...more);
  };
}

async function begin(assets) {
  const isBrought = "idcore.zip" in assets;
  const place = isBrought ? HERE : new URL(".", self.location).href;
  if (isBrought) bring(assets);
  const core = fetch(`${place}idcore.zip`).then((answer) => answer.arrayBuffer());
  const load = self.importScripts.bind(self);
  self.importScripts = () => { throw new TypeError("as in a module"); }; // Pyodide asks, and takes no other worker
  for (const name of ["pyodide.asm.js", "pyodide.js"])
    load(isBrought ? URL.createObjectURL(typed(name, assets[name])) : `${place}${name}`);
  python = await loadPyodide({ indexURL: place, createPyodideModule: self._createPyodideModule });
  python.unpackArchive(await core, "zip", { extractDir: "/app" });
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
