"use strict";
// Sorting, filters and the list of contents. The page can be read without any of it.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- sorting: a button in each header; ascending, descending, original order ----
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    if (text === "" || text === "–") return null;
    const number = Number(text.replaceAll("−", "-").split(" ± ")[0]);
    return Number.isNaN(number) ? text : number;
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other
      : String(one).localeCompare(String(other), "en", { numeric: true });

  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((one, other) => one.dataset.position - other.dataset.position);
    if (direction) {
      const values = new Map(rows.map((row) => [row, valueOf(row, column)]));
      rows.sort((one, other) => {
        const [a, b] = [values.get(one), values.get(other)];
        if (a === null || b === null) return (a === null) - (b === null); // cells without a value come last, both ways
        return direction * compare(a, b);
      });
    }
    body.append(...rows);
  };

  for (const table of all("table.sortable")) {
    [...table.tBodies[0].rows].forEach((row, position) => (row.dataset.position = position));
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.ariaSort ?? ""];
        const order = next === undefined ? "ascending" : next;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order) head.ariaSort = order;
        sort(table, column, { ascending: 1, descending: -1 }[order]);
      });
    });
  }

  // ---- filters: rows without the verdict are hidden, other cells of a row fade ----
  for (const filter of all(".filter")) {
    const scope = document.getElementById(filter.dataset.scope);
    const buttons = all("button", filter);
    const show = (button) => {
      const verdict = button.dataset.show;
      buttons.forEach((other) => other.setAttribute("aria-pressed", other === button));
      const has = (element) => !verdict || element.dataset.verdict.split(" ").includes(verdict);
      const rows = all("tr[data-verdict]", scope);
      rows.forEach((row) => (row.hidden = !has(row)));
      all("td[data-verdict]", scope).forEach((cell) => cell.classList.toggle("faded", !has(cell)));
      all(".none-shown", scope).forEach((note) => note.remove());
      for (const body of all("table:has(tr[data-verdict]) > tbody", scope)) {
        const hasRows = [...body.rows].some((row) => !row.hidden);
        if (!hasRows) body.closest(".box").insertAdjacentHTML("beforebegin", '<p class="none-shown note">None in this table.</p>');
        body.closest(".box").hidden = !hasRows;
        const rest = body.closest("details.rest");
        if (rest && verdict) rest.open = hasRows;
      }
      const shown = rows.filter((row) => !row.hidden).length;
      all(".shown", filter)[0].textContent = verdict ? `${shown} of ${rows.length} rows shown` : "";
    };
    buttons.forEach((button) => button.addEventListener("click", () => show(button)));
    filter.hidden = false;
  }

  // ---- contents: folded on a phone; the section in view is marked ----
  const contents = all("nav > details")[0];
  const narrow = matchMedia("(max-width: 68rem)");
  const fold = () => (contents.open = !narrow.matches);
  narrow.addEventListener("change", fold);
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && narrow.matches) contents.open = false;
  });
  fold();
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(entry.target.id).setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  links.forEach((_, id) => watch.observe(document.getElementById(id)));

  // ---- a link to something folded away unfolds it ----
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let element = target; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
