// Keys, autosave, and a copy of what is typed in the page until the server has it. Everything works without it, slower.
"use strict";

const AUTOSAVE_MS = 1200;
const RETRY_MS = 8000;

function typing(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const form = document.getElementById("judge");
  if (event.key === "Escape") { document.activeElement.blur(); return; }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const inside = document.activeElement.closest("details[open]");
    const button = inside ? inside.querySelector("button") : form && form.querySelector("[data-key=s]");
    if (button) { event.preventDefault(); button.click(); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) { event.preventDefault(); button.click(); return; }
  const open = document.querySelector("details[open] .reasons");
  if (open && /^[1-9]$/.test(event.key)) {
    const choice = open.querySelectorAll("input")[Number(event.key) - 1];
    if (choice) { choice.checked = true; choice.focus(); }
  }
});

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
    const minutes = Math.max(0, Math.round((Date.parse(time.dataset.until) - Date.now()) / 60000));
    time.title = new Date(time.dataset.until).toLocaleString(document.documentElement.lang);
    time.textContent = time.dataset.words ? time.dataset.words.replace("{}", minutes) : new Date(time.dataset.until).toLocaleString(document.documentElement.lang);
  }
}
tick();
setInterval(tick, 30000);

// The page's copy of a text goes when the server says that it took the judgement, and not before.
const done = new URLSearchParams(location.search).get("done");
if (done && done !== "late") {
  try {
    localStorage.removeItem(sessionStorage.getItem("taxpraben submitted") || "");
    sessionStorage.removeItem("taxpraben submitted");
  } catch { /* no store, no copy */ }
}

const form = document.getElementById("judge");
if (form && form.dataset.mine === "yes") guardTyping(form);

function guardTyping(form) {
  const words = form.dataset;
  const line = document.getElementById("saving");
  const version = form.elements.version;
  const editable = /^(text|answer|unit|gold|choice_\d+|field_\d+|own_\d+_\w+)$/;
  let dirty = false, busy = false, sent = false, timer = 0;

  function values() {
    const found = { gold: [] };
    for (const [name, value] of new FormData(form)) {
      if (name === "gold") found.gold.push(value);
      else if (editable.test(name)) found[name] = value;
    }
    return found;
  }

  function fill(kept) {
    for (const element of form.elements) {
      if (!editable.test(element.name || "")) continue;
      if (element.name === "gold") element.checked = (kept.gold || []).includes(element.value);
      else if (element.name in kept) element.value = kept[element.name];
    }
  }

  function tell(text) { line.textContent = text; }

  function keepHere() {
    try { localStorage.setItem(words.keep, JSON.stringify({ digest: words.digest, version: Number(version.value), form: values() })); }
    catch { /* a full or forbidden store: the server still gets the text */ }
  }

  function forgetHere() { try { localStorage.removeItem(words.keep); } catch { /* as above */ } }

  function kept() {
    try { return JSON.parse(localStorage.getItem(words.keep) || "null"); } catch { return null; }
  }

  async function send() {
    if (busy || !dirty) return;
    busy = true;
    dirty = false;
    tell(words.saving);
    let answer = null, status = 0;
    try {
      const reply = await fetch(words.save, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": words.csrf },
        body: JSON.stringify({ version: Number(version.value), form: values() }),
      });
      status = reply.status;
      answer = await reply.json();
    } catch { answer = null; }
    busy = false;
    if (answer && answer.kind === "save") {
      version.value = answer.version;
      if (!dirty) { forgetHere(); tell(words.saved); }
      if (answer.until) { const time = document.querySelector("time[data-words]"); if (time) { time.dataset.until = answer.until; tick(); } }
      showChanges(answer.changes);
    } else if (answer && answer.kind === "conflict") {
      tell("");
      showConflict(answer);
      return;
    } else if (answer && answer.kind === "late") {
      tell(words.late);
      return;
    } else if (status === 401 || status === 403) {
      dirty = true;
      tell(words.ended + " ");
      const link = document.createElement("a");
      link.href = "/sign-in?onward=" + encodeURIComponent(location.pathname);
      link.target = "_blank";
      link.rel = "noopener";
      link.textContent = words.signIn;
      line.append(link);
    } else {
      dirty = true;
      tell(words.here);
    }
    if (dirty) schedule(status === 200 ? AUTOSAVE_MS : RETRY_MS);
  }

  function schedule(wait) { clearTimeout(timer); timer = setTimeout(send, wait); }

  function showChanges(changes) {
    const box = document.getElementById("changes");
    if (!changes) return;
    box.replaceChildren();
    for (const change of changes) {
      const part = document.createElement("div"), label = document.createElement("span"), text = document.createElement("p");
      part.className = "change"; label.className = "label"; text.className = "diff";
      label.textContent = change.label;
      for (const [kind, piece] of change.pieces) {
        const element = kind === "same" ? document.createTextNode(piece) : document.createElement(kind === "in" ? "ins" : "del");
        element.textContent = piece;
        text.append(element);
      }
      part.append(label, text);
      box.append(part);
    }
    if (!changes.length) { const none = document.createElement("p"); none.className = "hint"; none.textContent = words.noChanges; box.append(none); }
  }

  function showConflict(answer) {
    const box = document.getElementById("conflict");
    const mine = values(), theirs = answer.theirs || {};
    const two = document.createElement("div"), said = document.createElement("p");
    said.textContent = words.conflict;
    two.className = "two";
    for (const [title, shown, button] of [[words.yours, mine, words.keepMine], [words.theirs.replace("{}", answer.by), theirs, words.keepTheirs]]) {
      const part = document.createElement("div"), head = document.createElement("h3"), list = document.createElement("dl"), choose = document.createElement("button");
      head.textContent = title;
      for (const name of Object.keys(shown)) {
        if (String(mine[name] ?? "") === String(theirs[name] ?? "")) continue;
        const value = document.createElement("dd");
        value.textContent = String(shown[name]);
        list.append(value);
      }
      choose.type = "button";
      choose.textContent = button;
      choose.addEventListener("click", () => {
        version.value = answer.version;
        if (shown === theirs) fill(theirs);
        box.hidden = true;
        dirty = true;
        keepHere();
        send();
      });
      part.append(head, list, choose);
      two.append(part);
    }
    box.replaceChildren(said, two);
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
  }

  const before = kept();
  if (new URLSearchParams(location.search).get("text") === "server") {
    forgetHere();
  } else if (before && before.digest === words.digest && JSON.stringify(before.form) !== JSON.stringify(values())) {
    fill(before.form);
    tell(words.restored);
    dirty = true;
    schedule(AUTOSAVE_MS);
  }

  form.addEventListener("input", (event) => {
    if (!editable.test(event.target.name || "")) return;
    dirty = true;
    keepHere();
    schedule(AUTOSAVE_MS);
  });
  // One submission is enough; a second click while the first is on its way would only come too late.
  form.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }
    const changed = dirty || document.querySelector("#changes ins, #changes del");
    if (event.submitter && event.submitter.value === "accept" && changed && !confirm(words.confirm)) { event.preventDefault(); return; }
    sent = true;
    clearTimeout(timer);
    try { sessionStorage.setItem("taxpraben submitted", words.keep); } catch { /* the copy then stays a little longer */ }
    setTimeout(() => { sent = false; }, 4000);
  });
  window.addEventListener("pageshow", () => { sent = false; });
  window.addEventListener("beforeunload", () => { if (dirty) keepHere(); });
  document.getElementById("edit").addEventListener("click", () => {
    // The answer is what most fixes are about; the text comes last.
    const first = ["answer", "field_0", "own_0_value", "gold", "text"].map((name) => form.querySelector(`[name=${name}]`)).find(Boolean);
    first.focus();
    first.scrollIntoView({ block: "center" });
  });
}
