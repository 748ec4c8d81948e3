"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const MOST_LINES = 200, EDGE = 56, REACH = 12, COLOURS = ["#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e"];
const byId = (id) => document.getElementById(id);
const plot = byId("plot"), pen = plot.getContext("2d");
const numbers = new Intl.NumberFormat("en");
const models = [...new Set(data.rows.map((row) => row.model))];
let shown = [], places = [], chosen = null;

function addSelect(select, options, value) {
  for (const [key, label] of options) select.add(new Option(label, key));
  select.value = value;
  select.addEventListener("change", draw);
}

function addFilters() {
  const measures = Object.entries(data.measures);
  addSelect(byId("across"), measures, "ram_bytes");
  addSelect(byId("up"), measures, "cycles");
  for (const name of data.filters) {
    const values = [...new Set(data.rows.map((row) => String(row[name])))];
    if (values.length < 2) continue;
    const label = document.createElement("label"), select = document.createElement("select");
    label.append(name + " ", select);
    select.dataset.axis = name;
    addSelect(select, [["", "all"], ...values.map((value) => [value, value])], "");
    byId("filters").append(label);
  }
}

function wanted() {
  const filters = [...document.querySelectorAll("select[data-axis]")].filter((select) => select.value)
    .map((select) => [select.dataset.axis, select.value]);
  return data.rows.filter((row) => row.fits && filters.every(([axis, value]) => String(row[axis]) === value));
}

function scale(values, start, end) {
  const low = Math.min(...values), high = Math.max(...values), span = high - low || 1;
  return (value) => start + ((value - low) / span) * (end - start);
}

function extremes(measure) {
  let low = Infinity, high = -Infinity;
  for (const row of shown) {
    low = Math.min(low, row[measure]);
    high = Math.max(high, row[measure]);
  }
  return shown.length ? [low, high] : [0, 1];
}

function draw() {
  shown = wanted();
  const across = byId("across").value, up = byId("up").value;
  const x = scale(extremes(across), EDGE * 1.5, plot.width - EDGE), y = scale(extremes(up), plot.height - EDGE, EDGE / 2);
  const ink = getComputedStyle(document.body).color;
  pen.clearRect(0, 0, plot.width, plot.height);
  pen.fillStyle = pen.strokeStyle = ink;
  pen.font = "12px sans-serif";
  const [left, right] = extremes(across), [bottom, top] = extremes(up);
  pen.fillText(numbers.format(left), EDGE * 1.5, plot.height - EDGE / 2);
  pen.textAlign = "right";
  pen.fillText(`${numbers.format(right)}  ${data.measures[across]}`, plot.width - 4, plot.height - EDGE / 2);
  pen.textAlign = "left";
  pen.fillText(`${numbers.format(top)}  ${data.measures[up]}`, 4, 14);
  pen.fillText(numbers.format(bottom), 4, plot.height - EDGE + 4);
  places = shown.map((row) => [x(row[across]), y(row[up])]);
  shown.forEach((row, number) => {
    const [px, py] = places[number];
    pen.strokeStyle = pen.fillStyle = COLOURS[models.indexOf(row.model) % COLOURS.length];
    pen.beginPath();
    pen.arc(px, py, row.front ? 5 : 3, 0, 2 * Math.PI);
    row.front ? pen.fill() : pen.stroke();
  });
  if (chosen !== null && shown.includes(chosen)) mark(chosen, ink);
  list();
}

function mark(row, ink) {
  const [px, py] = places[shown.indexOf(row)];
  pen.strokeStyle = ink;
  pen.strokeRect(px - 8, py - 8, 16, 16);
}

function list() {
  const columns = ["model", "target", ...Object.keys(data.measures), "flags"];
  const measure = byId("across").value;
  const best = shown.filter((row) => row.front), rest = shown.filter((row) => !row.front);
  const lines = [...best, ...rest].slice(0, MOST_LINES).sort((one, other) => one[measure] - other[measure]);
  const head = document.createElement("tr");
  for (const name of columns) head.insertCell().textContent = data.measures[name] ?? name;
  byId("rows").tHead.replaceChildren(head);
  const body = byId("rows").tBodies[0];
  body.replaceChildren();
  for (const row of lines) {
    const line = body.insertRow();
    for (const name of columns) {
      const value = row[name];
      line.insertCell().textContent = typeof value === "number" ? numbers.format(value) : value;
    }
    line.addEventListener("click", () => choose(row));
  }
  byId("count").textContent = `${numbers.format(shown.length)} points shown` +
    (shown.length > lines.length ? `; the table has the ${numbers.format(lines.length)} first, best ones before others` : "");
}

function choose(row) {
  chosen = row;
  const memories = Object.keys(row).filter((name) => name.startsWith("used.") && row[name] !== undefined)
    .map((name) => `${name.slice(5)} ${numbers.format(row[name])} B`);
  byId("point").textContent = `tilewright check ${row.model} ${row.flags}   (${memories.join(", ")}, ` +
    `${numbers.format(row.cycles)} cycles by estimate)`;
  draw();
}

plot.addEventListener("click", (event) => {
  const box = plot.getBoundingClientRect(), ratio = plot.width / box.width;
  const px = (event.clientX - box.left) * ratio, py = (event.clientY - box.top) * ratio;
  let nearest = null, least = REACH * REACH;
  places.forEach(([x, y], number) => {
    const distance = (x - px) ** 2 + (y - py) ** 2;
    if (distance <= least) [nearest, least] = [shown[number], distance];
  });
  if (nearest) choose(nearest);
});

addFilters();
draw();
