// Decodes while somebody types or pastes: Streamlit hears of a box in a form only when its button is pressed. What is
// typed is decoded at a pause, by a button of its own, which leaves the box as it is; what is pasted by the button that
// everybody sees, wherever on the page it was pasted. A long text would be sent to the browser and back with each click: it
// becomes a file, and files are decoded once they are there.
const PAUSE = 400;
const LONGEST = 20_000; // characters of a text that is decoded while it is typed
const FILE = 1_000_000; // characters of a pasted text that becomes a file
const NAME = "clipboard.txt";
const box = () => document.querySelector(".st-key-decode-box textarea");
const button = (name) => document.querySelector(`.st-key-${name} button`);
const press = (name, times) => {
  if (button(name) && !button(name).disabled) button(name).click();
  else if (times) setTimeout(press, 100, name, times - 1); // a file is on its way
};
// Once it is decoded the box goes from under who typed in it: the focus goes to the line that it was folded to.
const fold = () => document.querySelector('[class*="st-key-input-fold-"] details:not([open]) > summary');
const follow = (before, times) => {
  const lost = document.activeElement === document.body;
  if (lost && fold() && fold() !== before) fold().focus({ preventScroll: true });
  else if (times) setTimeout(follow, 100, before, times - 1);
};
let waits = 0;
document.addEventListener("input", (event) => {
  if (event.target !== box()) return;
  clearTimeout(waits);
  const pasted = ["insertFromPaste", "insertFromDrop"].includes(event.inputType);
  const here = event.target;
  const still = () => here === box() && press("decode-typed", 0); // a click has not taken it away meanwhile
  if (pasted) {
    waits = setTimeout(press, 0, "decode-now", 10);
    follow(fold(), 100);
  } else if (here.value.length <= LONGEST) waits = setTimeout(still, PAUSE);
});
document.addEventListener("click", () => clearTimeout(waits), true);
document.addEventListener("keydown", (event) => {
  if (event.target !== box() || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  clearTimeout(waits);
  follow(fold(), 100);
});
const value = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
document.addEventListener("paste", (event) => {
  const elsewhere = event.target.closest?.('input, textarea, [contenteditable="true"], [role="dialog"]');
  const text = event.clipboardData.getData("text/plain");
  const files = document.querySelector('.st-key-files input[type="file"]');
  if (!box() || !text || (elsewhere && elsewhere !== box())) return;
  if (text.length >= FILE && files) {
    const list = new DataTransfer();
    list.items.add(new File([text], NAME, { type: "text/plain" }));
    files.files = list.files;
    files.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (!elsewhere) {
    value.set.call(box(), text);
    box().dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste" }));
  } else return;
  event.preventDefault();
}, true);
export default function () {}
