// Figures are drawn on the server. Streamlit passes it the theme with every run, but does not run again when it changes;
// and on a phone its sidebar stays open over the page that a link in it has opened. The 5 MB that draw charts it asks
// for with the first chart only: half a second of waiting that is better spent while the reader looks for the ids.
// Where a box can be drawn in a chart, Streamlit does not hear of clicks: they are passed on as a selection.
// To a screen reader a link to the page it is on is like any other: Streamlit only gives it another colour. An entry of
// the menu is marked for all of its pages, which are tabs.
// A page that is not served over HTTPS has no clipboard, and Streamlit's copy buttons fail there. What is selected may
// still be copied.
const copied = async (text) => {
  const area = document.createElement("textarea");
  const before = document.activeElement;
  area.value = text;
  area.style.cssText = "position:fixed;top:0;opacity:0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus();
  if (!done) throw new Error("not copied");
};
if (!navigator.clipboard) Object.defineProperty(navigator, "clipboard", { value: { writeText: copied } });
// Of a file that is on its way Streamlit shows that it is, and not how much of it has gone.
const send = XMLHttpRequest.prototype.send;
const sending = ({ name }, share) => {
  for (const shown of document.querySelectorAll('[data-testid="stFileChipName"]')) {
    const size = shown.nextElementSibling;
    if (shown.title !== name || !size) continue;
    if (share < 1) size.dataset.sent = `${Math.floor(100 * share)}%`;
    else delete size.dataset.sent;
  }
};
XMLHttpRequest.prototype.send = function (body) {
  const file = body instanceof FormData && [...body.values()].find((part) => part instanceof File);
  if (file) {
    this.upload.addEventListener("progress", ({ loaded, total }) => sending(file, Math.min(0.99, loaded / total)));
    this.addEventListener("loadend", () => sending(file, 1));
  }
  return send.call(this, body);
};
const heard = new WeakSet();
const hear = (chart) => {
  if (!chart._ev || heard.has(chart._ev)) return;
  heard.add(chart._ev);
  chart.on("plotly_click", ({ points }) => {
    const marks = points.filter((point) => point.customdata !== undefined);
    if (!marks.length || chart._fullLayout?.clickmode !== "event") return;
    const told = marks.map(({ curveNumber, pointNumber, pointIndex, x, y, customdata, data }) => (
      { curveNumber, pointNumber, pointIndex, x, y, customdata, data }
    ));
    chart.emit("plotly_selected", { points: told, selections: [] });
  });
};
// Streamlit calls this again with each new theme and each page, and does not always end what was there before: each
// watch that was left over passed a change of theme on once more, so that the page was drawn as often.
let stop = () => {};
export default function ({ data, setStateValue }) {
  stop();
  const app = document.querySelector(".stApp");
  let last = data.theme;
  document.documentElement.lang = data.lang;
  document.body.dataset.drawnIn = last; // a test waits for it: the ground has the new colours before the figures have
  const code = document.querySelector('script[type="module"][src*="/static/js/"]');
  if (code && data.charts) {
    setTimeout(() => import(new URL(data.charts, code.src).href).catch(() => {}), 300);
  }
  let tab = ""; // the one that was brought into sight: tabs scroll on a phone
  const reach = (page) => {
    const row = document.querySelector(".st-key-tabs");
    const open = row?.querySelector(".st-key-tab-open");
    const current = open?.querySelector('[data-testid="stPageLink-NavLink"]')?.pathname.split("/").pop();
    if (tab === page || current !== page) return;
    tab = page;
    const [all, one] = [row, open].map((each) => each.getBoundingClientRect());
    row.scrollLeft += one.left + one.width / 2 - all.left - all.width / 2;
  };
  const mark = () => {
    const last = location.pathname.split("/").pop();
    const page = last in data.entries ? last : data.home;
    for (const [place, wanted] of [['[data-testid="stSidebar"]', data.entries[page]], [".st-key-tabs", page]]) {
      for (const link of document.querySelectorAll(`${place} [data-testid="stPageLink-NavLink"]`)) {
        if (link.pathname.split("/").pop() === wanted) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    }
    reach(page);
  };
  mark();
  const look = () => {
    document.querySelectorAll(".js-plotly-plot").forEach(hear);
    mark(); // the address changes without anything in the menu
    const now = app ? getComputedStyle(app).colorScheme : last;
    if ((now === "dark" || now === "light") && now !== last) {
      last = now;
      setStateValue("theme", now);
    }
  };
  const timer = setInterval(look, 600);
  const menu = document.querySelector('[data-testid="stSidebar"]');
  const drawn = new MutationObserver(mark);
  if (menu) drawn.observe(menu, { childList: true, subtree: true });
  const close = (event) => {
    if (window.innerWidth < 768 && event.target.closest('[data-testid="stPageLink-NavLink"]')) {
      setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click(), 50);
    }
  };
  menu?.addEventListener("click", close);
  stop = () => {
    clearInterval(timer);
    drawn.disconnect();
    menu?.removeEventListener("click", close);
  };
  return stop;
}
