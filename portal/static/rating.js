// Three marks by three keys, Enter, the next one. Marks and remark stay in the page until the server has them.
"use strict";

const rating = document.getElementById("rate");
const metrics = rating ? [...rating.querySelectorAll("fieldset.metric")] : [];

function current() {
  return metrics.find((metric) => metric.contains(document.activeElement)) ||
    metrics.find((metric) => !metric.querySelector("input:checked")) || metrics[0];
}

function goTo(metric) {
  const field = metric ? metric.querySelector("input:checked") || metric.querySelector("input") : document.getElementById("keep-marks");
  if (field) { field.focus(); field.scrollIntoView({ block: "nearest" }); }
}

function keepMarks() {
  const kept = Object.fromEntries([...new FormData(rating)].filter(([name]) => name !== "csrf"));
  try { localStorage.setItem(rating.dataset.keep, JSON.stringify(kept)); } catch { /* then only the server keeps it */ }
}

function restoreMarks() {
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(rating.dataset.keep) || "null"); } catch { kept = null; }
  for (const [name, value] of Object.entries(kept || {})) {
    if (name === "note") { if (!rating.elements.note.value) rating.elements.note.value = value; continue; }
    const field = metrics.length && rating.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`);
    if (field && !rating.querySelector(`input[name="${CSS.escape(name)}"]:checked`)) field.checked = true;
  }
}

document.addEventListener("keydown", (event) => {
  if (!rating || event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea")) return;
  if (document.querySelector("dialog[open]")) return;
  const metric = current(), place = metrics.indexOf(metric);
  if (/^[0-3]$/.test(event.key)) {
    const field = metric.querySelector(`input[value="${event.key}"]`);
    if (field && !field.disabled) { field.checked = true; keepMarks(); goTo(metrics[place + 1]); }
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    goTo(metrics[place + (event.key === "ArrowDown" ? 1 : -1)] || metric);
  } else if (event.key === "Enter" && event.target === document.body) {
    document.getElementById("keep-marks")?.click();
  } else return;
  event.preventDefault();
});

if (rating) {
  restoreMarks();
  rating.addEventListener("input", keepMarks);
  rating.addEventListener("submit", () => { try { localStorage.removeItem(rating.dataset.keep); } catch { /* nothing kept */ } });
  goTo(current());
}
