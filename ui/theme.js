// A classic script, so that it runs before the first paint: a chosen theme never flashes the other one.
try {
  const theme = JSON.parse(localStorage.getItem("bench.theme"));
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (JSON.parse(localStorage.getItem("bench.role")) === "judge") document.documentElement.dataset.role = "judge";
  if (JSON.parse(localStorage.getItem("bench.rows")) === "dense") document.documentElement.dataset.rows = "dense";
} catch {
  // Storage is closed to us: the page follows the system.
}
