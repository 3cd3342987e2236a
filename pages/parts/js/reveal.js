// What a click has added further down comes into sight; `wide` is the width from which it does. A press of the mouse
// ends the scroll: what it began on would be gone from under it when it is released, and a link would not open.
const seen = {}; // the last turn of each place
let begins;
const end = () => {
  clearTimeout(begins);
  const page = document.querySelector('[data-testid="stMain"]');
  page?.scrollTo({ top: page.scrollTop, behavior: "instant" });
};
export default function ({ data }) {
  if (data.turn > (seen[data.what] ?? 0) && window.innerWidth >= data.wide) {
    document.addEventListener("pointerdown", end, { capture: true, once: true });
    begins = setTimeout(() => {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      document.querySelector(data.what)?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
    }, 150);
  }
  seen[data.what] = data.turn;
}
