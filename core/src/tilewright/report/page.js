"use strict";
const tip = document.getElementById("tip");
const charts = [...document.querySelectorAll("figure svg")];
const thousands = (text) => Number(text).toLocaleString("en-US");

for (const title of document.querySelectorAll("figure svg title")) title.remove(); // our own tip says more

function line(text, element) {
  const made = document.createElement(element);
  made.textContent = text;
  return made;
}

function show(event, lines) {
  tip.replaceChildren(...lines.map((text, index) => line(text, index ? "span" : "b")));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 16 + box.width > innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
  const top = Math.min(event.clientY + 14, innerHeight - box.height - 8);
  tip.style.left = Math.max(left, 4) + "px";
  tip.style.top = Math.max(top, 4) + "px";
}

function columnAt(chart, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
  const { left, width, steps, live } = chart.dataset;
  if (live === undefined) return -1; // a strip of addresses has no time
  const column = Math.floor((point.x - left) / width * steps);
  return column >= 0 && column < steps ? column : -1;
}

function cross(column) {
  for (const chart of charts) {
    chart.querySelector(".cross")?.remove();
    const { left, width, steps, live, bottom } = chart.dataset;
    if (column < 0 || column >= steps || live === undefined) continue;
    const mark = document.createElementNS(chart.namespaceURI, "line");
    const x = Number(left) + (column + 0.5) * width / steps;
    mark.setAttribute("class", "cross");
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: 28, y2: chart.viewBox.baseVal.height - bottom })) {
      mark.setAttribute(name, value);
    }
    chart.append(mark);
  }
}

function alive(chart, column) {
  const { live, times } = chart.dataset;
  if (live === undefined || column < 0) return [];
  return ["step " + times.split(" ")[column] + ": " + thousands(live.split(" ")[column]) + " B alive"];
}

for (const chart of charts) {
  chart.addEventListener("mousemove", (event) => {
    const column = columnAt(chart, event);
    cross(column);
    const box = event.target.closest(".box");
    for (const lit of chart.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!box) return void (alive(chart, column).length ? show(event, alive(chart, column)) : tip.hidden = true);
    const { name, kind, size, low, life, note } = box.dataset;
    for (const same of chart.querySelectorAll(".box")) same.classList.toggle("lit", same.dataset.name === name);
    const place = thousands(size) + " B at " + thousands(low) + " to " + thousands(Number(low) + Number(size));
    show(event, [name, kind + ", " + place, life, ...(note ? ["ONNX: " + note] : []), ...alive(chart, column)]);
  });
  chart.addEventListener("mouseleave", () => {
    tip.hidden = true;
    cross(-1);
    for (const lit of chart.querySelectorAll(".lit")) lit.classList.remove("lit");
  });
}

document.getElementById("find").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const chart of charts) {
    chart.classList.toggle("dimmed", wanted !== "");
    for (const box of chart.querySelectorAll(".box")) {
      box.classList.toggle("lit", wanted !== "" && box.dataset.name.toLowerCase().includes(wanted));
    }
  }
});

document.getElementById("find-layer")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  const says = (row) => [...row.cells].map((cell) => cell.textContent + " " + cell.title).join(" ");
  for (const row of document.querySelectorAll("#layers tr[data-step]")) {
    row.hidden = !says(row).toLowerCase().includes(wanted);
  }
});

for (const row of document.querySelectorAll("[data-step]")) {
  row.addEventListener("mouseenter", () => cross(Number(row.dataset.step)));
  row.addEventListener("mouseleave", () => cross(-1));
}

document.querySelectorAll("th").forEach((head, column) => head.addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") !== "descending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const body = head.closest("table").tBodies[0];
  const order = (a, b) => value(a).localeCompare(value(b), "en", { numeric: true });
  body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
}));
