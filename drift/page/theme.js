/**
 * The colours that were chosen in this browser, before anything is painted: no module, which would
 * come later.
 */
try {
  const { theme } = JSON.parse(localStorage.getItem("drift.settings") ?? "{}");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // a browser that keeps nothing
}
