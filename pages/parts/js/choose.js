// The box that finds anything: arrows go through its links, Enter in the box opens the first, once the links are those
// of the text in it. Keys are heard by the document: a box that closes is there for a while, next to the one that opens.
const box = () => [...document.querySelectorAll(".st-key-find-box input")].at(-1);
const inside = (selector) => [...(box()?.closest('[role="dialog"]')?.querySelectorAll(selector) ?? [])];
const links = () => inside('.st-key-find-hits [data-testid="stPageLink-NavLink"]');
const open = (text, times) => {
  if (box()?.value !== text) return; // it is closed, or more was typed
  if (inside("[data-term]").at(-1)?.dataset.term === text) links()[0]?.click();
  else if (times) setTimeout(open, 50, text, times - 1);
};
document.addEventListener("keydown", (event) => {
  const all = [box(), ...links()];
  const place = all.indexOf(document.activeElement);
  if (place < 0) return;
  if (event.key === "Enter" && place === 0) open(box().value, 200);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  all[Math.min(Math.max(place + step, 0), all.length - 1)].focus();
});
document.addEventListener("click", (event) => {
  if (window.innerWidth < 768 && links().includes(event.target.closest("a"))) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
}, true);
// What opens a dialog, and what closed the one before, each moves the focus some time later: the box takes it back.
const hold = (times) => {
  const here = document.activeElement;
  if (here !== box() && !links().includes(here)) box()?.focus();
  if (times) setTimeout(hold, 100, times - 1);
};
// The first text box of a visit: the browser is still loading its code.
const begin = (times) => {
  if (box()) hold(10);
  else if (times) setTimeout(begin, 50, times - 1);
};
let last = 0;
export default function ({ data }) {
  if (data.opened !== last) begin(200);
  last = data.opened;
}
