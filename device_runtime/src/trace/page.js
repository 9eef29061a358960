// SPDX-License-Identifier: BSD-3-Clause
"use strict";
// Draws a launch trace: the tree of grids and their timeline. Plain JavaScript, in this order:
//   1. the trace   2. texts of times, names and dependences   3. the layout of the tree
//   4. the layout of the timeline   5. colors   6. a view: zoom, drag, keys
//   7. drawing the tree   8. drawing the timeline   9. facts and legends   10. the page
// A grid is identified by its index, which is the same in all columns.

// ---- 1. the trace ----

const trace = JSON.parse(document.getElementById("trace").textContent);
const count = trace.kernel.length;
const streamNames = ["host", "NULL", "named", "fire-and-forget", "tail"];
const HOST = 0, NULL = 1, NAMED = 2, FIRE_AND_FORGET = 3, TAIL = 4;

// Times are stored as differences. JavaScript numbers are exact up to 2^53 ns, which is 104 days.
const begin = new Float64Array(count);
const launched = new Float64Array(count);
const end = new Float64Array(count);
const complete = new Float64Array(count);
for (let i = 0, t = 0; i < count; ++i) {
  t += trace.begin[i];
  begin[i] = t;
  launched[i] = t - trace.queued[i];
  end[i] = t + trace.duration[i];
  complete[i] = end[i] + trace.waited[i];
}
const least = (column, start) => column.reduce((a, b) => Math.min(a, b), start);
const most = (column, start) => column.reduce((a, b) => Math.max(a, b), start);
const firstTime = count > 0 ? least(begin, Infinity) : 0;
const lastTime = Math.max(firstTime + 1, most(complete, -Infinity));

// The children of grid i are children[firstChild[i]] up to children[firstChild[i + 1] - 1], in the
// order in which they began. A parent has a smaller number than its children.
const firstChild = new Int32Array(count + 1);
const children = new Int32Array(count);
for (let i = 0; i < count; ++i)
  if (trace.parent[i] >= 0) ++firstChild[trace.parent[i] + 1];
for (let i = 0; i < count; ++i) firstChild[i + 1] += firstChild[i];
{
  const next = firstChild.slice();
  for (let i = 0; i < count; ++i) {
    if (trace.parent[i] >= 0) children[next[trace.parent[i]]++] = i;
  }
}
const childrenOf = (i) => children.subarray(firstChild[i], firstChild[i + 1]);
const roots = [];
for (let i = 0; i < count; ++i)
  if (trace.parent[i] < 0) roots.push(i);

/** Whether a grid runs after the grid that launched it: it is a tail launch. */
const comesAfterParent = (i) => trace.parent[i] >= 0 && trace.stream[i] === TAIL;
/** 1 for a tail launch that is not the first one of its parent. */
const isLaterTail = new Uint8Array(count);
{
  const seen = new Uint8Array(count);
  for (let i = 0; i < count; ++i) {
    if (!comesAfterParent(i)) continue;
    isLaterTail[i] = seen[trace.parent[i]];
    seen[trace.parent[i]] = 1;
  }
}

// ---- 2. texts of times, names and dependences ----

const thousands = (n) => n.toLocaleString("en-US");

/** Returns "12.3 µs", or a number of steps. With `exact` it does not round. */
function timeText(t, exact = false) {
  if (trace.steps) return thousands(t) + (Math.abs(t) === 1 ? " step" : " steps");
  const units = [[1e9, " s"], [1e6, " ms"], [1e3, " µs"]];
  for (const [size, unit] of units) {
    if (Math.abs(t) < size) continue;
    const digits = exact ? Math.round(Math.log10(size)) :
                           Math.max(0, 2 - Math.floor(Math.log10(Math.abs(t) / size)));
    return (t / size).toLocaleString("en-US", {maximumFractionDigits: digits}) + unit;
  }
  return thousands(t) + " ns";
}

const extent = ([x, y, z]) => y <= 1 && z <= 1 ? thousands(x) : `(${x}, ${y}, ${z})`;
const plural = (n, what) => `${thousands(n)} ${what}${n === 1 ? "" : "s"}`;

function shapeText(i) {
  const s = trace.shapes[trace.shape[i]];
  const one = (e) => e[0] * e[1] * e[2] === 1;
  const blocks = s.slice(0, 3), threads = s.slice(3, 6);
  return `${extent(blocks)} block${one(blocks) ? "" : "s"} of ` +
      `${extent(threads)} thread${one(threads) ? "" : "s"}`;
}

const kernelName = (i) => trace.kernels[trace.kernel[i]];

/** Returns a kernel's name without namespaces, arguments and template arguments. */
function shortName(name) {
  const bare = name.replace(/[<(].*$/s, "");
  return bare.slice(bare.lastIndexOf("::") + 1).replace(/^:/, "").trim() || name;
}
const shortNames = trace.kernels.map(shortName);

/** Returns the previous grid of the same parent and stream that `like` accepts, or -1. */
function siblingBefore(i, like) {
  if (trace.parent[i] < 0) return -1;
  let before = -1;
  for (const c of childrenOf(trace.parent[i])) {
    if (c === i) return before;
    if (trace.stream[c] === trace.stream[i] && like(c)) before = c;
  }
  return -1;
}

/** Returns what had to complete before the grid could begin. */
function beganAfter(i) {
  const parent = trace.parent[i];
  switch (trace.stream[i]) {
    case HOST: return "the earlier work in its stream of the host";
    case FIRE_AND_FORGET: return "nothing: only free resources";
    case NAMED: return "the earlier work in its stream";
    case NULL: {
      const before = siblingBefore(i, (c) => trace.block[c] === trace.block[i]);
      return before < 0 ? "nothing: the first in the block's NULL stream" :
                          `grid ${before}, the previous one in the block's NULL stream`;
    }
    case TAIL: {
      if (parent < 0) return "its parent and all children of its parent";
      const before = siblingBefore(i, () => true);
      return `grid ${parent} and its other children` +
          (before < 0 ? "" : ", and tail launch " + before);
    }
  }
  return "?";
}

/** Returns what the grid waited for after its end, before it was complete. */
function waitedFor(i) {
  const own = childrenOf(i);
  if (own.length === 0) return "nothing: it has no children";
  let last = own[0];
  for (const c of own)
    if (complete[c] > complete[last]) last = c;
  const all = own.length === 1 ? `its child, grid ${last}` :
                                 `its ${thousands(own.length)} children, last grid ${last}`;
  return `${all}: ${timeText(complete[i] - end[i])}`;
}

// ---- 3. the layout of the tree ----
// The children of a grid are drawn side by side in the row below it. Its tail launches run after
// the grid and its children, so they are drawn to the right, in the same row. A chain of tail
// launches is a line.

const treeRow = new Int32Array(count);
const treeX = new Float64Array(count);     // the middle; a grid without children has width 1
const ownWidth = new Float64Array(count);  // the width without its tail launches
let treeWidth = 0;
let treeRows = 1;
{
  const below = new Float64Array(count);
  const whole = new Float64Array(count);
  const after = new Float64Array(count);
  for (let i = count - 1; i >= 0; --i) {  // children first
    ownWidth[i] = Math.max(1, below[i]);
    whole[i] = ownWidth[i] + after[i];
    if (trace.parent[i] >= 0) (comesAfterParent(i) ? after : below)[trace.parent[i]] += whole[i];
  }
  const nextBelow = new Float64Array(count);
  const nextAfter = new Float64Array(count);
  for (let i = 0; i < count; ++i) {
    const parent = trace.parent[i];
    let left;
    if (parent < 0) {
      left = treeWidth;
      treeWidth += whole[i];
    } else {
      const next = comesAfterParent(i) ? nextAfter : nextBelow;
      left = next[parent];
      next[parent] += whole[i];
      treeRow[i] = treeRow[parent] + (comesAfterParent(i) ? 0 : 1);
    }
    treeX[i] = left + ownWidth[i] / 2;
    nextBelow[i] = left;
    nextAfter[i] = left + ownWidth[i];
    treeRows = Math.max(treeRows, treeRow[i] + 1);
  }
}
/** The grids of each row of the tree, from left to right. */
const gridsOfRow = Array.from({length: treeRows}, () => []);
for (let i = 0; i < count; ++i) gridsOfRow[treeRow[i]].push(i);
for (const row of gridsOfRow) row.sort((a, b) => treeX[a] - treeX[b]);

// ---- 4. the layout of the timeline ----

/** A priority queue: the item with the smallest key comes first. */
class Smallest {
  items = [];
  get size() { return this.items.length; }
  get first() { return this.items[0]; }
  push(item) {
    let at = this.items.push(item) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (this.items[up].key <= item.key) break;
      this.items[at] = this.items[up];
      at = up;
    }
    this.items[at] = item;
  }
  pop() {
    const result = this.items[0];
    const item = this.items.pop();
    if (this.items.length === 0) return result;
    for (let at = 0;;) {
      let down = 2 * at + 1;
      if (down + 1 < this.items.length && this.items[down + 1].key < this.items[down].key) ++down;
      if (down >= this.items.length || this.items[down].key >= item.key) {
        this.items[at] = item;
        return result;
      }
      this.items[at] = this.items[down];
      at = down;
    }
  }
}

/** Assigns each grid the first track that is free from its begin until `until`. With `chains`, a
    tail launch gets the track of its parent. */
function packTracks(until, chains) {
  const tracks = new Int32Array(count);
  const busy = new Smallest(), free = new Smallest();
  let used = 0;
  const order = [...begin.keys()].sort((a, b) => begin[a] - begin[b] || a - b);
  for (const i of order) {
    if (chains && comesAfterParent(i)) {
      tracks[i] = tracks[trace.parent[i]];
      continue;
    }
    while (busy.size > 0 && busy.first.key <= begin[i]) free.push({key: busy.pop().track});
    tracks[i] = free.size > 0 ? free.pop().key : used++;
    busy.push({key: Math.max(until[i], begin[i]), track: tracks[i]});
  }
  return {tracks, used: Math.max(1, used)};
}

/** Computes the visible segments of each track, from left to right without overlaps: the running
    grid, or, if none runs, the last grid that waits for its children. */
function layTracks({tracks, used}) {
  const ofTrack = Array.from({length: used}, () => []);
  for (let i = 0; i < count; ++i) ofTrack[tracks[i]].push(i);
  const segments = ofTrack.map((grids) => {
    const seen = [], waiting = [];
    let t = -Infinity;
    const waitUntil = (limit) => {
      while (waiting.length > 0 && t < limit) {
        const last = waiting[waiting.length - 1];
        const to = Math.min(complete[last], limit);
        if (to > t) {
          seen.push({grid: last, runs: false, from: t, to});
          t = to;
        }
        if (complete[last] <= t) waiting.pop();
      }
    };
    grids.sort((a, b) => begin[a] - begin[b] || a - b);
    for (const i of grids) {
      waitUntil(begin[i]);
      const from = Math.max(t, begin[i]);
      t = Math.max(from, end[i]);
      seen.push({grid: i, runs: true, from, to: t});
      waiting.push(i);
    }
    waitUntil(Infinity);
    return seen;
  });
  return {tracks, used, segments};
}

// A track from begin to completion shows most, if there are few grids. With many grids, nearly all
// tracks would show waiting grids, so there a track is free again when its grid has ended.
const maxReadableTracks = 40;
const layouts = {
  whole: packTracks(complete, true),
  running: packTracks(end, false)
};
let trackLayout;
function layOut(whole) { trackLayout = layTracks(whole ? layouts.whole : layouts.running); }

/** The number of running grids over time. */
const load = {
  times: [0],
  counts: [0],
  most: 0
};
{
  const begins = begin.slice().sort(), ends = end.slice().sort();
  for (let b = 0, e = 0, n = 0; b < count || e < count;) {
    const t = b < count && begins[b] < ends[e] ? begins[b] : ends[e];
    for (; e < count && ends[e] <= t; ++e) --n;
    for (; b < count && begins[b] <= t; ++b) ++n;
    load.most = Math.max(load.most, n);
    load.times.push(t);
    load.counts.push(n);
  }
}

// ---- 5. colors ----

let colors = {};

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
function mixed(a, b, part) {
  const from = channels(b);
  return "#" +
      channels(a)
          .map((c, n) => Math.round(c * part + from[n] * (1 - part)).toString(16).padStart(2, "0"))
          .join("");
}
/** Returns black or white, whichever has more contrast on the color. */
function textColorOn(hex) {
  const linear =
      channels(hex).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" :
                                                                                "#ffffff";
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(name).trim();
  const palette = named("--kernels").split(/\s+/);
  colors = Object.fromEntries(
      ["back", "panel", "line", "ink", "soft", "accent"].map((n) => [n, named("--" + n)]));
  // The palette has ten colors. Further kernels get paler variants.
  colors.kernels = trace.kernels.map((_, k) => {
    const pale = Math.floor(k / palette.length);
    return pale === 0 ?
        palette[k] :
        mixed(palette[k % palette.length], colors.ink, Math.max(0.35, 1 - 0.3 * pale));
  });
  colors.texts = colors.kernels.map(textColorOn);
  colors.waits = colors.kernels.map((c) => mixed(c, colors.back, 0.35));
  colors.faded = colors.kernels.map((c) => mixed(c, colors.back, 0.18));
  colors.fadedWaits = colors.kernels.map((c) => mixed(c, colors.back, 0.08));
}

let chosenKernel = -1;  // the kernel chosen in the legend; the others are drawn pale
const isPale = (i) => chosenKernel >= 0 && trace.kernel[i] !== chosenKernel;
const colorOf = (i) => (isPale(i) ? colors.faded : colors.kernels)[trace.kernel[i]];
const waitColorOf = (i) => (isPale(i) ? colors.fadedWaits : colors.waits)[trace.kernel[i]];
const textColorOf = (i) => isPale(i) ? colors.soft : colors.texts[trace.kernel[i]];

/** Draws the marker of a kind of stream: square, circle, diamond, triangle, or triangle with a bar.
    */
function drawMarker(ctx, stream, x, y, size) {
  const r = size / 2;
  ctx.beginPath();
  switch (stream) {
    case HOST: ctx.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7); break;
    case NULL: ctx.arc(x, y, r, 0, 2 * Math.PI); break;
    case NAMED:
      ctx.moveTo(x, y - r);
      ctx.lineTo(x + r, y);
      ctx.lineTo(x, y + r);
      ctx.lineTo(x - r, y);
      break;
    case FIRE_AND_FORGET:
      ctx.moveTo(x, y - r);
      ctx.lineTo(x + r, y + r * 0.8);
      ctx.lineTo(x - r, y + r * 0.8);
      break;
    case TAIL:
      ctx.moveTo(x - r * 0.3, y - r);
      ctx.lineTo(x + r, y);
      ctx.lineTo(x - r * 0.3, y + r);
      ctx.closePath();
      ctx.rect(x - r, y - r, r * 0.5, 2 * r);
      break;
  }
  ctx.fill();
}

/** Returns the style of the line from a parent to a child. */
function lineOf(stream) {
  switch (stream) {
    case NAMED: return {dash: [6, 3], width: 1.2};
    case FIRE_AND_FORGET: return {dash: [2, 3], width: 1.4};
    case TAIL: return {dash: [], width: 2.2};
  }
  return {dash: [], width: 1.2};
}

/** Small rectangles, grouped by color: thousands of color changes take longer than the fills.
    Adjacent rectangles of one color are merged. */
class RectangleBatch {
  ofColor = new Map();
  add(color, x, y, w, h) {
    let all = this.ofColor.get(color);
    if (all === undefined) this.ofColor.set(color, all = []);
    const last = all[all.length - 1];
    if (last !== undefined && last.y === y && last.h === h && x >= last.x &&
        x - (last.x + last.w) < 0.3) {
      last.w = Math.max(last.w, x + w - last.x);
    } else {
      all.push({x, y, w, h});
    }
  }
  draw(ctx) {
    for (const [color, all] of this.ofColor) {
      ctx.fillStyle = color;
      for (const {x, y, w, h} of all) ctx.fillRect(x, y, w, h);
    }
  }
}

const font = (size) => `${size}px system-ui, sans-serif`;

/** Returns the text, cut to `available` pixels, or "" if fewer than three characters fit. */
function fitted(ctx, text, available) {
  if (available < 20) return "";
  const width = ctx.measureText(text).width;
  if (width <= available) return text;
  for (let fits = Math.floor(text.length * available / width); fits >= 3; --fits) {
    const part = text.slice(0, fits) + "…";
    if (ctx.measureText(part).width <= available) return part;
  }
  return "";
}

/** Draws a curved arrow whose ends point to the right, the direction of time. */
function drawArrow(ctx, x0, y0, x1, y1) {
  const far = Math.max(12, (x1 - x0) / 2);
  const [ax, ay, bx, by] = [x0 + far, y0, x1 - far, y1];
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(ax, ay, bx, by, x1, y1);
  ctx.stroke();
  const angle = Math.atan2(y1 - by, x1 - bx || 1e-9);
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 8 * Math.cos(angle - 0.4), y1 - 8 * Math.sin(angle - 0.4));
  ctx.lineTo(x1 - 8 * Math.cos(angle + 0.4), y1 - 8 * Math.sin(angle + 0.4));
  ctx.fill();
}

// ---- 6. a view: zoom, drag, keys ----

let pointed = -1;  // the grid under the mouse
let held = -1;     // the grid that was clicked
const shown = () => pointed >= 0 ? pointed : held;

/** A canvas with rows, `width()` units wide, and a second canvas above it for the highlighted grid,
    so that a mouse move redraws little. A subclass defines width(), rows(), limits(), margins,
    draw(ctx), mark(ctx, grid), gridAt(x, y) and boxOf(grid). */
class View {
  constructor(id) {
    this.overlay = document.getElementById(id);
    this.picture = this.overlay.previousElementSibling;
    this.zoom = 1;
    this.left = 0;      // the unit at the left edge
    this.scrolled = 0;  // pixels above the upper edge
    this.mouse = null;
    this.drawn = {};  // the numbers of drawn items, for tests
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.overlay.parentElement);
  }

  get fitting() { return Math.min(this.limits().unit, this.w / this.width()); }
  get unit() { return Math.min(this.limits().zoomed, this.fitting * this.zoom); }  // pixels
  get fittingRow() { return Math.min(this.limits().row, this.bodyHeight / this.rows()); }
  get row() { return Math.min(this.limits().row, this.fittingRow * this.zoom); }  // pixels
  get bodyHeight() { return Math.max(1, this.h - this.top); }
  x(u) { return (u - this.left) * this.unit; }
  u(x) { return this.left + x / this.unit; }
  y(row) { return this.top + (row + 0.5) * this.row - this.scrolled; }
  rowAt(y) { return Math.floor((y - this.top + this.scrolled) / this.row); }
  get firstRow() { return Math.max(0, this.rowAt(this.top)); }
  get lastRow() { return Math.min(this.rows() - 1, this.rowAt(this.h)); }

  resize() {
    const box = this.overlay.parentElement.getBoundingClientRect();
    this.w = Math.max(1, box.width);
    this.h = Math.max(1, box.height);
    const scale = window.devicePixelRatio || 1;
    for (const canvas of [this.picture, this.overlay]) {
      canvas.width = Math.round(this.w * scale);
      canvas.height = Math.round(this.h * scale);
      canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    }
    this.clamp();
    this.paint();
  }

  /** The zoom at which neither the units nor the rows grow any more. */
  get maxZoom() {
    return Math.max(1, this.limits().zoomed / this.fitting, this.limits().row / this.fittingRow);
  }

  /** Limits the zoom, and the position so that no space beyond the edges is shown. */
  clamp() {
    this.zoom = Math.max(1, Math.min(this.zoom, this.maxZoom));
    const spare = this.width() - this.w / this.unit;
    this.left = spare <= 0 ? spare / 2 : Math.max(0, Math.min(this.left, spare));
    this.scrolled = Math.max(0, Math.min(this.scrolled, this.rows() * this.row - this.bodyHeight));
  }

  reset() {
    this.zoom = 1;
    this.left = this.scrolled = 0;
    this.clamp();
    this.repaint();
  }

  /** Zooms; the point under (x, y) does not move. */
  zoomBy(factor, x = this.w / 2, y = this.top + this.bodyHeight / 2) {
    const u = this.u(x), row = (y - this.top + this.scrolled) / this.row;
    this.zoom = Math.max(1, Math.min(this.zoom * factor, this.maxZoom));
    this.left = u - x / this.unit;
    this.scrolled = row * this.row - (y - this.top);
    this.clamp();
    this.repaint();
  }

  moveBy(dx, dy) {
    this.left += dx / this.unit;
    this.scrolled += dy;
    this.clamp();
    this.repaint();
  }

  /** Moves the view so that a grid is visible. */
  show(i) {
    const b = this.boxOf(i), edge = 40;
    const dx = b.x < edge || b.x > this.w - edge ? b.x + Math.min(b.w, this.w) / 2 - this.w / 2 : 0;
    const out = b.y < this.top || b.y + b.h > this.h;
    this.moveBy(dx, out ? b.y - this.top - this.bodyHeight / 2 : 0);
  }

  /** Requests a redraw in the next frame. Several requests cause one redraw. */
  repaint() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => this.paint());
  }
  paint() {
    this.due = 0;
    if (!this.w) return;
    const ctx = this.picture.getContext("2d");
    ctx.fillStyle = colors.back;
    ctx.fillRect(0, 0, this.w, this.h);
    this.drawn = {grids: 0};
    if (count > 0) this.draw(ctx);
    this.point();
  }
  repoint() {
    if (this.pointDue) return;
    this.pointDue = requestAnimationFrame(() => this.point());
  }
  point() {
    this.pointDue = 0;
    const ctx = this.overlay.getContext("2d");
    ctx.clearRect(0, 0, this.w, this.h);
    this.drawn.marked = 0;
    const i = shown();
    if (i >= 0) {
      // Fade everything, then draw the grid and its relatives again on top.
      ctx.globalAlpha = 0.6;
      ctx.fillStyle = colors.back;
      ctx.fillRect(0, this.top, this.w, this.bodyHeight);
      ctx.globalAlpha = 1;
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, this.top, this.w, this.bodyHeight);
      ctx.clip();
      const chosen = chosenKernel;
      chosenKernel = -1;  // highlighted grids are never pale
      this.mark(ctx, i);
      chosenKernel = chosen;
      ctx.restore();
    }
    if (count > 0) this.drawPointer?.(ctx);
    if (i >= 0) this.drawEdgeNote(ctx, i);
  }

  /** Draws a note at the edge beyond which an invisible grid lies. */
  drawEdgeNote(ctx, i) {
    const b = this.boxOf(i);
    const dx = b.x + b.w < 0 ? -1 : b.x > this.w ? 1 : 0;
    const dy = b.y + b.h < this.top ? -1 : b.y > this.h ? 1 : 0;
    if (dx === 0 && dy === 0) return;
    const arrow = ["↖↑↗", "←•→", "↙↓↘"][dy + 1][dx + 1];
    ctx.font = font(12);
    ctx.textBaseline = "middle";
    const text = dx > 0 ? `grid ${i} ${arrow}` : `${arrow} grid ${i}`;
    const w = ctx.measureText(text).width + 12;
    const near = (middle, half, from, to) => Math.max(from, Math.min(middle - half, to - 2 * half));
    const x = near(b.x + b.w / 2, w / 2, 6, this.w - 6),
          y = near(b.y + b.h / 2, 10, this.top + 6, this.h - 6);
    ctx.fillStyle = colors.ink;
    ctx.beginPath();
    ctx.roundRect(x, y, w, 20, 5);
    ctx.fill();
    ctx.fillStyle = colors.back;
    ctx.fillText(text, x + 6, y + 10.5);
  }

  /** Draws a ring around a grid. */
  ring(ctx, b, width) {
    ctx.beginPath();
    ctx.roundRect(b.x - 2, b.y - 2, b.w + 4, b.h + 4, Math.min(7, b.w / 4));
    for (const [color, more] of [[colors.back, 3], [colors.ink, 0]]) {
      ctx.strokeStyle = color;
      ctx.lineWidth = width + more;
      ctx.stroke();
    }
  }

  /** Returns the children of a grid to highlight: at most one for each place on the screen. */
  childrenToMark(i) {
    const marked = [], taken = new Set();
    for (const c of childrenOf(i)) {
      const b = this.boxOf(c);
      const place = Math.round(b.x / 2) * 65536 + Math.round(b.y);
      if (b.x > this.w || b.x + b.w < 0 || taken.has(place)) continue;
      taken.add(place);
      marked.push(c);
      if (marked.length === 400) break;
    }
    return marked;
  }

  listen() {
    const canvas = this.overlay;
    let from = null, moved = false;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const {x, y} = at(event);
      const wheelStep = event.deltaMode === 1 ? 0.05 : 0.0015;  // lines or pixels
      if (event.shiftKey)
        this.moveBy(0, event.deltaY + event.deltaX);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        this.moveBy(event.deltaX, 0);
      else
        this.zoomBy(Math.exp(-event.deltaY * wheelStep), x, y);
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => {
      from = at(event);
      moved = false;
      canvas.setPointerCapture?.(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const to = at(event);
      this.mouse = to;
      if (from === null) {
        pointAt(this.gridAt(to.x, to.y));
        this.repoint();
        return;
      }
      if (!moved && Math.hypot(to.x - from.x, to.y - from.y) < 4) return;
      moved = true;
      canvas.classList.add("held");
      this.moveBy(from.x - to.x, from.y - to.y);
      from = to;
    });
    const endDrag = () => {
      from = null;
      canvas.classList.remove("held");
    };
    canvas.addEventListener("pointerup", (event) => {
      const {x, y} = at(event);
      if (from !== null && !moved) hold(this.gridAt(x, y), this);
      endDrag();
    });
    canvas.addEventListener("pointercancel", endDrag);
    canvas.addEventListener("pointerleave", () => {
      this.mouse = null;
      pointAt(-1);
      this.repoint();
    });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;  // keys of the browser
      const step = 60;
      const actions = {
        "+": () => this.zoomBy(1.4),
        "=": () => this.zoomBy(1.4),
        "-": () => this.zoomBy(1 / 1.4),
        "0": () => this.reset(),
        Home: () => this.reset(),
        Escape: () => hold(-1),
        ArrowLeft: () => this.moveBy(-step, 0),
        ArrowRight: () => this.moveBy(step, 0),
        ArrowUp: () => this.moveBy(0, -step),
        ArrowDown: () => this.moveBy(0, step),
      };
      const moves =
          {ArrowUp: "parent", ArrowDown: "child", ArrowLeft: "before", ArrowRight: "next"};
      if (event.shiftKey && moves[event.key])
        moveHeld(moves[event.key]);
      else if (actions[event.key])
        actions[event.key]();
      else
        return;
      event.preventDefault();
    });
    const buttons = document.getElementById(canvas.id + "-buttons");
    for (const [text, title, action] of [
             ["+", "Zoom in", () => this.zoomBy(1.4)],
             ["−", "Zoom out", () => this.zoomBy(1 / 1.4)],
             ["all", "Show everything", () => this.reset()]]) {
      const button = document.createElement("button");
      button.textContent = text;
      button.title = title;
      button.setAttribute("aria-label", `${title}: ${canvas.id}`);
      button.addEventListener("click", action);
      buttons.append(button);
    }
  }
}

// ---- 7. drawing the tree ----

class TreeView extends View {
  top = 0;
  width() { return Math.max(1, treeWidth); }
  rows() { return treeRows; }
  limits() { return {unit: 190, zoomed: 190, row: 66}; }

  boxOf(i) {
    const w = Math.max(1.5, Math.min(ownWidth[i] * this.unit * 0.86, 160));
    const h = Math.max(2, Math.min(this.row * 0.62, 38));
    return {x: this.x(treeX[i]) - w / 2, y: this.y(treeRow[i]) - h / 2, w, h};
  }

  draw(ctx) {
    const seen = [];  // by row
    for (let r = this.firstRow; r <= this.lastRow; ++r) {
      let free = -Infinity;  // of several grids at one pixel, only the first is drawn
      const ofRow = [];
      for (const i of gridsOfRow[r]) {
        const middle = this.x(treeX[i]);
        const half = ownWidth[i] * this.unit / 2;
        if (middle + Math.max(half, 80) < 0 || middle < free) continue;
        if (middle - Math.max(half, 80) > this.w) break;
        ofRow.push(i);
        free = middle + 0.75;
      }
      seen.push(ofRow);
      this.drawn.grids += ofRow.length;
    }
    for (const grids of seen) this.drawLines(ctx, grids);
    const batch = new RectangleBatch();
    for (const grids of seen)
      for (const i of grids) this.drawGrid(ctx, i, batch);
    batch.draw(ctx);
  }

  /** Draws the lines from the parents to the grids of a row. */
  drawLines(ctx, grids) {
    const many = grids.length > 250;  // then dashes and curves are slow and not visible
    ctx.strokeStyle = colors.soft;
    ctx.globalAlpha = many ? Math.max(0.25, 150 / grids.length) : 1;
    for (let stream = NULL; stream <= TAIL; ++stream) {
      const line = lineOf(stream);
      ctx.setLineDash(many ? [] : line.dash);
      ctx.lineWidth = many ? 0.7 : line.width;
      ctx.beginPath();
      let free = -Infinity;  // skip lines to the same place
      for (const i of grids) {
        if (trace.stream[i] !== stream || trace.parent[i] < 0 || this.x(treeX[i]) < free) continue;
        this.addLine(ctx, i, many);
        free = this.x(treeX[i]) + 2;
      }
      ctx.stroke();
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  addLine(ctx, i, straight) {
    const parent = this.boxOf(trace.parent[i]), own = this.boxOf(i);
    const x1 = own.x + own.w / 2, x0 = parent.x + parent.w / 2;
    if (comesAfterParent(i)) {
      const y = own.y + own.h / 2;
      ctx.moveTo(parent.x + parent.w, y);
      // A curve above the earlier tail launches.
      if (isLaterTail[i]) {
        const rise = Math.min(this.row * 0.48, own.h / 2 + 9);
        ctx.quadraticCurveTo((parent.x + parent.w + x1) / 2, y - 2 * rise, x1, own.y);
      } else {
        ctx.lineTo(own.x, y);
      }
      return;
    }
    const y0 = parent.y + parent.h, y1 = own.y, middle = (y0 + y1) / 2;
    ctx.moveTo(x0, y0);
    if (straight)
      ctx.lineTo(x1, y1);
    else
      ctx.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  }

  drawGrid(ctx, i, batch = null) {
    const b = this.boxOf(i);
    if (batch !== null && (b.w < 6 || b.h < 6)) {
      batch.add(colorOf(i), b.x, b.y, b.w, b.h);
      return;
    }
    ctx.fillStyle = colorOf(i);
    ctx.beginPath();
    ctx.roundRect(b.x, b.y, b.w, b.h, Math.min(6, b.w / 4, b.h / 4));
    ctx.fill();
    if (b.w < 12 || b.h < 10) return;
    ctx.fillStyle = textColorOf(i);
    const marker = Math.min(8, b.h * 0.6);
    if (b.w < 44) {
      drawMarker(ctx, trace.stream[i], b.x + b.w / 2, b.y + b.h / 2, marker);
      return;
    }
    const two = b.h >= 30;
    const s = trace.shapes[trace.shape[i]];
    drawMarker(ctx, trace.stream[i], b.x + 10, b.y + (two ? b.h * 0.33 : b.h / 2), marker);
    ctx.textBaseline = "middle";
    ctx.font = font(Math.min(12, b.h * 0.7));
    ctx.fillText(
        fitted(ctx, shortNames[trace.kernel[i]], b.w - 24), b.x + 18,
        b.y + (two ? b.h * 0.33 : b.h / 2));
    if (!two) return;
    ctx.font = font(11);
    ctx.fillText(
        fitted(ctx, `${extent(s.slice(0, 3))} × ${extent(s.slice(3, 6))}`, b.w - 24), b.x + 18,
        b.y + b.h * 0.72);
  }

  mark(ctx, i) {
    const relatives = this.childrenToMark(i);
    if (trace.parent[i] >= 0) relatives.push(trace.parent[i]);
    ctx.strokeStyle = ctx.fillStyle = colors.ink;
    for (const c of relatives) {
      const child = c === trace.parent[i] ? i : c;
      ctx.lineWidth = 1.5;
      ctx.strokeStyle = colors.ink;
      ctx.setLineDash(lineOf(trace.stream[child]).dash);
      ctx.beginPath();
      this.addLine(ctx, child, false);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    for (const c of relatives) {
      if (this.boxOf(c).w >= 5) this.ring(ctx, this.boxOf(c), 1);
      this.drawGrid(ctx, c);
    }
    this.ring(ctx, this.boxOf(i), 2.5);
    this.drawGrid(ctx, i);
    this.drawn.marked = relatives.length + 1;
  }

  gridAt(x, y) {
    const row = gridsOfRow[this.rowAt(y)];
    if (!row) return -1;
    let from = 0, to = row.length;  // search the last grid whose middle is left of it
    const u = this.u(x);
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (treeX[row[middle]] <= u)
        from = middle;
      else
        to = middle;
    }
    for (const i of [row[from], row[from + 1]]) {
      if (i === undefined) continue;
      const b = this.boxOf(i), slack = Math.max(2, 4 - b.w);
      if (x >= b.x - slack && x <= b.x + b.w + slack && y >= b.y - 3 && y <= b.y + b.h + 3)
        return i;
    }
    return -1;
  }
}

// ---- 8. drawing the timeline ----

class TimelineView extends View {
  top = 62;  // the height of the axis and of the number of running grids
  loadTop = 24;
  margin = (lastTime - firstTime) * 0.01;  // at the left and at the right
  width() { return lastTime - firstTime + 2 * this.margin; }
  rows() { return trackLayout.used; }
  limits() { return {unit: Infinity, zoomed: Math.max(this.w / this.width(), 120), row: 34}; }
  timeX(t) { return this.x(t - firstTime + this.margin); }
  timeAt(x) { return this.u(x) + firstTime - this.margin; }

  get barHeight() { return Math.max(1, Math.min(this.row - 1, this.row * 0.8)); }
  boxOf(i) {
    const h = this.barHeight, x = this.timeX(begin[i]);
    return {x, y: this.y(trackLayout.tracks[i]) - h / 2, w: Math.max(1, this.timeX(end[i]) - x), h};
  }

  draw(ctx) {
    this.drawAxis(ctx);
    this.drawLoad(ctx);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, this.top, this.w, this.bodyHeight);
    ctx.clip();
    const batch = new RectangleBatch();
    for (let track = this.firstRow; track <= this.lastRow; ++track) {
      const y = this.y(track), h = this.barHeight;
      let free = -Infinity;
      for (const s of trackLayout.segments[track]) {
        const x1 = this.timeX(s.to);
        // Skip a segment within a pixel that is drawn already.
        if (x1 < 0 || (x1 <= free && !(s.runs && free - x1 < 0.5))) continue;
        const x0 = this.timeX(s.from);
        if (x0 > this.w) break;
        free = Math.max(x1, x0 + 1);
        ++this.drawn.grids;
        if (free - x0 > 4 || !s.runs && h >= 6)
          this.drawSegment(ctx, s, x0, x1);
        else
          batch.add((s.runs ? colorOf : waitColorOf)(s.grid), x0, y - h / 2, free - x0, h);
      }
    }
    batch.draw(ctx);
    ctx.restore();
  }

  drawSegment(ctx, s, x0, x1) {
    const left = Math.max(-10, x0), right = Math.min(this.w + 10, Math.max(x1, x0 + 1));
    const b = this.boxOf(s.grid);
    if (!s.runs) {
      const h = b.h < 6 ? b.h : Math.max(3, b.h * 0.4);
      const y = b.y + (b.h - h) / 2;
      ctx.fillStyle = waitColorOf(s.grid);
      ctx.fillRect(left, y, right - left, h);
      if (b.h >= 6) {  // paler than a running grid, but with an edge of full contrast
        ctx.fillStyle = colorOf(s.grid);
        ctx.fillRect(left, y, right - left, 1);
      }
      return;
    }
    ctx.fillStyle = colorOf(s.grid);
    const gap = right - left > 4 ? 0.5 : 0;  // between adjacent grids
    ctx.fillRect(left, b.y, right - left - gap, b.h);
    if (right - left < 12 || b.h < 9) return;
    ctx.fillStyle = textColorOf(s.grid);
    const from = Math.max(0, x0), size = Math.min(8, b.h * 0.55);
    drawMarker(ctx, trace.stream[s.grid], from + 7, b.y + b.h / 2, size);
    if (b.h < 11) return;
    ctx.font = font(Math.min(12, b.h * 0.75));
    ctx.textBaseline = "middle";
    ctx.fillText(
        fitted(ctx, shortNames[trace.kernel[s.grid]], right - from - 18), from + 14,
        b.y + b.h / 2 + 0.5);
  }

  drawAxis(ctx) {
    // A round step that is at least 90 pixels wide.
    const wanted = 90 / this.unit;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= wanted));
    ctx.font = font(11);
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    for (let t = Math.max(0, Math.ceil(this.timeAt(0) / step) * step); t <= this.timeAt(this.w);
         t += step) {
      const x = Math.round(this.timeX(t)) + 0.5;
      ctx.fillStyle = colors.line;
      ctx.fillRect(x - 0.5, 0, 1, this.h);
      ctx.fillStyle = colors.soft;
      const text = timeText(t, true);
      if (x + 4 + ctx.measureText(text).width < this.w) ctx.fillText(text, x + 4, 12);
    }
    ctx.fillStyle = colors.line;
    ctx.fillRect(0, this.loadTop - 1, this.w, 1);
    ctx.fillRect(0, this.top - 1, this.w, 1);
  }

  drawLoad(ctx) {
    const bottom = this.top - 2, height = bottom - this.loadTop - 2;
    const scale = height / Math.max(1, load.most);
    const {times, counts} = load;
    ctx.fillStyle = colors.soft;
    ctx.globalAlpha = 0.55;
    let pixel = -1, highest = 0;
    const fill = (x, w, running) => {
      const h = Math.max(1, running * scale);
      ctx.fillRect(x, bottom - h, w, h);
    };
    const flush = () => {
      if (highest > 0) fill(pixel, 1, highest);
    };
    for (let n = 0; n < times.length; ++n) {
      const x1 = n + 1 < times.length ? this.timeX(times[n + 1]) : this.w;
      if (x1 < 0 || counts[n] === 0) continue;
      const x0 = Math.max(0, this.timeX(times[n]));
      if (x0 > this.w) break;
      const last = Math.min(this.w, x1);
      if (Math.floor(x0) !== pixel) {
        flush();
        pixel = Math.floor(x0);
        highest = 0;
      }
      highest = Math.max(highest, counts[n]);
      if (last > pixel + 1) {
        flush();
        fill(pixel + 1, Math.floor(last) - pixel - 1, counts[n]);
        pixel = Math.floor(last);
        highest = last > pixel ? counts[n] : 0;
      }
    }
    flush();
    ctx.globalAlpha = 1;
    ctx.font = font(11);
    ctx.textBaseline = "middle";
    const text = `grids running: at most ${thousands(load.most)}`;
    ctx.fillStyle = colors.back;
    ctx.globalAlpha = 0.8;
    ctx.fillRect(4, this.loadTop + 1, ctx.measureText(text).width + 8, 15);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colors.ink;
    ctx.fillText(text, 8, this.loadTop + 9);
  }

  /** Draws a line along the track, from the end of a grid to its completion. */
  drawReach(ctx, i) {
    const b = this.boxOf(i), x = this.timeX(complete[i]);
    if (x - b.x - b.w < 1) return;
    ctx.fillStyle = colors.ink;
    ctx.fillRect(b.x + b.w, b.y + b.h - 1, x - b.x - b.w, 2);
    ctx.fillRect(x - 1, b.y, 2, b.h + 1);
  }

  mark(ctx, i) {
    const relatives = this.childrenToMark(i);
    if (trace.parent[i] >= 0) relatives.push(trace.parent[i]);
    this.ring(ctx, this.boxOf(i), 2.5);
    this.drawReach(ctx, i);
    // Draw the visible segments of the grid and its relatives.
    const all = new Set([i, ...relatives]);
    for (const track of new Set([...all].map((c) => trackLayout.tracks[c]))) {
      for (const s of trackLayout.segments[track]) {
        if (!all.has(s.grid)) continue;
        this.drawSegment(ctx, s, this.timeX(s.from), this.timeX(s.to));
      }
    }
    ctx.lineWidth = 1.3;
    for (const c of relatives) {
      const child = c === trace.parent[i] ? i : c;
      const from = this.boxOf(trace.parent[child]), to = this.boxOf(child);
      ctx.strokeStyle = ctx.fillStyle = colors.ink;
      ctx.setLineDash(lineOf(trace.stream[child]).dash);
      const sameTrack = trackLayout.tracks[child] === trackLayout.tracks[trace.parent[child]];
      // Start at the nearer edge of the parent's bar.
      const y = sameTrack ? from.y + from.h / 2 : from.y + (to.y >= from.y ? from.h : 0);
      drawArrow(ctx, this.timeX(launched[child]), y, to.x, to.y + to.h / 2);
      ctx.setLineDash([]);
    }
    this.drawn.marked = relatives.length + 1;
  }

  drawPointer(ctx) {
    if (this.mouse === null) return;
    const text = timeText(Math.max(0, Math.round(this.timeAt(this.mouse.x))));
    ctx.fillStyle = colors.soft;
    ctx.fillRect(Math.round(this.mouse.x), 0, 1, this.h);
    ctx.font = font(11);
    ctx.textBaseline = "middle";
    const w = ctx.measureText(text).width + 10;
    const x = Math.min(this.mouse.x, this.w - w);
    ctx.fillStyle = colors.ink;
    ctx.fillRect(x, 2, w, 19);
    ctx.fillStyle = colors.back;
    ctx.fillText(text, x + 5, 12);
  }

  gridAt(x, y) {
    if (y < this.top) return -1;
    const segments = trackLayout.segments[this.rowAt(y)];
    if (!segments) return -1;
    const t = this.timeAt(x), near = 3 / this.unit;
    let from = 0, to = segments.length;  // binary search: the first that ends at or after t - near
    while (from < to) {
      const middle = (from + to) >> 1;
      if (segments[middle].to < t - near)
        from = middle + 1;
      else
        to = middle;
    }
    let found = -1, distance = Infinity;
    for (let n = from; n < segments.length && segments[n].from <= t + near; ++n) {
      const s = segments[n];
      // Prefer running segments: otherwise a short run next to a long wait could not be selected.
      const d = Math.max(s.from - t, t - s.to, 0) + (s.runs ? 0 : 2 * near);
      if (d < distance) [found, distance] = [s.grid, d];
    }
    return found;
  }
}

// ---- 9. facts and legends ----

function element(tag, parent, text = "", className = "") {
  const e = document.createElement(tag);
  e.textContent = text;
  if (className) e.className = className;
  parent.append(e);
  return e;
}

const facts = document.getElementById("facts");

function showFacts(i) {
  facts.replaceChildren();
  if (i < 0) {
    element("p", facts, count > 0 ? "Point at a grid in either view." : "The trace has no grids.");
    return;
  }
  const name = element("div", facts, "", "name");
  element("span", name, "", "swatch").style.background = colors.kernels[trace.kernel[i]];
  name.append(" " + kernelName(i));
  const list = element("dl", facts);
  const fact = (what, value) => {
    element("dt", list, what);
    element("dd", list, value);
  };
  const parent = trace.parent[i];
  const shared = trace.shapes[trace.shape[i]][6];
  const own = childrenOf(i).length;
  fact("grid", i + (i === held ? " (held)" : ""));
  fact(
      "parent",
      parent >= 0 ? `${parent}, ${shortNames[trace.kernel[parent]]}, its block ${trace.block[i]}` :
          trace.stream[i] === HOST ? "the host" :
                                     "not in the trace");
  fact("depth", thousands(trace.depth[i]));
  fact("shape", shapeText(i) + (shared > 0 ? `, ${plural(shared, "byte")} shared` : ""));
  fact("stream", streamNames[trace.stream[i]]);
  fact("launched", timeText(launched[i], true));
  fact(
      "begin",
      timeText(begin[i], true) +
          (trace.stream[i] === HOST ? "" : `, ${timeText(begin[i] - launched[i])} later`));
  fact("end", `${timeText(end[i], true)}, ran ${timeText(end[i] - begin[i])}`);
  fact("complete", timeText(complete[i], true));
  fact("children", thousands(own));
  fact("began after", beganAfter(i));
  fact("waited for", waitedFor(i));
}

function showSummary() {
  const summary = document.getElementById("summary");
  const part = (text, value, className) => {
    if (summary.childNodes.length > 0) summary.append(" · ");
    const span = element("span", summary, text + " ", className);
    element("b", span, value);
  };
  part("route", trace.route);
  part("backend", trace.backend);
  part("grids", thousands(count));
  part("lost", thousands(trace.lost), trace.lost > 0 ? "warning" : "");
  part("total time", timeText(count > 0 ? lastTime - firstTime : 0));
}

function showKernels() {
  const list = document.getElementById("kernels");
  const grids = trace.kernels.map(() => 0), time = trace.kernels.map(() => 0);
  for (let i = 0; i < count; ++i) {
    ++grids[trace.kernel[i]];
    time[trace.kernel[i]] += end[i] - begin[i];
  }
  list.replaceChildren(...trace.kernels.map((name, k) => {
    const item = document.createElement("li");
    const button = element("button", item);
    button.title =
        `${name}: ${plural(grids[k], "grid")}, ran ${timeText(time[k])} in total. Click: only it.`;
    button.setAttribute("aria-pressed", String(k === chosenKernel));
    element("span", button, "", "swatch").style.background = colors.kernels[k];
    element("span", button, shortNames[k], "name");
    element("span", button, thousands(grids[k]), "number");
    button.addEventListener("click", () => {
      chosenKernel = chosenKernel === k ? -1 : k;
      showKernels();
      document.querySelectorAll("#kernels button")[k].focus();
      for (const view of views) view.repaint();
    });
    return item;
  }));
}

function showStreams() {
  const list = document.getElementById("streams");
  list.replaceChildren();
  streamNames.forEach((name, stream) => {
    const grids = trace.stream.reduce((n, s) => n + (s === stream ? 1 : 0), 0);
    if (grids === 0) return;
    const item = element("li", list);
    const canvas = element("canvas", item);
    const scale = window.devicePixelRatio || 1;
    canvas.width = 52 * scale;
    canvas.height = 16 * scale;
    const ctx = canvas.getContext("2d");
    ctx.scale(scale, scale);
    ctx.fillStyle = colors.ink;
    drawMarker(ctx, stream, 8, 8, 10);
    if (stream !== HOST) {
      ctx.strokeStyle = colors.soft;
      ctx.lineWidth = lineOf(stream).width;
      ctx.setLineDash(lineOf(stream).dash);
      ctx.beginPath();
      ctx.moveTo(20, 8);
      ctx.lineTo(50, 8);
      ctx.stroke();
    }
    element("span", item, name, "name");
    element("span", item, thousands(grids), "number");
  });
}

// ---- 10. the page ----

function pointAt(i) {
  if (i === pointed) return;
  pointed = i;
  refresh();
}

/** Keeps a grid highlighted when the mouse leaves; a second call ends it. The other view shows the
    grid. */
function hold(i, clicked) {
  held = i === held ? -1 : i;
  if (held >= 0)
    for (const view of views)
      if (view !== clicked) view.show(held);
  refresh();
}

function refresh() {
  showFacts(shown());
  for (const view of views) view.repoint();
}

/** Holds the parent, first child or a sibling of the held grid instead. */
function moveHeld(where) {
  if (count === 0) return;
  let to = held;
  if (held < 0) {
    to = 0;
  } else if (where === "parent") {
    to = trace.parent[held];
  } else if (where === "child") {
    to = childrenOf(held)[0] ?? -1;
  } else {
    const siblings = trace.parent[held] < 0 ? roots : childrenOf(trace.parent[held]);
    to = siblings[siblings.indexOf(held) + (where === "next" ? 1 : -1)] ?? -1;
  }
  if (to < 0 || to === held) return;
  pointed = -1;
  hold(to);
}

const wholeLives = document.getElementById("whole-lives");
wholeLives.checked = layouts.whole.used <= maxReadableTracks;
layOut(wholeLives.checked);
readColors();
// A tree with few rows takes less height, and the timeline gets the rest.
document.getElementById("tree-view").style.height = `min(46vh, ${treeRows * 66 + 44}px)`;
const tree = new TreeView("tree");
const timeline = new TimelineView("timeline");
const views = [tree, timeline];
wholeLives.addEventListener("change", () => {
  layOut(wholeLives.checked);
  timeline.reset();
});

function showAll() {
  readColors();
  showFacts(shown());
  showKernels();
  showStreams();
  for (const view of views) view.repaint();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
showSummary();
showAll();
