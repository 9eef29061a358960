// SPDX-License-Identifier: BSD-3-Clause
// This script runs after the script of the page, and uses its names. It simulates a reader, checks
// what the page shows, and writes the failures into the document. page_test.sh inserts the
// definition of `expected` before it: {grids, dark, title}.
"use strict";

const wrong = [];
let checks = 0;
function check(is, what) {
  ++checks;
  if (!is) wrong.push(what);
}
const same = (a, b, what) => check(a === b, `${what}: ${a}, and not ${b}`);
addEventListener("error", (event) => wrong.push("an exception: " + event.message));

/** Draws all views now. */
function draw() {
  for (const view of views) view.paint();
}

/** Returns the color of a pixel of a canvas as "#rrggbb". */
function pixel(canvas, x, y) {
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const [r, g, b] =
      canvas.getContext("2d").getImageData(Math.floor(x * scale), Math.floor(y * scale), 1, 1).data;
  return "#" + [r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("");
}

/** Sends an event of the mouse at a place of a view, and draws. */
function mouse(view, type, x, y, more = {}) {
  const box = view.overlay.getBoundingClientRect();
  const kind = type === "wheel"  ? WheelEvent :
      type.startsWith("pointer") ? PointerEvent :
                                   MouseEvent;
  view.overlay.dispatchEvent(new kind(type, {
    clientX: box.left + x,
    clientY: box.top + y,
    pointerId: 1,
    bubbles: true,
    cancelable: true,
    ...more
  }));
  draw();
}
/** Sends a key to a view, and draws. */
function key(view, name, more = {}) {
  view.overlay.dispatchEvent(
      new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true, ...more}));
  draw();
}
/** Returns the middle of the box of a grid. */
const middle = (b) => [b.x + b.w / 2, b.y + b.h / 2];
/** Returns a fact that the page states of the grid that is pointed at, or "". */
const fact = (name) => {
  const dt = [...document.querySelectorAll("#facts dt")].find((e) => e.textContent === name);
  return dt ? dt.nextSibling.textContent : "";
};
/** Returns whether the whole box of a grid is inside of a view. */
const isSeen = (view, i) => {
  const b = view.boxOf(i);
  return b.x >= 0 && b.x + b.w <= view.w && b.y >= view.top && b.y + b.h <= view.h;
};

function checkDrawing() {
  same(count, expected.grids, "grids");
  same(document.title, expected.title + " – launches", "title");
  same(matchMedia("(prefers-color-scheme: dark)").matches, expected.dark, "dark");
  check(
      document.getElementById("summary").textContent.includes(`grids ${thousands(count)} `),
      "the summary");
  same(pixel(tree.picture, 1, tree.h - 1), colors.back, "the background color of the tree");
  same(textColorOn(colors.back), expected.dark ? "#ffffff" : "#000000", "the color of text on the background");
  if (count === 0) {
    check(facts.textContent === "The trace has no grids.", "the text of an empty trace");
    return;
  }
  if (count <= 100) {  // check each grid
    same(tree.drawn.grids, count, "grids drawn in the tree");
    for (let i = 0; i < count; ++i) {
      const name = `grid ${i} of kernel ${kernelName(i)}`;
      for (const view of views) {
        check(isSeen(view, i), `${name} is outside of the ${view.overlay.id}`);
        const b = view.boxOf(i);  // below its text
        same(
            pixel(view.picture, b.x + b.w / 2, b.y + b.h - 2), colors.kernels[trace.kernel[i]],
            `${name} in the ${view.overlay.id}`);
        if (b.w > 4)
          same(view.gridAt(...middle(b)), i, `what is pointed at in the ${view.overlay.id}`);
      }
    }
    let overlaps = 0;  // no two grids at one place
    for (let a = 0; a < count; ++a) {
      for (let b = 0; b < a; ++b) {
        if (treeRow[a] === treeRow[b] &&
            Math.abs(treeX[a] - treeX[b]) < (ownWidth[a] + ownWidth[b]) / 2 - 1e-6)
          ++overlaps;
      }
    }
    same(overlaps, 0, "grids of the tree that overlap");
  } else {  // as many grids as the screen can show
    check(
        tree.drawn.grids >= Math.min(count, tree.w / 2),
        `only ${tree.drawn.grids} grids drawn in the tree`);
    const pixels = treeRows * tree.w / 0.75;
    check(
        tree.drawn.grids <= pixels + treeRows,
        `${tree.drawn.grids} grids drawn in ${pixels} places`);
    const before = performance.now();
    for (let n = 0; n < 3; ++n) {
      draw();
      for (const view of views) pixel(view.picture, 0, 0);  // waits for the drawing
    }
    const frame = (performance.now() - before) / 3;
    check(frame < 3000, `a frame takes ${frame} ms`);
  }
  // The segments of a track do not overlap.
  for (const segments of trackLayout.segments) {
    for (let n = 1; n < segments.length; ++n) {
      if (segments[n].from < segments[n - 1].to) wrong.push("segments of a track overlap");
    }
  }
  let runs = 0;
  for (const segments of trackLayout.segments) runs += segments.filter((s) => s.runs).length;
  same(runs, count, "runs in the tracks");
}

function checkPointing() {
  let i = trace.parent.findIndex((p, n) => p >= 0 && childrenOf(n).length > 0);
  if (i < 0) i = count - 1;
  const relatives = 1 + (trace.parent[i] >= 0 ? 1 : 0) + childrenOf(i).length;
  for (const view of views) {
    const other = views.find((v) => v !== view);
    for (const v of views) v.reset();
    while (view.boxOf(i).w < 5 && view.zoom < view.maxZoom)
      view.zoomBy(2, ...middle(view.boxOf(i)));
    for (const v of views) v.show(i);
    mouse(view, "pointermove", ...middle(view.boxOf(i)));
    same(shown(), i, `pointed at in the ${view.overlay.id}`);
    same(fact("grid"), String(i), "fact grid");
    check(facts.textContent.includes(kernelName(i)), "no kernel among the facts");
    same(fact("depth"), thousands(trace.depth[i]), "fact depth");
    same(fact("stream"), streamNames[trace.stream[i]], "fact stream");
    same(fact("launched"), timeText(launched[i], true), "fact launched");
    check(fact("begin").startsWith(timeText(begin[i], true)), "fact begin");
    check(fact("end").startsWith(timeText(end[i], true)), "fact end");
    same(fact("complete"), timeText(complete[i], true), "fact complete");
    for (const name of ["shape", "children", "began after", "waited for", "parent"])
      check(fact(name), "fact " + name);
    if (trace.parent[i] >= 0)
      check(fact("parent").startsWith(String(trace.parent[i])), "fact parent");
    if (relatives < 20 && count <= 100) {
      for (const v of views) same(v.drawn.marked, relatives, `marked in the ${v.overlay.id}`);
      const b = other.boxOf(i);
      same(
          pixel(other.overlay, b.x + b.w / 2, b.y + b.h - 2), colors.kernels[trace.kernel[i]],
          "the grid in the other view");
    }
    mouse(view, "pointerleave", 0, 0);
    same(shown(), -1, "after the mouse");
    check(facts.textContent.startsWith("Point at"), "facts after the mouse");
  }
}

function checkMoving(view) {
  const name = view.overlay.id;
  view.reset();
  draw();
  const unit = view.unit, row = view.row, canGrow = view.maxZoom > 1.01;
  const x = view.w * 0.3, y = view.top + view.bodyHeight * 0.2, u = view.u(x);
  mouse(view, "wheel", x, y, {deltaY: -400});
  if (canGrow) check(view.unit > unit || view.row > row, `the wheel does nothing in the ${name}`);
  if (view.unit > unit * 1.5)
    check(
        Math.abs(view.u(x) - u) * view.unit < 2,
        `what is under the mouse moves away in the ${name}`);
  const left = view.left, scrolled = view.scrolled;
  mouse(view, "pointerdown", 200, 150);
  mouse(view, "pointermove", 120, 150);
  mouse(view, "pointerup", 120, 150);
  if (view.unit > unit * 1.5)
    check(Math.abs((view.left - left) * view.unit - 80) < 1, `dragging the ${name}`);
  same(held, -1, "what a drag holds");
  mouse(view, "dblclick", 10, 100);
  check(view.unit === unit && view.row === row, `a double click in the ${name}`);
  key(view, "+");
  if (canGrow) check(view.unit > unit || view.row > row, `the key + in the ${name}`);
  if (view.unit > unit) {
    const from = view.left;
    key(view, "ArrowRight");
    check(view.left > from, `an arrow key in the ${name}`);
    key(view, "ArrowLeft");
    check(Math.abs(view.left - from) * view.unit < 1, `the arrow key back in the ${name}`);
  }
  key(view, "-");
  key(view, "0");
  check(view.unit === unit && view.row === row && view.scrolled === 0, `the key 0 in the ${name}`);
  check(scrolled >= 0, "scrolled");
  const [plus, minus, all] = document.querySelectorAll(`#${name}-buttons button`);
  plus.click();
  if (canGrow) check(view.zoom > 1, `the button + of the ${name}`);
  minus.click();
  all.click();
  same(view.zoom, 1, `the buttons of the ${name}`);
}

function checkHolding() {
  for (const view of views) view.reset();
  draw();
  key(tree, "ArrowDown", {shiftKey: true});
  same(held, 0, "the first held grid");
  const child = childrenOf(0)[0];
  key(tree, "ArrowDown", {shiftKey: true});
  same(held, child ?? 0, "the held child");
  if (child !== undefined) {
    const siblings = childrenOf(0);
    key(timeline, "ArrowRight", {shiftKey: true});
    same(held, siblings[Math.min(1, siblings.length - 1)], "the held sibling");
    check(fact("grid").endsWith("(held)"), "a held grid says so");
    key(timeline, "ArrowUp", {shiftKey: true});
    same(held, 0, "the held parent");
  }
  key(timeline, "Escape");
  same(held, -1, "after Escape");
  const b = tree.boxOf(0);
  mouse(tree, "pointermove", ...middle(b));
  mouse(tree, "pointerdown", ...middle(b));
  mouse(tree, "pointerup", ...middle(b));
  mouse(tree, "pointerleave", 0, 0);
  same(shown(), 0, "a grid that was clicked at");
  key(tree, "Escape");
}

function checkLegends() {
  const buttons = () => [...document.querySelectorAll("#kernels button")];
  same(buttons().length, trace.kernels.length, "kernels in the legend");
  const numbers = (list) => [...document.querySelectorAll(`#${list} .number`)].reduce(
      (n, e) => n + Number(e.textContent.replace(/,/g, "")), 0);
  same(numbers("kernels"), count, "grids in the legend of kernels");
  same(numbers("streams"), count, "grids in the legend of streams");
  buttons()[0].click();
  draw();
  same(buttons()[0].getAttribute("aria-pressed"), "true", "a chosen kernel");
  const other = trace.kernel.findIndex((k) => k !== 0);
  if (other >= 0 && count <= 100) {
    const b = tree.boxOf(other);
    same(
        pixel(tree.picture, b.x + b.w / 2, b.y + b.h - 2), colors.faded[trace.kernel[other]],
        "a kernel that is not chosen");
  }
  buttons()[0].click();
  same(chosenKernel, -1, "no kernel chosen");
  const before = wholeLives.checked;
  for (const now of [!before, before]) {
    wholeLives.click();
    same(wholeLives.checked, now, "the check box");
    draw();
    same(trackLayout.used, (now ? layouts.whole : layouts.running).used, "tracks");
  }
}

// No pointer is down, so a capture would fail.
HTMLCanvasElement.prototype.setPointerCapture = () => {};
try {
  for (const view of views) view.resize();
  draw();
  checkDrawing();
  if (count > 0) {
    checkPointing();
    views.forEach(checkMoving);
    checkHolding();
    checkLegends();
  }
} catch (error) {
  wrong.push("an exception: " + error.stack);
}
const verdict = document.createElement("pre");
verdict.id = "verdict";
verdict.textContent =
    wrong.length === 0 ? `${checks} checks passed` : "wrong:\n" + wrong.slice(0, 12).join("\n");
document.body.append(verdict);
