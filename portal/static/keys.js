// Every act has a key. A page names them in its markup: data-key clicks, data-focus focuses, data-row is walked by j and k.
"use strict";

const GO_MS = 1500;
let going = 0;

function typing(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}

function help() {
  const box = document.getElementById("help");
  if (box.open) box.close(); else box.showModal();
}

function submitHere() {
  const active = document.activeElement;
  const inside = active.closest("details[open]");
  const form = active.closest("form") || document.getElementById("judge");
  if (!form) return false;
  const button = (inside && form.contains(inside) && inside.querySelector("button")) ||
    form.querySelector("[data-key=s]") || form.querySelector("button:not([type=button])");
  if (button) button.click();
  return Boolean(button);
}

function leave() {
  if (typing(document.activeElement)) { document.activeElement.blur(); return; }
  for (const box of document.querySelectorAll("#rejecting, #skipping, #returning, #third")) box.open = false;
  document.activeElement.blur();
}

function walk(step) {
  const rows = [...document.querySelectorAll("a[data-row]")];
  if (!rows.length) return false;
  const next = Math.min(Math.max(rows.indexOf(document.activeElement) + step, 0), rows.length - 1);
  rows[next].focus();
  return true;
}

function act(key) {
  const reasons = document.querySelector("details[open] .reasons");
  if (reasons && /^[1-9]$/.test(key)) {
    const choice = reasons.querySelectorAll("input")[Number(key) - 1];
    if (choice) { choice.checked = true; choice.focus(); return true; }
  }
  const button = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (button) {
    button.click();
    const box = button.closest("details");
    if (button.matches("summary") && box && box.open) {
      const first = box.querySelector("textarea, input:not([type=hidden])");
      if (first) first.focus();
      box.scrollIntoView({ block: "nearest" });
    }
    return true;
  }
  const field = document.querySelector(`[data-focus="${CSS.escape(key)}"]`);
  if (field) { field.focus(); field.scrollIntoView({ block: "center" }); return true; }
  if (key === "o" && document.getElementById("source")) { document.getElementById("source").focus(); return true; }
  if (key === "j") return walk(1);
  if (key === "k") return walk(-1);
  return false;
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (document.querySelector("dialog[open]")) {
    if (event.key === "?" && document.getElementById("help").open) { event.preventDefault(); help(); }
    return;
  }
  if (event.key === "Escape") { leave(); return; }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (submitHere()) event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "?") { event.preventDefault(); help(); return; }
  const key = event.key.toLowerCase();
  if (Date.now() - going < GO_MS) {
    going = 0;
    const place = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
    if (place) { event.preventDefault(); place.click(); return; }
  }
  if (key === "g") { going = Date.now(); return; }
  if (act(key)) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-help]")) button.addEventListener("click", help);

for (const button of document.querySelectorAll("[data-open]")) {
  button.addEventListener("click", () => {
    const box = document.getElementById(button.dataset.open);
    for (const other of document.querySelectorAll("#rejecting, #skipping")) other.open = other === box;
    box.open = true;
    box.querySelector("input").focus();
    box.scrollIntoView({ block: "nearest" });
  });
}

function tick() {
  for (const time of document.querySelectorAll("time[data-until]")) {
    const end = new Date(time.dataset.until), words = time.dataset.words;
    const minutes = Math.max(0, Math.round((end - Date.now()) / 60000));
    time.title = end.toLocaleString(document.documentElement.lang);
    time.textContent = words ? words.replace("{}", minutes) : time.title;
  }
}
tick();
setInterval(tick, 30000);
for (const field of document.querySelectorAll("input[readonly][autofocus]")) field.select();
