// Comfort for the report: tooltips, sorting, filtering, copying. The page says everything
// without it, and nothing here reads or writes anything outside the page.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // The tooltip of a point shows the text that the point's own title has.
  const figure = byId("scatter");
  const tip = byId("tip");
  let active = null;
  const hide = () => {
    if (active) active.classList.remove("active");
    active = null;
    tip.hidden = true;
  };
  const show = (point) => {
    if (active === point) return;
    hide();
    active = point;
    point.classList.add("active");
    const [name, ...facts] = point.dataset.facts.split("\n");
    const strong = document.createElement("b");
    strong.textContent = name;
    tip.replaceChildren(strong, "\n" + facts.join("\n"));
    tip.hidden = false;
    const frame = figure.getBoundingClientRect();
    const mark = point.querySelector(".mark").getBoundingClientRect();
    const x = mark.left + mark.width / 2 - frame.left;
    const y = mark.top - frame.top;
    const left = Math.min(Math.max(x - tip.offsetWidth / 2, 0), frame.width - tip.offsetWidth);
    const above = y - tip.offsetHeight - 12;
    tip.style.left = left + "px";
    tip.style.top = (above > 0 ? above : y + mark.height + 12) + "px";
  };
  for (const point of figure.querySelectorAll(".point")) {
    const title = point.querySelector("title");
    point.dataset.facts = title.textContent;
    point.setAttribute("aria-label", title.textContent.replaceAll("\n", ", "));
    point.setAttribute("role", "img");
    point.setAttribute("tabindex", "0");
    title.remove();
    point.addEventListener("pointerenter", () => show(point));
    point.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") hide();
    });
    point.addEventListener("focus", () => show(point));
    point.addEventListener("blur", hide);
    point.addEventListener("click", (event) => {
      event.stopPropagation();
      show(point);
    });
  }
  document.addEventListener("click", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // A table sorts by the number that a cell carries, or by its text where it carries none.
  const key = (row, index) => {
    const cell = row.cells[index];
    const figure = cell.dataset.sort ?? cell.dataset.order;
    if (figure === undefined) return cell.textContent.trim();
    return figure === "" ? Infinity : Number(figure);
  };
  const compare = (left, right) =>
    typeof left === "number"
      ? left - right
      : left.localeCompare(right, undefined, { numeric: true });
  for (const table of document.querySelectorAll("table.trials")) {
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].sort((left, right) => {
          const order = compare(key(left, index), key(right, index));
          return ascending ? order : -order;
        });
        body.replaceChildren(...rows);
      });
    });
  }

  const form = byId("filter");
  if (form) {
    form.hidden = false;
    const rows = [...byId("timed").tBodies[0].rows];
    const apply = () => {
      const words = byId("filter-text").value.toLowerCase();
      const encoding = byId("filter-encoding").value;
      const codec = byId("filter-codec").value;
      let count = 0;
      for (const row of rows) {
        const fits =
          (!encoding || row.dataset.encoding === encoding) &&
          (!codec || row.dataset.codec === codec) &&
          (!words || row.textContent.toLowerCase().includes(words));
        row.hidden = !fits;
        count += fits ? 1 : 0;
      }
      byId("filter-count").textContent = count === 1 ? "1 trial" : count + " trials";
    };
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  const copy = byId("copy");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const profile = byId("profile");
    const said = (text) => {
      copy.textContent = text;
      setTimeout(() => (copy.textContent = "Copy"), 1600);
    };
    try {
      await navigator.clipboard.writeText(profile.textContent);
      said("Copied");
    } catch {
      // Some browsers keep the clipboard from files; the selected text is then one key away.
      getSelection().selectAllChildren(profile);
      said("Selected");
    }
  });
})();
