// The page: a box, an answer below it. What is typed goes to the worker, and to nobody else.
const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const SAMPLE = JSON.parse(document.getElementById("sample").textContent);
const at = (id) => document.getElementById(id);
const chosen = (name, usual) => new URLSearchParams(location.hash.slice(1)).get(name) ?? usual;
let lang = chosen("lang", navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
if (!Object.hasOwn(TEXTS, lang)) lang = "en";
let turn = 0, ready = false, csv = "";

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function brought() {
  const parts = [...document.querySelectorAll("script[data-asset]")];
  const made = await Promise.all(parts.map(async (part) => [part.dataset.asset, await unpacked(part.textContent.trim())]));
  return Object.fromEntries(made);
}

function say(key, values = {}) {
  at("state").textContent = (TEXTS[lang][key] ?? "").replace(/{(\w+)}/g, (_, name) => values[name]);
}

function show(answer) {
  at("answer").innerHTML = answer.html;
  at("answer").ariaBusy = "false";
  for (const link of at("answer").querySelectorAll('a[href=""]')) link.replaceWith(...link.childNodes);
  csv = answer.csv;
  at("csv").hidden = !csv;
}

function speak() {
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  document.title = TEXTS[lang]["offline.title"];
  for (const part of document.querySelectorAll("[data-text]")) part.textContent = TEXTS[lang][part.dataset.text];
  for (const button of document.querySelectorAll("[data-lang]")) button.ariaPressed = String(button.dataset.lang === lang);
}

function ask() {
  const text = at("box").value;
  if (!text.trim()) {
    show(SAMPLE[lang]);
    say("offline.sample");
    return;
  }
  if (!ready) {
    show({ html: "", csv: "" });  // the sample's card would be taken for that of this ID
    return say("offline.loading");
  }
  at("answer").ariaBusy = "true";
  say("offline.working");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  worker.postMessage({ turn: ++turn, text, lang, zone, now: Date.now(), any: at("any").checked });
}

let waiting;
function soon() {
  turn++;  // what was asked before is no answer to what is in the box now
  delete document.body.dataset.answered;
  clearTimeout(waiting);
  waiting = setTimeout(ask, 200);
}

function heard({ data }) {
  if (data.problem) return say("offline.failed", { why: data.problem });
  if (data.ready) { ready = true; say(""); return ask(); }
  if (data.turn !== turn) return;
  say("");
  show(data);
  document.body.dataset.answered = String(turn);
}

at("box").addEventListener("input", soon);
at("any").addEventListener("change", ask);
for (const button of document.querySelectorAll("[data-lang]"))
  button.addEventListener("click", () => { lang = button.dataset.lang; speak(); ask(); });
at("csv").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = "ids.csv";
  link.click();
});
addEventListener("hashchange", () => {
  const id = chosen("id", "");
  if (id) { at("box").value = id; ask(); scrollTo(0, 0); }
});
speak();
at("box").value = chosen("id", at("box").value);  // somebody may have pasted while the page came
ask();

let worker;
(async () => {
  const own = document.getElementById("worker");
  const where = own ? URL.createObjectURL(new Blob([own.textContent], { type: "text/javascript" })) : "worker.js";
  worker = new Worker(where);
  worker.onmessage = heard;
  worker.onerror = (problem) => say("offline.failed", { why: problem.message ?? "" });
  say(at("box").value.trim() ? "offline.loading" : "offline.sample");
  worker.postMessage({ assets: await brought() });
})();
