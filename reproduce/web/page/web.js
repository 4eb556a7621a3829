// SPDX-License-Identifier: Apache-2.0
// The page and its workers. In a worker, Go trains. The page draws the worker's data and sends the controls' positions.
"use strict";

// ---- the worker ----

// memoryFS has the functions of node's module fs that Go calls, on files in memory.
function memoryFS() {
  const nodes = new Map([["/", { dir: true, ino: 1, time: 0 }]]), open = new Map();
  let next = 100, line = "";
  const fail = (code) => Object.assign(new Error(code), { code });
  const clean = (path) => path.replace(/\/\.(?=\/|$)/g, "").replace(/\/+$/, "") || "/";
  const parent = (path) => clean(path.slice(0, path.lastIndexOf("/")));
  const find = (path) => nodes.get(clean(path)) ?? (() => { throw fail("ENOENT"); })();
  const file = (fd) => open.get(fd) ?? (() => { throw fail("EBADF"); })();
  const add = (path, node) => {
    if (!nodes.get(parent(clean(path)))?.dir) throw fail("ENOENT");
    nodes.set(clean(path), Object.assign(node, { ino: next++, time: Date.now() }));
    return node;
  };
  const children = (path) => [...nodes.keys()].filter((k) => k !== "/" && parent(k) === clean(path)).map((k) => k.slice(k.lastIndexOf("/") + 1));
  const stat = (n) => ({ dev: 1, ino: n.ino, mode: n.dir ? 0o40777 : 0o100666, nlink: 1, uid: 0, gid: 0, rdev: 0, size: n.dir ? 0 : n.size,
    blksize: 4096, blocks: 0, atimeMs: n.time, mtimeMs: n.time, ctimeMs: n.time, isDirectory: () => !!n.dir });
  const O = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  const print = (bytes) => {
    const lines = (line + new TextDecoder().decode(bytes)).split("\n");
    line = lines.pop();
    lines.forEach((text) => console.log(text));
    return bytes.length;
  };
  const calls = {
    open(path, flags) {
      let n = nodes.get(clean(path));
      if (n && flags & O.O_EXCL) throw fail("EEXIST");
      if (!n && !(flags & O.O_CREAT)) throw fail("ENOENT");
      n ??= add(path, { data: new Uint8Array(0), size: 0 });
      if (flags & O.O_TRUNC) n.size = 0;
      open.set(next, { n, at: flags & O.O_APPEND ? n.size : 0 });
      return next++;
    },
    close: (fd) => void open.delete(fd),
    read(fd, buffer, offset, length, position) {
      const f = file(fd), from = position ?? f.at, part = f.n.data.subarray(from, Math.min(from + length, f.n.size));
      buffer.set(part, offset);
      if (position === null) f.at += part.length;
      return part.length;
    },
    write(fd, buffer, offset, length, position) {
      const bytes = buffer.subarray(offset, offset + length);
      if (fd < 3) return print(bytes);
      const f = file(fd), from = position ?? f.at, end = from + length;
      if (end > f.n.data.length) {
        const larger = new Uint8Array(Math.max(end, 2 * f.n.data.length));
        larger.set(f.n.data.subarray(0, f.n.size));
        f.n.data = larger;
      }
      f.n.data.set(bytes, from);
      f.n.size = Math.max(f.n.size, end);
      f.n.time = Date.now();
      if (position === null) f.at = end;
      return length;
    },
    stat: (path) => stat(find(path)), lstat: (path) => stat(find(path)), fstat: (fd) => stat(file(fd).n),
    mkdir(path) {
      if (nodes.has(clean(path))) throw fail("EEXIST");
      add(path, { dir: true });
    },
    readdir: (path) => find(path) && children(path),
    rename(from, to) {
      nodes.set(clean(to), find(from));
      nodes.delete(clean(from));
    },
    unlink(path) {
      if (find(path).dir) throw fail("EISDIR");
      nodes.delete(clean(path));
    },
    rmdir(path) {
      if (!find(path).dir) throw fail("ENOTDIR");
      if (children(path).length) throw fail("ENOTEMPTY");
      nodes.delete(clean(path));
    },
    fsync: () => undefined,
    readlink: () => { throw fail("EINVAL"); },
  };
  const fs = { constants: O, writeSync: (fd, bytes) => print(bytes), put: (path, data) => add(path, { data, size: data.length }), has: (path) => nodes.has(path) };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = (...args) => {
      const done = args.pop();
      let value;
      try { value = call(...args); } catch (error) { return done(error); }
      done(null, value);
    };
  }
  for (const name of ["chmod", "fchmod", "chown", "fchown", "lchown", "utimes"]) fs[name] = (...args) => args.pop()(null);
  for (const name of ["link", "symlink", "truncate", "ftruncate"]) fs[name] = (...args) => args.pop()(fail("ENOSYS"));
  return fs;
}

// work runs the program in a worker. The first message has its compiled module, later ones are the page's.
function work() {
  const memory = globalThis.fs = memoryFS();
  for (const folder of ["/dev", "/records", "/records/checkpoints"]) memory.mkdir(folder, () => {});
  memory.put("/dev/null", new Uint8Array(0));
  globalThis.hear = (text) => postMessage(text);
  const fetchStart = async (id) => {
    for (const name of [id + ".json.gz", "checkpoints/" + id + ".safetensors.gz"]) {
      if (memory.has("/records/" + name)) continue;
      const answer = await fetch("records/" + name);
      if (!answer.ok) throw new Error(`records/${name}: ${answer.status}`);
      memory.put("/records/" + name, new Uint8Array(await answer.arrayBuffer()));
    }
  };
  let turn = Promise.resolve(); // messages stay in order, although some wait for files
  onmessage = ({ data }) => {
    turn = turn.then(async () => {
      if (data.module) {
        await start(data.module);
        return;
      }
      if (data.Start) await fetchStart(data.Start);
      tell(JSON.stringify(data));
    }).catch((error) => postMessage(JSON.stringify({ kind: "error", value: String(error) })));
  };
}

// arithmetic assembles the functions that the files in gomlx call: a WebAssembly module on the program's memory.
function arithmetic(memory) {
  const leb = (n) => n < 128 ? [n] : [n & 127 | 128, ...leb(n >> 7)], section = (id, body) => [id, ...leb(body.length), ...body];
  const text = (s) => [s.length, ...new TextEncoder().encode(s)], i32 = 0x7f, v128 = 0x7b;
  const get = (i) => [0x20, i], set = (i) => [0x21, i], constant = (n) => [0x41, n], simd = (n, ...rest) => [0xfd, ...leb(n), ...rest];
  const zero = simd(12, ...Array(16).fill(0)), add = simd(0xe4), mul = simd(0xe6), more = (i, bytes) => [get(i), constant(bytes), 0x6a, set(i)];
  const [out, lhs, rhs, groups, k, stride, panel, single, left, n, r] = Array(11).keys();
  const tile = (rows, columns) => {
    const l = 11, range = (m) => [...Array(m).keys()], all = range(rows * columns);
    const sum = l + rows, total = sum + rows * columns, right = total + rows * columns, one = right + columns;
    const body = [
      0x03, 0x40, all.map((i) => [zero, set(total + i)]), get(rhs), set(r), get(k), set(left), get(lhs), set(l),
      range(rows - 1).map((i) => [get(l + i), get(k), constant(2), 0x74, 0x6a, set(l + i + 1)]),
      0x03, 0x40, all.map((i) => [zero, set(sum + i)]),
      get(panel), constant(1), get(left), get(single), 0x1b, get(left), get(panel), 0x4e, 0x1b, set(n), get(left), get(n), 0x6b, set(left),
      0x03, 0x40, range(columns).map((c) => [get(r), simd(0, 2, 16 * c), set(right + c)]), get(r), get(stride), 0x6a, set(r),
      range(rows).map((i) => [get(l + i), simd(9, 2, 0), set(one), more(l + i, 4),
        range(columns).map((c) => [get(sum + i * columns + c), get(one), get(right + c), mul, add, set(sum + i * columns + c)])]),
      get(n), constant(1), 0x6b, 0x22, n, 0x0d, 0, 0x0b,
      all.map((i) => [get(total + i), get(sum + i), add, set(total + i)]), get(left), 0x0d, 0, 0x0b,
      range(rows).map((i) => [range(columns).map((c) => [get(out), get(total + i * columns + c), simd(11, 2, 16 * c)]), get(out), get(stride), 0x6a, set(out)]),
      get(l + rows - 1), set(lhs), get(groups), constant(1), 0x6b, 0x22, groups, 0x0d, 0, 0x0b, 0x0b].flat(Infinity);
    const code = [2, ...leb(3 + rows), i32, ...leb(one + 1 - sum), v128, ...body];
    return [...leb(code.length), ...code];
  };
  const elementwise = (op) => { // op is 0 for +, 1 for −, 2 for ×, 3 for ÷
    const [out, lhs, rhs, n, lhsStep, rhsStep, left, first, second] = Array(9).keys();
    const operand = (at, step, all) => [get(at), simd(0, 2, 0), get(all), get(step), 0x1b], on = (at, step) => [get(at), get(step), 0x6a, set(at)];
    const four = (at, step) => [get(at), get(step), constant(2), 0x74, 0x6a, set(at)], again = [get(left), constant(1), 0x6b, 0x22, left, 0x0d, 0, 0x0b, 0x0b];
    const body = [get(lhs), simd(9, 2, 0), set(first), get(rhs), simd(9, 2, 0), set(second), get(n), constant(2), 0x76, 0x22, left, 0x04, 0x40, 0x03, 0x40,
      get(out), operand(lhs, lhsStep, first), operand(rhs, rhsStep, second), simd(0xe4 + op), simd(11, 2, 0), more(out, 16), four(lhs, lhsStep), four(rhs, rhsStep), again,
      get(n), constant(3), 0x71, 0x22, left, 0x04, 0x40, 0x03, 0x40,
      get(out), get(lhs), 0x2a, 2, 0, get(rhs), 0x2a, 2, 0, 0x92 + op, 0x38, 2, 0, more(out, 4), on(lhs, lhsStep), on(rhs, rhsStep), again, 0x0b].flat(Infinity);
    const code = [2, 1, i32, 2, v128, ...body];
    return [...leb(code.length), ...code];
  };
  const shapes = [[4, 2], [1, 2], [4, 1], [1, 1]], names = [...shapes.map(([a, b]) => `tile${a}x${4 * b}`), "add", "sub", "mul", "div"];
  const type = (n) => [0x60, n, ...Array(n).fill(i32), 0];
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, section(1, [2, ...type(8), ...type(6)]), section(2, [1, ...text("go"), ...text("mem"), 2, 0, 1]),
    section(3, [8, 0, 0, 0, 0, 1, 1, 1, 1]), section(7, [8, ...names.flatMap((name, i) => [...text(name), 0, i])]),
    section(10, [8, ...shapes.flatMap(([a, b]) => tile(a, b)), ...[0, 1, 2, 3].flatMap(elementwise)])].flat(Infinity);
  return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { go: { mem: memory } }).exports;
}

// start runs the compiled program with its arithmetic.
async function start(module) {
  const go = new Go(), names = ["tile4x8", "tile1x8", "tile4x4", "tile1x4", "add", "sub", "mul", "div"];
  let exports;
  go.importObject.cermic = Object.fromEntries(names.map((name) => [name, (a, b, c, d, e, f, g, h) => exports[name](a, b, c, d, e, f, g, h)]));
  const instance = await WebAssembly.instantiate(module, go.importObject);
  exports = arithmetic(instance.exports.mem);
  go.run(instance);
}

// ---- the page ----

const methods = { "mappo": "mappo", "mappo-cermic": "cermic", "mappo-cermic-ucb": "ucb" };
const defaultStart = "d9bdb985f42ebe64";
const startWorld = "explore/lock task.tv=screen", startMethod = "mappo-cermic-ucb"; // of the committed starts
const panels = { success: "success", coverage: "cells visited", bonus: "r^i, mean of a rollout batch" };
const lanes = new Map(); // by method
const $ = (id) => document.getElementById(id);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const short = (v) => v === undefined || v === null || Number.isNaN(v) ? "–" : Math.abs(v) >= 100 ? v.toFixed(0) : String(+v.toPrecision(Math.abs(v) < 0.01 ? 1 : 3));
let playing = true, filming = true, module;

function say(text) { $("status").textContent = text; }

// settings are the controls' positions; budget is set by a link only.
let budget = "explore";
function settings() {
  const form = $("controls"), out = Object.fromEntries(["world", "start", "alpha", "memory", "weight", "seed"].map((n) => [n, form.elements[n].value]));
  return { ...out, budget, methods: [...document.querySelectorAll("[name=method]:checked")].map((box) => box.value) };
}

// link keeps the settings in the address, so that a reload or a copy begins with them.
function link() {
  const s = settings();
  history.replaceState(null, "", "#" + new URLSearchParams({ ...s, methods: s.methods.join(",") }));
}

function fromLink() {
  const s = new URLSearchParams(location.hash.slice(1)), form = $("controls");
  for (const [name, value] of s) {
    if (name === "budget") budget = value;
    else if (name === "methods") document.querySelectorAll("[name=method]").forEach((box) => { box.checked = value.split(",").includes(box.value); });
    else if (form.elements[name] && name !== "method") form.elements[name].value = value;
  }
  $("alpha-value").value = form.elements.alpha.value;
}

// ask sends a lane the settings; anew: also where a fork could change them.
function ask(lane, anew) {
  const s = settings(), started = s.start && s.world === startWorld && lane.method === startMethod && s.budget === "explore";
  const frames = s.budget !== "explore" || s.world.includes("rooms") ? "" : "300000"; // as in 01_playground
  if (anew) Object.assign(lane, { runs: new Map(), visits: null, queue: [], scene: null, last: {} });
  lane.worker.postMessage({ Do: "ask", New: anew, World: s.world, Start: started && s.memory === "mlp" ? s.start : "", Method: lane.method,
    Alpha: s.alpha, Memory: s.memory, Weight: s.weight, Budget: s.budget, Frames: frames, Seed: Number(s.seed) });
}

function addLane(method) {
  const section = document.createElement("section"), key = methods[method];
  section.className = "lane";
  section.setAttribute("aria-label", method);
  section.innerHTML = `<h2>${method}</h2><p class="note"></p><canvas class="world" role="img"></canvas><div class="maps">
    <figure><canvas class="counts" role="img"></canvas><figcaption>visits, log scale</figcaption></figure>
    <figure><canvas class="bonus" role="img"></canvas><figcaption>r<sup>i</sup>, last rollout batch</figcaption></figure></div>`;
  $("lanes").append(section);
  const lane = { method, key, section, worker: new Worker("web.js"), runs: new Map(), queue: [], trails: [], last: {}, clock: 0 };
  lane.worker.onmessage = ({ data }) => hear(lane, JSON.parse(data));
  lane.worker.onerror = (event) => say("The worker stopped: " + event.message);
  lanes.set(method, lane);
  lane.worker.postMessage({ module });
}

function removeLane(method) {
  lanes.get(method).worker.terminate();
  lanes.get(method).section.remove();
  lanes.delete(method);
}

// inWords says which settings a run has.
function inWords(lane, { parent, at }) {
  const s = settings(), knobs = lane.method === "mappo" ? "" : `α = ${s.alpha}, memory ${s.memory}, `;
  return knobs + `seed ${s.seed}` + (parent ? `, branched off at ${at.toLocaleString("en")} frames` : ", from scratch");
}

// hear takes one event of a lane's worker.
function hear(lane, { kind, value }) {
  const run = lane.run;
  switch (kind) {
    case "ready":
      if (playing) lane.worker.postMessage({ Do: "play" });
      ask(lane, true);
      break;
    case "run":
      lane.run = lane.runs.get(value.id) ?? { ...value, success: [], coverage: [], bonus: [], iterations: [] };
      lane.runs.set(value.id, lane.run);
      lane.queue = [];
      if (value.before && !lane.runs.has(value.parent)) lane.runs.set(value.parent, { ...value.before, id: value.parent }); // committed
      lane.run.about = inWords(lane, value);
      lane.section.querySelector(".note").textContent = lane.run.about;
      say(`${lane.method} trains.`);
      showHome();
      break;
    case "film":
      lane.paused = false;
      lane.rate = Math.min(30, Math.max(4, value.length / Math.max(0.5, (performance.now() - (lane.filmed ?? 0)) / 1000)));
      lane.filmed = performance.now();
      lane.queue.push(...value);
      if (lane.queue.length > 200) skip(lane, lane.queue.length - 100);
      break;
    case "iteration": {
      const coverage = value.scalars.coverage, bonus = value.scalars["cermic/int_mean"]; // MAPPO has no r^i
      if (run.iterations.push(value.scalars) === 1) say(`${lane.method} trains.`);
      run.coverage.push([value.frames, coverage]);
      if (bonus !== undefined) run.bonus.push([value.frames, bonus]);
      lane.visits = value.visits;
      Object.assign(lane.last, { frames: value.frames, fps: value.fps, coverage, bonus });
      drawMaps(lane);
      drawCurves();
      showNumbers();
      break;
    }
    case "evaluation":
      run.success.push([value.frames, value.score]);
      lane.last.success = value.score;
      say(`${lane.method}, ${value.frames} frames: ${value.metric} ${short(value.score)}`);
      drawCurves();
      showNumbers();
      break;
    case "stored": case "end":
      say(`${lane.method} has trained all of its frames. Move a knob to begin another run.`);
      break;
    case "state":
      lane.paused = value === "paused";
      say(`${lane.method}: ${value === "compiling" ? "building the networks" : value}`);
      break;
    case "error":
      lane.error = value;
      say(`${lane.method}: ${value}`);
  }
}

function showNumbers() {
  $("numbers").replaceChildren(...[...lanes.values()].map((lane) => {
    const row = document.createElement("tr"), l = lane.last;
    row.innerHTML = `<th scope="row">${lane.method}</th>` + [l.frames?.toLocaleString("en"), short(l.success), short(l.coverage), short(l.bonus), l.fps && l.fps.toFixed(0)]
      .map((text) => `<td>${text ?? "–"}</td>`).join("");
    return row;
  }));
}

function showHome() {
  $("home").replaceChildren(...[...lanes.values()].filter((lane) => lane.run).map((lane) => {
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    pre.setAttribute("aria-label", "commands for " + lane.method);
    pre.textContent = lane.run.commands.join("\n");
    return pre;
  }));
}

// ---- drawing ----

// sized fits a canvas to its place on the page and returns its context, in CSS pixels.
function sized(canvas, ratio) {
  const width = canvas.clientWidth || 300, height = Math.max(36, Math.round(width * ratio)), dots = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dots) || canvas.height !== Math.round(height * dots)) {
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    canvas.style.height = height + "px";
  }
  const c = canvas.getContext("2d");
  c.setTransform(dots, 0, 0, dots, 0, 0);
  c.clearRect(0, 0, width, height);
  return [c, width, height];
}

// skip applies the first n frames of the film without drawing them.
function skip(lane, n) {
  for (const frame of lane.queue.splice(0, n)) {
    lane.before = lane.scene;
    if (frame.scene) {
      lane.scene = frame.scene;
      lane.trails = [];
      lane.before = null;
    } else {
      const shapes = lane.scene.Shapes.slice();
      for (const [i, shape] of Object.entries(frame.changed ?? {})) shapes[i] = shape;
      lane.scene = { ...lane.scene, Shapes: shapes };
    }
    for (const s of lane.scene.Shapes) if (s.Role === "agent") (lane.trails[s.Agent] ??= []).push([s.X, s.Y]);
    for (const trail of lane.trails) if (trail?.length > 30) trail.shift();
  }
}

// drawWorld draws a lane's scene with the looks of package viz; agents move evenly from step to step.
function drawWorld(lane, seconds) {
  if (filming) lane.clock += seconds * (lane.rate ?? 8);
  if (lane.clock >= 1) {
    skip(lane, Math.floor(lane.clock));
    lane.clock = lane.queue.length ? lane.clock % 1 : Math.min(lane.clock, 1);
  }
  const scene = lane.scene;
  if (!scene) return;
  const tall = (scene.MaxY - scene.MinY) / (scene.MaxX - scene.MinX), [c, width] = sized(lane.section.querySelector(".world"), tall);
  const scale = width / (scene.MaxX - scene.MinX), x = (v) => (v - scene.MinX) * scale, y = (v) => (scene.MaxY - v) * scale;
  c.lineWidth = Math.max(1, width / 250);
  lane.trails.forEach((trail, i) => {
    c.strokeStyle = color("agent" + i % 2);
    c.globalAlpha = 0.35;
    c.beginPath();
    trail.forEach(([a, b], k) => c[k ? "lineTo" : "moveTo"](x(a), y(b)));
    c.stroke();
  });
  c.globalAlpha = 1;
  scene.Shapes.forEach((s, k) => {
    let [px, py] = [s.X, s.Y];
    const from = lane.before?.Shapes[k];
    if (from && s.Role === "agent") [px, py] = [from.X + (s.X - from.X) * Math.min(1, lane.clock), from.Y + (s.Y - from.Y) * Math.min(1, lane.clock)];
    c.save();
    c.translate(x(px), y(py));
    c.rotate(-s.Angle);
    c.beginPath();
    if (s.Radius > 0) c.arc(0, 0, Math.max(s.Radius * scale, 3), 0, 2 * Math.PI);
    else c.rect(-s.Width / 2 * scale, -s.Height / 2 * scale, s.Width * scale, s.Height * scale);
    const fill = s.Role === "agent" ? color("agent" + s.Agent % 2) : color(s.Role) || color("obstacle");
    c.fillStyle = fill;
    c.strokeStyle = s.Role === "agent" ? color("paper") : color(s.Role + "-edge") || fill;
    c.setLineDash(s.Role === "noise" ? [4, 3] : []);
    c.globalAlpha = s.Role === "noise" ? 0.3 : s.Role === "target" ? 0.5 : 1;
    if (!s.Hollow) c.fill();
    c.globalAlpha = 1;
    c.stroke();
    if (s.Role === "agent") {
      c.fillStyle = color("paper");
      c.font = `bold ${Math.max(9, s.Radius * scale * 1.2)}px system-ui`;
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillText(s.Agent + 1, 0, 1);
    }
    c.restore();
  });
}

// warmth is the colour of a share from 0 to 1, as in the maps of package viz.
function warmth(share) {
  const stops = [[253, 240, 213], [242, 166, 90], [181, 56, 47], [63, 13, 40]], at = Math.min(Math.max(share, 0), 1) * 3, k = Math.min(Math.floor(at), 2);
  return `rgb(${stops[k].map((v, i) => Math.round(v + (at - k) * (stops[k + 1][i] - v)))})`;
}

function drawMaps(lane) {
  const v = lane.visits;
  if (!v) return;
  const { Columns: columns, Rows: rows, Blocked: blocked, About: about } = v.Projection;
  for (const [name, values, known] of [["counts", v.Counts.map((n) => Math.log(n + 1)), v.Counts], ["bonus", v.Bonus, v.Recent]]) {
    const canvas = lane.section.querySelector("." + name), [c, width, height] = sized(canvas, Math.max(0.2, rows / columns));
    const seen = values.filter((_, i) => known[i] > 0), low = name === "counts" ? 0 : Math.min(...seen), high = Math.max(...seen);
    values.forEach((value, i) => {
      c.fillStyle = blocked?.[i] ? color("obstacle") : known[i] > 0 ? warmth(high > low ? (value - low) / (high - low) : 1) : color("paper");
      c.fillRect(i % columns * width / columns, Math.floor(i / columns) * height / rows, width / columns + 0.5, height / rows + 0.5);
    });
    c.strokeStyle = color("line");
    c.strokeRect(0.5, 0.5, width - 1, height - 1);
    const spread = seen.length && name === "bonus" ? `, from ${short(low)} to ${short(high)}` : "";
    canvas.setAttribute("aria-label", `${name === "bonus" ? "mean r^i" : "visits"} by ${about}: ${seen.length} of ${columns * rows} cells${spread}`);
  }
  lane.section.querySelector(".world").setAttribute("aria-label", `the world of ${lane.method} with the trails of its agents`);
}

// drawCurves draws one panel a measure with a line a run.
function drawCurves() {
  for (const [measure, title] of Object.entries(panels)) {
    const canvas = document.querySelector(`#curves [data-measure=${measure}]`), [c, width, height] = sized(canvas, 0.5);
    const runs = [...lanes.values()].flatMap((lane) => [...lane.runs.values()].map((run) => ({ lane, run, points: run[measure] })));
    const last = Math.max(1, ...runs.map(({ run }) => run.total)), values = runs.flatMap(({ points }) => points.map((p) => p[1]));
    const low = measure === "bonus" ? Math.min(0, ...values) : 0, high = measure === "bonus" ? Math.max(low + 1e-6, ...values) : 1;
    const x = (frames) => 34 + (width - 42) * frames / last, y = (v) => height - 20 - (height - 30) * (v - low) / (high - low);
    c.font = "11px system-ui";
    c.fillStyle = color("soft");
    c.strokeStyle = color("line");
    c.strokeRect(34, 10, width - 42, height - 30);
    [[high, 14], [low, height - 18]].forEach(([v, at]) => c.fillText(short(v), 2, at));
    c.fillText("0", 34, height - 6);
    c.textAlign = "right";
    c.fillText(`${last / 1000}k frames`, width - 8, height - 6);
    c.textAlign = "left";
    for (const { lane, run, points } of runs) {
      const front = run === lane.run;
      c.strokeStyle = c.fillStyle = color(lane.key);
      c.globalAlpha = front ? 1 : 0.4;
      c.lineWidth = front ? 2.5 : 1.2;
      c.setLineDash(lane.key === "ucb" ? [8, 3] : lane.key === "cermic" ? [3, 2] : []);
      c.beginPath();
      points.forEach(([frames, v], k) => c[k ? "lineTo" : "moveTo"](x(frames), y(v)));
      c.stroke();
      c.setLineDash([]);
      if (points.length === 1) c.fillRect(x(points[0][0]) - 2, y(points[0][1]) - 2, 4, 4);
      const before = run.at && lane.runs.get(run.parent)?.[measure].filter((p) => p[0] <= run.at).at(-1);
      if (before) {
        c.beginPath();
        c.arc(x(run.at), y(before[1]), 4, 0, 2 * Math.PI);
        c.stroke();
      }
    }
    c.globalAlpha = 1;
    const now = [...lanes.values()].map((lane) => `${lane.method} ${short(lane.run?.[measure].at(-1)?.[1])}`).join(", ");
    canvas.setAttribute("aria-label", `${title} against frames. Now: ${now}`);
  }
}

// ---- controls ----

function tellAll(message) { lanes.forEach((lane) => lane.worker.postMessage(message)); }

function setPlaying(on) {
  playing = filming = on;
  $("play").textContent = on ? "Pause" : "Play";
  tellAll({ Do: on ? "play" : "pause" });
}

let resting;
function moved({ target }) {
  $("alpha-value").value = $("controls").elements.alpha.value;
  clearTimeout(resting);
  resting = setTimeout(() => {
    if (!$("controls").reportValidity()) return;
    link();
    if (target.name === "method") {
      target.checked ? addLane(target.value) : removeLane(target.value);
      drawCurves();
      showNumbers();
      showHome();
      return;
    }
    const anew = ["world", "start", "seed"].includes(target.name);
    lanes.forEach((lane) => { if (anew || lane.method !== "mappo") ask(lane, anew); });
  }, target.type === "range" ? 300 : 0); // a slider passes many values on its way
}

async function page() {
  fromLink();
  $("curves").innerHTML = Object.entries(panels).map(([measure, title]) =>
    `<figure><figcaption>${title.replace("r^i", "r<sup>i</sup>")}</figcaption><canvas data-measure="${measure}" role="img"></canvas></figure>`).join("");
  const actions = { play: () => setPlaying(!playing), restart: () => lanes.forEach((lane) => ask(lane, true)),
    step: () => { setPlaying(false); filming = true; tellAll({ Do: "step" }); } };
  for (const [id, act] of Object.entries(actions)) $(id).addEventListener("click", act);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("select, input[type=number]") || event.ctrlKey || event.metaKey || event.altKey;
    const act = { p: actions.play, s: actions.step, r: actions.restart }[event.key];
    if (act && !typing) act();
  });
  $("controls").addEventListener("input", moved);
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("copy").addEventListener("click", async () => {
    link();
    try { await navigator.clipboard.writeText(location.href); say("The link is copied."); } catch { say("Copy the address of this page: it holds the settings."); }
  });
  addEventListener("hashchange", () => location.reload());
  addEventListener("resize", () => { drawCurves(); lanes.forEach(drawMaps); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawCurves(); lanes.forEach(drawMaps); });
  try {
    const answer = await fetch("app.wasm.gz");
    if (!answer.ok) throw new Error(`app.wasm.gz: ${answer.status}`);
    const bytes = answer.body.pipeThrough(new DecompressionStream("gzip"));
    module = await WebAssembly.compileStreaming(new Response(bytes, { headers: { "Content-Type": "application/wasm" } }));
  } catch (error) {
    say(`The program cannot be loaded: ${error.message}. Serve this folder by a web server and use a browser of 2023 or later.`);
    return;
  }
  link();
  setPlaying(true);
  settings().methods.forEach(addLane);
  drawCurves();
  let before = performance.now();
  requestAnimationFrame(function draw(now) {
    lanes.forEach((lane) => drawWorld(lane, (now - before) / 1000));
    before = now;
    drawn++;
    requestAnimationFrame(draw);
  });
}
let drawn = 0; // frames, which the test counts

if (typeof document !== "undefined") page(); else if (typeof importScripts !== "undefined") work();
