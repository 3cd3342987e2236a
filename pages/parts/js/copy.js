// navigator.clipboard exists on https and on localhost only. Elsewhere the text is selected and copied the old way, and
// where the browser forbids that, too, it stays in sight, selected, next to the keys that copy it.
export default function ({ data, parentElement }) {
  const find = (name) => parentElement.querySelector(name);
  const [button, said, area] = ["button", "[role=status]", "textarea"].map(find);
  find(".mq-copying").classList.toggle("mq-quiet", data.quiet);
  find("button span").textContent = data.label;
  area.setAttribute("aria-label", data.label);
  const select = () => {
    area.hidden = false;
    area.value = data.text;
    area.focus();
    area.select();
  };
  const old = () => {
    select();
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  };
  const show = (copied) => {
    area.hidden = copied;
    said.textContent = copied ? data.copied : data.press;
    clearTimeout(said.mqTimer);
    if (copied) said.mqTimer = setTimeout(() => (said.textContent = ""), 4000);
    if (copied) button.focus();
    else select();
  };
  button.onclick = () => {
    const copy = window.isSecureContext && navigator.clipboard?.writeText(data.text);
    if (copy) copy.then(() => show(true), () => show(old()));
    else show(old());
  };
}
