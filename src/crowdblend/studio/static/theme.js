// Before the page is drawn, so that it does not flash.
(() => {
  try {
    const kept = localStorage.getItem("theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // Without storage the system's own choice counts.
  }
})();
