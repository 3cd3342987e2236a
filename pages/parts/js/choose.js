// The box that finds anything: arrows go through the links, Enter in the box opens the first, once it belongs to what is
// in the box.
const links = () => [...document.querySelectorAll('.st-key-find-hits [data-testid="stPageLink-NavLink"]')];
const box = () => document.querySelector('.st-key-find_term input');
let term = "";
let waiting = false;
const follow = (times) => {
  const first = links()[0];
  if (first) first.click();
  else if (times && box()?.value.trim() === term) setTimeout(follow, 50, times - 1); // its links come after a term
};
const open = () => {
  waiting = box().value.trim() !== term;
  if (!waiting) follow(40);
};
const onKey = (event) => {
  const all = [box(), ...links()];
  const place = all.indexOf(document.activeElement);
  if (event.key === "Enter" && place === 0) open();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || place < 0) return;
  event.preventDefault();
  all[Math.min(Math.max(place + step, 0), all.length - 1)].focus();
};
// What opens a dialog, and what closed the one before, each moves the focus some time later: the box takes it back.
const hold = (times) => {
  const here = document.activeElement;
  if (here !== box() && !links().includes(here)) box()?.focus();
  if (times) setTimeout(hold, 100, times - 1);
};
const onClick = (event) => {
  if (window.innerWidth < 768 && links().includes(event.target.closest("a"))) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
};
export default function ({ data }) {
  term = data.term;
  let dialog = null;
  let frame = 0;
  let timer = 0;
  const begin = () => {
    if (!box()) {
      frame = requestAnimationFrame(begin); // the first text box of a visit: the browser is still loading its code
      return;
    }
    if (!box().dataset.keys) hold(10); // the term may still be that of the box before
    box().dataset.keys = "on";
    dialog = box().closest('[role="dialog"]');
    dialog.addEventListener("keydown", onKey);
    dialog.addEventListener("click", onClick);
    if (waiting) timer = setTimeout(open, 50);
  };
  begin();
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer); // Escape has closed the box
    dialog?.removeEventListener("keydown", onKey);
    dialog?.removeEventListener("click", onClick);
  };
}
