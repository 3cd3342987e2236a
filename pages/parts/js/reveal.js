// What a click has added further down comes into sight; `wide` is the width from which it does.
let seen = 0;
export default function ({ data }) {
  if (data.turn > seen && window.innerWidth >= data.wide) {
    setTimeout(() => {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      document.querySelector(data.what)?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
    }, 150);
  }
  seen = data.turn;
}
