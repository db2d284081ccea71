"use strict";
(function () {
  var root = document.documentElement;
  root.classList.add("js");

  function remember(key, value) { try { localStorage.setItem("taxpraben-" + key, value); } catch (e) { /* no storage */ } }
  function recall(key) { try { return localStorage.getItem("taxpraben-" + key); } catch (e) { return null; } }

  function setLanguage(language) {
    root.dataset.lang = language;
    root.lang = language === "zh" ? "zh-CN" : "en";
    document.querySelectorAll("[data-set-lang]").forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.setLang === language));
    });
    remember("lang", language);
  }
  document.querySelectorAll("[data-set-lang]").forEach(function (button) {
    button.addEventListener("click", function () { setLanguage(button.dataset.setLang); });
  });
  setLanguage(recall("lang") === "en" ? "en" : "zh");

  // Tabs: one value of each kind (setting, protocol, view) is chosen; the body carries it for the style sheet.
  function choose(kind, value) {
    document.querySelectorAll('[data-choose="' + kind + '"]').forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.value === value));
    });
    document.body.dataset[kind] = value;
    document.querySelectorAll("section.board").forEach(function (section) {
      section.hidden = section.dataset.setting !== document.body.dataset.setting ||
        section.dataset.protocol !== document.body.dataset.protocol;
    });
  }
  document.querySelectorAll("[data-choose]").forEach(function (button) {
    button.addEventListener("click", function () { choose(button.dataset.choose, button.dataset.value); });
    if (button.hasAttribute("data-first")) { choose(button.dataset.choose, button.dataset.value); }
  });

  // Sorting: numbers from high to low first, names from a to z; blanks always last; equal rows keep their order.
  function valueOf(row, index) {
    var cell = row.cells[index];
    if (!cell || cell.dataset.v === undefined) { return null; }
    return cell.dataset.kind === "text" ? cell.dataset.v : Number(cell.dataset.v);
  }
  document.querySelectorAll("table.sortable thead button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.closest("th");
      var table = head.closest("table");
      var body = table.tBodies[0];
      var index = Array.prototype.indexOf.call(head.parentNode.children, head);
      var now = head.getAttribute("aria-sort");
      var first = head.dataset.first || "descending";
      var other = first === "descending" ? "ascending" : "descending";
      var next = now === first ? other : first;
      table.querySelectorAll("th[aria-sort]").forEach(function (cell) { cell.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", next);
      var sign = next === "ascending" ? 1 : -1;
      Array.from(body.rows)
        .map(function (row, place) { return { row: row, place: place, value: valueOf(row, index) }; })
        .sort(function (a, b) {
          if (a.value === null || b.value === null) {
            return (a.value === null) - (b.value === null) || a.place - b.place;
          }
          return sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0) || a.place - b.place;
        })
        .forEach(function (entry) { body.appendChild(entry.row); });
    });
  });
})();
