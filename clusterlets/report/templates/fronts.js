"use strict";
// The front of one case, as a picture and a table. This script runs before the one that all pages share, which adds sorting.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.querySelector(".choices");
  if (!form) return;
  const svg = document.querySelector(".front svg");
  const tip = document.querySelector(".tip");
  const table = document.querySelector("#points table");
  const MARGIN = { top: 26, right: 14, bottom: 46, left: 46 };
  const DEVIATIONS = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1];
  const PRICES = [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100];
  const REACH = 24; // pixels from the pointer within which the nearest mark is selected

  // ---- the chosen case ----
  const groupsOf = ({ groups }) => groups || "its class";
  const setOptions = (name, values) => {
    const previous = form[name].value;
    const texts = [...new Set(values.map(String))];
    form[name].replaceChildren(...texts.map((text) => new Option(text)));
    if (texts.includes(previous)) form[name].value = previous;
  };
  const chosenCase = () => {
    const ofTable = data.cases.filter(({ table }) => table === form.table.value);
    setOptions("groups", ofTable.map(groupsOf));
    const ofGroups = ofTable.filter((of) => groupsOf(of) === form.groups.value);
    setOptions("k", ofGroups.map(({ k }) => k));
    return ofGroups.find(({ k }) => String(k) === form.k.value);
  };

  const pointsOf = (chosen, limit) => {
    const points = chosen.points.map((values) => {
      const point = Object.fromEntries(data.fields.map((field, column) => [field, values[column]]));
      const keeps = point.exact && point.deviation_max <= limit + data.tolerance;
      const [method, kind] = data.methods[point.method];
      return { ...point, method, kind, keeps, onFront: false };
    });
    points.sort((one, other) => other.keeps - one.keeps || one.price - other.price || one.deviation_max - other.deviation_max);
    let leastDeviation = Infinity; // among the points that cost no more
    for (const point of points) {
      if (!point.keeps || point.deviation_max >= leastDeviation) continue;
      point.onFront = true;
      leastDeviation = point.deviation_max;
    }
    return points;
  };

  const nameOf = (point) => point.method + (point.parameters ? ` (${point.parameters})` : "");
  const clusters = ({ clusters_least: least, clusters_most: most }) => (least === most ? `${least}` : `${least} to ${most}`);
  const answer = (chosen, points, limit) => {
    const kept = points.filter((point) => point.keeps);
    if (chosen.infeasible.includes(limit)) return "It is proved that no clustering keeps this limit.";
    if (!kept.length) return `None of ${points.length} points keeps the limit.`;
    const cheapest = `${nameOf(kept[0])} at price ${kept[0].price.toFixed(3)}`;
    return `${kept.length} of ${points.length} points keep the limit. The cheapest is ${cheapest}.`;
  };

  // ---- the table ----
  const fill = (points) => {
    const yesOrNo = (is) => (is ? "yes" : "no");
    const heads = [...table.tHead.rows[0].cells];
    const rows = points.map((point, position) => {
      const row = document.createElement("tr");
      row.dataset.position = position;
      const numbers = [point.price.toFixed(3), point.deviation_max.toFixed(4)];
      const sizes = [clusters(point), point.smallest, point.runs];
      const texts = [point.method, ...numbers, yesOrNo(point.keeps), yesOrNo(point.onFront), point.parameters || "–", ...sizes, point.kind];
      texts.forEach((text, column) => {
        const cell = row.insertCell();
        cell.textContent = text;
        cell.className = heads[column].className;
      });
      return row;
    });
    table.tBodies[0].replaceChildren(...rows);
    heads.forEach((head) => head.removeAttribute("aria-sort")); // the new rows are in their own order
  };

  // ---- the picture ----
  const add = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return svg.appendChild(element);
  };
  let drawn = []; // points with their position in the picture and their mark

  // Ticks at least "gap" pixels apart.
  const spaced = (values, scale, gap) =>
    values.reduce((ticks, value) => (ticks.every((tick) => Math.abs(scale(tick) - scale(value)) >= gap) ? [...ticks, value] : ticks), []);

  const draw = (points, limit) => {
    const width = Math.max(280, svg.parentElement.clientWidth);
    const height = width < 600 ? 380 : 460;
    const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
    const front = points.filter((point) => point.onFront);
    const furthest = Math.max(1.5 * limit, ...points.map((point) => point.deviation_max));
    const nearFront = Math.max(1.5, ...front.map((point) => 1.2 * point.price));
    const highest = Math.max(1.15, Math.min(nearFront, 1.03 * Math.max(...points.map((point) => point.price))));
    const lowest = Math.min(0.94, ...points.map((point) => 0.97 * point.price));
    const x = (deviation) => left + (right - left) * Math.sqrt(deviation / furthest);
    const y = (price) => bottom - ((bottom - top) * Math.log(price / lowest)) / Math.log(highest / lowest);

    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const prices = PRICES.filter((price) => price <= highest);
    for (const price of spaced(prices, y, 24)) {
      add("line", { class: "grid", x1: left, x2: right, y1: y(price), y2: y(price) });
      add("text", { class: "tick", x: left - 7, y: y(price) + 4, "text-anchor": "end" }, price);
    }
    const deviations = [limit, ...DEVIATIONS].filter((deviation) => deviation <= furthest);
    for (const deviation of spaced(deviations, x, 32)) {
      add("line", { class: "grid", x1: x(deviation), x2: x(deviation), y1: top, y2: bottom });
      add("text", { class: "tick", x: x(deviation), y: bottom + 17, "text-anchor": "middle" }, deviation);
    }
    add("text", { class: "axis", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, "largest deviation of a cluster");
    add("text", { class: "axis", x: 2, y: 12 }, "price");
    add("line", { class: "reference", x1: left, x2: right, y1: y(1), y2: y(1) });
    add("line", { class: "limit", x1: x(limit), x2: x(limit), y1: top - 8, y2: bottom });
    // A staircase from the fairest point to the cheapest: right to the next point's deviation, then down to its price.
    const lines = [{ x: x(limit), y: top, width: 0, height: bottom - top }];
    [...front].reverse().forEach((point, index, steps) => {
      const next = steps[index + 1];
      const [x1, y1, x2] = [x(point.deviation_max), y(point.price), next ? x(next.deviation_max) : x(limit)];
      add("path", { class: "line", d: `M${x1},${y1}H${x2}${next ? `V${y(next.price)}` : ""}` });
      lines.push({ x: x1, y: y1, width: x2 - x1, height: 0 });
      if (next) lines.push({ x: x2, y: y1, width: 0, height: y(next.price) - y1 });
    });
    // The front comes last, and so lies on top.
    drawn = [...points].reverse().sort((one, other) => one.onFront - other.onFront).map((point) => {
      const center = { x: x(point.deviation_max), y: Math.max(top, y(point.price)) };
      const name = point.onFront ? "keeps front" : point.keeps ? "keeps" : "misses";
      const mark = y(point.price) < top
        ? add("path", { class: name, d: `M${center.x - 5},${top + 4}h10l-5,-9z` })
        : add("circle", { class: name, cx: center.x, cy: center.y, r: point.onFront ? 5.5 : 4 });
      return { point, mark, ...center };
    });
    label(limit, x(limit), y(1), lines, { left, right, top, bottom });
  };

  // Write names where there is room: first the limit and plain k-means, then the methods on the front, beginning with the
  // cheapest, then the cheapest point of each other method. A name must not cover another name or a mark, and avoids lines if it
  // can. Without such a spot, a method on the front may cover marks that are not on the front, and any other name is left out.
  const label = (limit, limitX, oneY, lines, { left, right, top, bottom }) => {
    const taken = drawn.map(({ x, y, point }) => ({ x: x - 4, y: y - 4, width: 8, height: 8, yields: !point.onFront }));
    const meet = (one, other) =>
      one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
    const place = (text, name, spots) => {
      const element = add("text", { class: `name ${name}` }, text);
      const boxes = spots.map(([x, y, anchor]) => {
        Object.entries({ x, y, "text-anchor": anchor }).forEach(([key, value]) => element.setAttribute(key, value));
        const box = element.getBBox();
        return { x: box.x - 2, y: box.y, width: box.width + 4, height: box.height };
      });
      const isFree = (box, covers) =>
        box.x >= left && box.x + box.width <= right + MARGIN.right && box.y >= 0 && box.y + box.height <= bottom &&
        !taken.some((other) => meet(box, other) && !(covers && other.yields));
      const free = boxes.filter((candidate) => isFree(candidate, false));
      const clear = free.find((candidate) => !lines.some((line) => meet(candidate, line)));
      const box = clear ?? free[0] ?? (name === "of-front" ? boxes.find((candidate) => isFree(candidate, true)) : null);
      if (!box) return element.remove();
      const [x, y, anchor] = spots[boxes.indexOf(box)];
      Object.entries({ x, y, "text-anchor": anchor }).forEach(([key, value]) => element.setAttribute(key, value));
      taken.push(box);
    };
    place(`limit ${limit}`, "of-limit", [[limitX + 5, top - 12, "start"], [limitX - 5, top - 12, "end"]]); // above all marks
    place("plain k-means = 1", "of-reference", [[right, oneY + 14, "end"], [right, oneY - 5, "end"], [left + 4, oneY + 14, "start"]]);
    const labelled = new Set();
    const rank = ({ point }) => (point.onFront ? 0 : point.keeps ? 1 : 2);
    const order = [...drawn].sort((one, other) => rank(one) - rank(other) || one.point.price - other.point.price);
    for (const { point, x, y } of order) {
      if (labelled.has(point.method) || (!point.keeps && point.method !== "k-means")) continue;
      labelled.add(point.method);
      const beside = [[x + 9, y + 4, "start"], [x - 9, y + 4, "end"]];
      const above = [[x + 6, y - 8, "start"], [x, y - 10, "middle"], [x - 6, y - 8, "end"]];
      const below = [[x - 6, y + 17, "end"], [x, y + 19, "middle"], [x + 6, y + 17, "start"]];
      place(point.method, point.onFront ? "of-front" : "", [...beside, ...above, ...below]);
    }
  };

  // ---- the pointer: selects the nearest mark, and highlights all marks of its method ----
  const show = (nearest) => {
    for (const { point, mark } of drawn) {
      mark.classList.toggle("same", point.method === nearest?.point.method);
      mark.classList.toggle("meant", point === nearest?.point);
    }
    tip.hidden = !nearest;
    if (!nearest) return;
    const { point } = nearest;
    const size = `${clusters(point)} clusters, the smallest of ${point.smallest} rows`;
    const numbers = `price ${point.price.toFixed(3)}, largest deviation ${point.deviation_max.toFixed(4)}`;
    tip.textContent = `${nameOf(point)}: ${numbers}; ${size}; ${point.keeps ? "keeps" : "misses"} the limit`;
    const room = svg.parentElement.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, nearest.x - tip.offsetWidth / 2))}px`;
    tip.style.top = `${nearest.y + (nearest.y > svg.clientHeight / 2 ? -tip.offsetHeight - 14 : 14)}px`;
  };
  const selectNearest = (event) => {
    const box = svg.getBoundingClientRect();
    const distance = (mark) => Math.hypot(mark.x - (event.clientX - box.x), mark.y - (event.clientY - box.y));
    const nearest = drawn.reduce((best, mark) => (!best || distance(mark) <= distance(best) ? mark : best), null);
    show(nearest && distance(nearest) <= REACH ? nearest : null);
  };
  svg.addEventListener("pointermove", selectNearest);
  svg.addEventListener("pointerdown", selectNearest);
  svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show(null));

  // ---- updates ----
  let current = [];
  const update = () => {
    const chosen = chosenCase();
    const limit = Number(form.limit.value);
    current = pointsOf(chosen, limit);
    const text = answer(chosen, current, limit);
    document.querySelector(".answer").textContent = text;
    const where = `${chosen.table} by ${groupsOf(chosen)}, k = ${chosen.k}, limit ${limit}`;
    svg.setAttribute("aria-label", `Price against largest deviation, ${where}. ${text} The table below has all points.`);
    const without = `Points without a price: ${chosen.unpriced} (no run with a result, or overlapping clusters).`;
    document.querySelector(".unpriced").textContent = chosen.unpriced ? without : "";
    fill(current);
    redraw();
  };
  const redraw = () => {
    show(null);
    draw(current, Number(form.limit.value));
  };
  setOptions("table", data.cases.map(({ table }) => table));
  setOptions("limit", data.limits);
  form.limit.value = data.shown;
  form.hidden = false;
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("resize", redraw);
  update();
})();
