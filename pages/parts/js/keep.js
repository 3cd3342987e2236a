// What a visitor chose is kept in cookies, so that the server has it with the first request of the next visit. The theme
// is Streamlit's own: its switch is in the menu, which the style hides, and it keeps the theme of each address alone.
// So ours presses that switch, and copies what it stored to every page.
const NAMES = ["system", "light", "dark"];
const STORED = /^stActiveTheme-(.*)-v[0-9]+$/;
const opened = new URL(performance.getEntriesByType("navigation")[0]?.name ?? location.href).pathname;
const stored = () => Object.keys(localStorage).find((key) => STORED.exec(key)?.[1] === opened);
const theme = () => (stored() ? JSON.parse(localStorage.getItem(stored())).toLowerCase() : "system");
const copy = () => {
  const key = stored();
  const links = document.querySelectorAll('[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]');
  const pages = key ? [...links].map((link) => link.pathname) : [];
  for (const path of [...pages, ...pages.map((page) => page.replace(/[^/]*$/, ""))]) {
    localStorage.setItem(key.replace(`stActiveTheme-${opened}-`, `stActiveTheme-${path}-`), localStorage.getItem(key));
  }
};
const press = (name) => {
  const menu = document.querySelector('[data-testid="stMainMenuButton"]');
  const before = document.activeElement;
  menu.click();
  setTimeout(() => {
    document.querySelectorAll('[data-testid="stThemeSwitcher"] [role="menuitemradio"]')[NAMES.indexOf(name)].click();
    setTimeout(() => {
      if (menu.getAttribute("aria-expanded") === "true") menu.click();
      before?.focus();
      copy();
    }, 50);
  }, 50);
};
let pressed = "";
export default function ({ data }) {
  for (const [name, value] of Object.entries(data.kept)) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    const how = `path=/; max-age=${value ? 31536000 : 0}; samesite=lax${secure}`;
    document.cookie = `${data.cookie}${name}=${encodeURIComponent(value)}; ${how}`;
  }
  if (NAMES.includes(data.theme) && data.theme !== pressed) {
    pressed = data.theme;
    if (data.theme !== theme()) press(data.theme);
  }
}
