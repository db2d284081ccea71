// What is typed is kept in the page until the server has it, and on the server while it is typed. Everything works
// without this, slower.
"use strict";

const AUTOSAVE_MS = 1200;
const RETRY_MS = 8000;
const EDITABLE = /^(text|answer|unit|gold|choice_\d+|field_\d+|own_\d+_\w+)$/;

const judging = document.getElementById("judge");
if (judging && judging.dataset.mine === "yes") guardTyping(judging);

function element(kind, text, name) {
  const made = document.createElement(kind);
  if (text) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function guardTyping(form) {
  const words = form.dataset;
  const line = document.getElementById("saving");
  const version = form.elements.version;
  let dirty = false, sent = false, timer = 0, saving = null;

  function values() {
    const found = { gold: [] };
    for (const [name, value] of new FormData(form)) {
      if (name === "gold") found.gold.push(value);
      else if (EDITABLE.test(name)) found[name] = value;
    }
    return found;
  }

  function fill(kept) {
    for (const field of form.elements) {
      if (!EDITABLE.test(field.name || "")) continue;
      if (field.name === "gold") field.checked = (kept.gold || []).includes(field.value);
      else if (field.name in kept) field.value = kept[field.name];
    }
  }

  function tell(text) { line.textContent = text; }

  function keepHere() {
    try { localStorage.setItem(words.keep, JSON.stringify({ digest: words.digest, form: values() })); }
    catch { /* a full or forbidden store: the server still gets the text */ }
  }

  function forgetHere() { try { localStorage.removeItem(words.keep); } catch { /* as above */ } }

  function kept() {
    try { return JSON.parse(localStorage.getItem(words.keep) || "null"); } catch { return null; }
  }

  async function ask(address, options) {
    try {
      const headers = { Accept: "application/json", "X-CSRF-Token": words.csrf, ...options.headers };
      const reply = await fetch(address, { ...options, headers });
      return { status: reply.status, answer: await reply.json() };
    } catch { return { status: 0, answer: {} }; }
  }

  function save() {
    if (saving || !dirty) return saving;
    saving = send().finally(() => { saving = null; });
    return saving;
  }

  async function send() {
    dirty = false;
    tell(words.saving);
    const body = JSON.stringify({ version: Number(version.value), form: values() });
    const { status, answer } = await ask(words.save, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (answer.kind === "save") {
      version.value = answer.version;
      if (!dirty) { forgetHere(); tell(words.saved); }
      const time = document.querySelector("time[data-words]");
      if (answer.until && time) { time.dataset.until = answer.until; tick(); }
      showChanges(answer.changes);
    } else if (answer.kind === "conflict") {
      tell("");
      showConflict(answer);
      return;
    } else if (answer.kind === "late") {
      tell(words.late);
      return;
    } else {
      dirty = true;
      keepHere();
      if (status === 401 || status === 403) { tell(words.ended); signInAgain(save); return; }
      tell(words.here);
    }
    if (dirty) schedule(status === 200 ? AUTOSAVE_MS : RETRY_MS);
  }

  function schedule(wait) { clearTimeout(timer); timer = setTimeout(save, wait); }

  // Signing in again, in place: the page stays, with all that is typed, and goes on where it was held up.
  async function signInAgain(resume) {
    const { answer } = await ask("/sign-in", {});
    if (answer.kind === "signed_in" && answer.name === words.person) { welcome(answer, resume); return; }
    const dialog = document.getElementById("sign-in-again"), inner = dialog.querySelector("form");
    const problem = dialog.querySelector(".problem"), password = inner.elements.password;
    problem.hidden = answer.kind !== "signed_in";
    if (!problem.hidden) problem.textContent = problem.dataset.other;
    inner.onsubmit = async (event) => {
      event.preventDefault();
      const before = (await ask("/sign-in", {})).answer;
      if (before.kind === "signed_in" && before.name === words.person) { dialog.close(); welcome(before, resume); return; }
      const body = new URLSearchParams({ token: before.token || "", name: words.person, password: password.value });
      const after = (await ask("/sign-in", { method: "POST", body })).answer;
      password.value = "";
      if (after.kind === "signed_in") { dialog.close(); welcome(after, resume); return; }
      problem.textContent = after.message || words.here;
      problem.hidden = false;
      password.focus();
    };
    // Who signs in in another tab (with an account elsewhere) comes back to a page that goes on by itself.
    window.onfocus = async () => {
      const now = dialog.open ? (await ask("/sign-in", {})).answer : {};
      if (now.kind === "signed_in" && now.name === words.person && dialog.open) { dialog.close(); welcome(now, resume); }
    };
    if (!dialog.open) dialog.showModal();
    password.focus();
  }

  function welcome(answer, resume) {
    words.csrf = answer.csrf;
    for (const field of document.querySelectorAll("input[name=csrf]")) field.value = answer.csrf;
    tell("");
    resume();
  }

  function showChanges(changes) {
    if (!changes) return;
    const shown = changes.map((change) => {
      const part = element("div", "", "change"), text = element("p", "", "diff");
      for (const [kind, piece] of change.pieces) {
        text.append(kind === "same" ? piece : element(kind === "in" ? "ins" : "del", piece));
      }
      part.append(element("span", change.label, "label"), text);
      return part;
    });
    document.getElementById("changes").replaceChildren(...(shown.length ? shown : [element("p", words.noChanges, "hint")]));
  }

  function labelOf(name) {
    const field = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
    return field ? field.querySelector(".words, legend").textContent : name;
  }

  function visible(name, value) {
    if (name !== "gold") return String(value ?? "");
    return (value || []).map((mark) => String.fromCharCode(65 + Number(mark))).join(", ");
  }

  function showConflict(answer) {
    const box = document.getElementById("conflict");
    const mine = values(), theirs = answer.theirs || {};
    const two = element("div", "", "two");
    const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    const apart = names.filter((name) => visible(name, mine[name]) !== visible(name, theirs[name]));
    for (const [title, shown, button] of [[words.yours, mine, words.keepMine], [words.theirs.replace("{}", answer.by), theirs, words.keepTheirs]]) {
      const part = element("div"), list = element("dl"), choose = element("button", button);
      for (const name of apart) list.append(element("dt", labelOf(name)), element("dd", visible(name, shown[name])));
      choose.type = "button";
      choose.addEventListener("click", () => {
        version.value = answer.version;
        if (shown === theirs) fill(theirs);
        box.hidden = true;
        sent = false;
        dirty = true;
        keepHere();
        save();
      });
      part.append(element("h3", title), list, choose);
      two.append(part);
    }
    box.replaceChildren(element("p", words.conflict), two);
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
    box.querySelector("button").focus();
  }

  function showProblems(answer) {
    const top = document.getElementById("problem");
    top.textContent = answer.message || "";
    top.hidden = !answer.message;
    for (const old of form.querySelectorAll("[data-field] .problem")) old.remove();
    for (const old of form.querySelectorAll("[aria-invalid], .wrong")) { old.removeAttribute("aria-invalid"); old.classList.remove("wrong"); }
    let first = null;
    for (const [name, said] of Object.entries(answer.problems || {})) {
      const field = form.querySelector(`[data-field="${CSS.escape(name)}"]`);
      if (!field) continue;
      field.append(element("span", said, "problem"));
      const input = field.querySelector("input, textarea, select");
      if (field.matches("fieldset")) field.classList.add("wrong"); else input.setAttribute("aria-invalid", "true");
      first = first || input;
    }
    if (first) first.focus(); else top.scrollIntoView({ block: "nearest" });
  }

  async function judge(submitter) {
    if (sent) return;
    sent = true;
    clearTimeout(timer);
    await saving;  // its version is the one that this judgement must name
    dirty = false;
    keepHere();
    const body = new URLSearchParams([...new FormData(form, submitter)].filter(([, value]) => typeof value === "string"));
    const { status, answer } = await ask(form.action, { method: "POST", body });
    if (answer.kind === "done" || answer.kind === "late") {
      forgetHere();
      location.assign(answer.to);
      return;
    }
    sent = false;
    if (answer.version) version.value = answer.version;
    if (answer.kind === "conflict") showConflict(answer);
    else if (answer.kind === "problems" || answer.kind === "problem") showProblems(answer);
    else if (status === 401 || status === 403) { tell(words.ended); signInAgain(() => judge(submitter)); }
    else if (answer.message) showProblems(answer);
    else { tell(words.here); dirty = true; schedule(RETRY_MS); }
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
    if (!EDITABLE.test(event.target.name || "")) return;
    dirty = true;
    keepHere();
    schedule(AUTOSAVE_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const changed = dirty || document.querySelector("#changes ins, #changes del");
    if (event.submitter && event.submitter.value === "accept" && changed && !confirm(words.confirm)) return;
    judge(event.submitter);
  });
  window.addEventListener("pageshow", () => { sent = false; });
  window.addEventListener("beforeunload", () => { if (dirty) keepHere(); });
  document.getElementById("edit").addEventListener("click", () => {
    // The answer is what most fixes are about; the text comes last.
    const names = ["answer", "field_0", "own_0_value", "gold", "text"];
    const first = names.map((name) => form.querySelector(`[name=${name}]:checked`) || form.querySelector(`[name=${name}]`)).find(Boolean);
    first.focus();
    if (first.setSelectionRange && first.type !== "radio" && first.type !== "checkbox") first.setSelectionRange(first.value.length, first.value.length);
    first.scrollIntoView({ block: "center" });
  });
}
