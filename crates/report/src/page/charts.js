// What charts can do with scripts: say what a point is, zoom into a part, switch series off and on, and be saved.
// The drawing is the page's own SVG. This moves what is in it, and draws nothing that is not there already but ticks.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  // Nearer than this, in pixels of the drawing, a point is pointed at; dragged less far, nothing was to be zoomed.
  const NEAR = 24;
  const DRAGGED = 8;
  const MOST_TICKS = 9;
  const LETTER = 7.2;
  const px = length => Math.round(length * 10) / 10;
  const number = (element, name) => Number(element.getAttribute(name));
  const make = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  // Where an element is: its points, in coordinates of the plot. They are remembered as they were at first.
  const places = new WeakMap();
  const read = element => {
    switch (element.tagName) {
      case "line": return [[number(element, "x1"), number(element, "y1")], [number(element, "x2"), number(element, "y2")]];
      case "rect": {
        const [x, y] = [number(element, "x"), number(element, "y")];
        return [[x, y], [x + number(element, "width"), y + number(element, "height")]];
      }
      case "polyline": return element.getAttribute("points").split(" ").map(pair => pair.split(",").map(Number));
      default: return [element.getAttribute("transform").match(/-?[\d.]+/g).map(Number)];
    }
  };
  const placesOf = element => {
    if (!places.has(element)) places.set(element, read(element));
    return places.get(element);
  };
  const write = (element, points) => {
    const [[x, y], [right, bottom] = []] = points;
    const set = values => {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, px(value));
    };
    switch (element.tagName) {
      case "line": return set({ x1: x, y1: y, x2: right, y2: bottom });
      case "rect": return set({ x, y, width: right - x, height: bottom - y });
      case "polyline": return element.setAttribute("points", points.map(pair => pair.map(px)).join(" "));
      default: return element.setAttribute("transform", `translate(${px(x)} ${px(y)})`);
    }
  };

  // One drawing: a chart has one for a wide window and one for a phone.
  const drawing = (svg, ticks, say) => {
    const plot = svg.querySelector(".plot");
    const [left, top, width, height] = ["x", "y", "width", "height"].map(name => number(plot, name));
    const sizes = { x: width, y: height };
    const whole = { x: [0, width], y: [0, height] };
    // What is shown of the plot as it was at first, along both axes.
    let shown = whole;
    const scaled = (axis, at) => (at - shown[axis][0]) / (shown[axis][1] - shown[axis][0]) * sizes[axis];
    const movable = [...plot.querySelectorAll("line, rect, polyline, circle, path, text")];
    const axes = Object.fromEntries(["x", "y"].map(axis => {
      const group = svg.querySelector(`.${axis}-axis`);
      return [axis, { group, first: [...group.children] }];
    }));

    // The densest set of ticks whose labels are apart, or none.
    const fitting = (axis, [from, to]) => {
      const inside = ticks[axis].map(([share, sets, label]) => {
        const at = axis === "x" ? share * width : (1 - share) * height;
        return { at, place: (at - from) / (to - from) * sizes[axis], sets, label };
      }).filter(({ at }) => at >= from && at <= to);
      const room = tick => axis === "x" ? tick.label.length * LETTER + 12 : 20;
      const fits = set => set.length > 1 && set.length <= MOST_TICKS && set.every((tick, at) =>
        at === 0 || Math.abs(tick.place - set[at - 1].place) >= (room(tick) + room(set[at - 1])) / 2);
      for (let bit = 0; bit < 8; bit += 1) {
        const set = inside.filter(tick => tick.sets & 1 << bit);
        if (fits(set)) return set;
      }
      return null;
    };
    const drawTicks = axis => {
      const { group, first } = axes[axis];
      if (shown[axis] === whole[axis] || !first.length) return group.replaceChildren(...first);
      const tick = ({ place, label }) => {
        const copy = first[0].cloneNode(true);
        copy.setAttribute("transform", axis === "x" ? `translate(${px(place)} 0)` : `translate(0 ${px(place)})`);
        copy.querySelector("text").textContent = label;
        return copy;
      };
      return group.replaceChildren(...fitting(axis, shown[axis]).map(tick));
    };
    // Parts of a bar that are shown stand on each other.
    const stacked = () => {
      const ends = new Map();
      const moved = new Map();
      for (const bar of plot.querySelectorAll("[data-row]")) {
        const [[x, y], [right, bottom]] = placesOf(bar);
        const start = ends.get(bar.dataset.row) ?? x;
        const wide = bar.parentNode.hasAttribute("display") ? 0 : right - x;
        ends.set(bar.dataset.row, start + wide);
        moved.set(bar, [[start, y], [start + wide, bottom]]);
      }
      return moved;
    };
    const draw = () => {
      const bars = stacked();
      for (const element of movable) {
        const points = bars.get(element) ?? placesOf(element);
        write(element, points.map(([x, y]) => [scaled("x", x), scaled("y", y)]));
      }
      drawTicks("x");
      drawTicks("y");
    };
    const zoom = next => {
      // As close as there are ticks to read by, and no closer.
      for (const axis of ["x", "y"]) {
        if (next[axis] !== whole[axis] && !fitting(axis, next[axis])) next = { ...next, [axis]: shown[axis] };
      }
      shown = next;
      svg.classList.toggle("zoomed", shown.x !== whole.x || shown.y !== whole.y);
      draw();
    };

    // Where the pointer is, in coordinates of the plot as it is drawn.
    const at = event => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * scale - left, (event.clientY - box.top) * scale - top];
    };
    const isInside = ([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height;
    const nearest = ([x, y]) => {
      let best = { away: NEAR };
      for (const mark of plot.querySelectorAll("[data-told]")) {
        if (mark.parentNode.hasAttribute("display")) continue;
        const texts = mark.dataset.told.split("\n");
        const points = read(mark);
        if (mark.tagName === "rect") {
          const [[from, upper], [to, lower]] = points;
          if (x >= from && x <= to && y >= upper && y <= lower) best = { away: 0, text: texts[0], point: [x, upper], mark };
          continue;
        }
        points.forEach((point, index) => {
          const away = Math.hypot(point[0] - x, point[1] - y);
          if (away < best.away && isInside(point)) best = { away, text: texts[index], point, mark };
        });
      }
      return best.text === undefined ? null : best;
    };
    const point = event => {
      const place = at(event);
      const found = isInside(place) ? nearest(place) : null;
      say(found && found.text, found && [left + found.point[0], top + found.point[1]], svg);
    };

    let start = null;
    let brush = null;
    const release = () => {
      brush?.remove();
      [start, brush] = [null, null];
    };
    svg.addEventListener("pointerdown", event => {
      const place = at(event);
      // A finger scrolls the page, and shows what it touches.
      if (event.pointerType === "touch" || event.button !== 0 || !isInside(place)) return;
      start = place;
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    svg.addEventListener("pointermove", event => {
      if (!start) return point(event);
      const [x, y] = at(event);
      const [from, to] = [[Math.min(x, start[0]), Math.min(y, start[1])], [Math.max(x, start[0]), Math.max(y, start[1])]];
      // A drag along one axis, and any in rows with names, leaves the other axis as it is.
      const area = {
        x: to[0] - from[0] < DRAGGED ? null : [Math.max(from[0], 0), Math.min(to[0], width)],
        y: to[1] - from[1] < DRAGGED || !ticks.y.length ? null : [Math.max(from[1], 0), Math.min(to[1], height)],
      };
      if (!brush) brush = plot.appendChild(make("rect", { class: "brush" }));
      const [across, down] = [area.x ?? whole.x, area.y ?? whole.y];
      write(brush, [[across[0], down[0]], [across[1], down[1]]]);
      brush.furlongArea = area;
      return say(null);
    });
    svg.addEventListener("pointerup", () => {
      const area = brush?.furlongArea;
      release();
      if (!area || !(area.x || area.y)) return;
      const unscaled = (axis, place) => shown[axis][0] + place / sizes[axis] * (shown[axis][1] - shown[axis][0]);
      const next = axis => area[axis] ? area[axis].map(place => unscaled(axis, place)) : shown[axis];
      zoom({ x: next("x"), y: next("y") });
    });
    svg.addEventListener("pointercancel", release);
    svg.addEventListener("pointerleave", () => say(null));
    svg.addEventListener("dblclick", event => { if (isInside(at(event))) zoom(whole); });
    svg.addEventListener("click", point);
    return { draw, reset: () => zoom(whole) };
  };

  // A copy that needs nothing of the page: its colours are written out, and the title stands above it.
  const standing = (figure, svg) => {
    const copy = svg.cloneNode(true);
    const { width, height } = svg.viewBox.baseVal;
    const above = 30;
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("viewBox", `0 ${-above} ${width} ${height + above}`);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height + above);
    const title = make("text", { x: 8, y: -10, "font-size": 15, fill: "var(--ink)" });
    title.textContent = figure.dataset.title;
    copy.prepend(make("rect", { y: -above, width: "100%", height: "100%", fill: "var(--paper)" }), title);
    const colours = getComputedStyle(document.documentElement);
    const text = new XMLSerializer().serializeToString(copy);
    return { width, height: height + above, text: text.replace(/var\((--\w+)\)/g, (_, name) => colours.getPropertyValue(name).trim()) };
  };
  const save = (blob, name) => {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const saveSvg = (figure, svg) => save(new Blob([standing(figure, svg).text], { type: "image/svg+xml" }), `${figure.id}.svg`);
  const savePng = async (figure, svg) => {
    const { width, height, text } = standing(figure, svg);
    const image = new Image(width, height);
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(blob, `${figure.id}.png`), "image/png");
  };

  const enliven = figure => {
    const box = figure.querySelector(".drawing");
    const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    tip.setAttribute("aria-hidden", "true");
    const say = (text, place, svg) => {
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const [outer, inner] = [box.getBoundingClientRect(), svg.getBoundingClientRect()];
      const scale = inner.width / svg.viewBox.baseVal.width;
      const x = inner.left - outer.left + place[0] * scale;
      const y = inner.top - outer.top + place[1] * scale;
      tip.style.left = `${Math.max(0, Math.min(x - tip.offsetWidth / 2, outer.width - tip.offsetWidth))}px`;
      tip.style.top = `${y - tip.offsetHeight - 10}px`;
    };
    const parsed = text => text.split("\n").filter(Boolean).map(line => {
      const [share, sets, ...label] = line.split(" ");
      return [Number(share), Number(sets), label.join(" ")];
    });
    const ticks = { x: parsed(figure.dataset.xTicks), y: parsed(figure.dataset.yTicks) };
    const svgs = [...box.querySelectorAll(":scope > div > svg")];
    const drawings = svgs.map(svg => drawing(svg, ticks, say));

    // The legend: a click or a key switches an entry, two clicks show it alone, and again show all.
    const entries = svgs.map(svg => [...svg.querySelectorAll(".entry")]);
    const isOn = entry => entry.getAttribute("aria-pressed") === "true";
    const turn = (entry, on) => {
      const { series } = entry.dataset;
      for (const same of entries.flat().filter(other => other.dataset.series === series)) same.setAttribute("aria-pressed", String(on));
      const numbers = series.split(" ");
      for (const group of box.querySelectorAll(".series")) {
        if (!numbers.includes(group.dataset.series)) continue;
        if (on) group.removeAttribute("display");
        else group.setAttribute("display", "none");
      }
      for (const one of drawings) one.draw();
    };
    const alone = entry => {
      const all = entries.find(list => list.includes(entry));
      const wasAlone = all.every(other => isOn(other) === (other === entry));
      for (const other of all) turn(other, wasAlone || other === entry);
    };
    for (const entry of entries.flat()) {
      for (const [name, value] of [["role", "button"], ["tabindex", "0"], ["aria-pressed", "true"]]) entry.setAttribute(name, value);
      entry.setAttribute("aria-label", entry.textContent);
      entry.addEventListener("click", () => turn(entry, !isOn(entry)));
      entry.addEventListener("dblclick", () => alone(entry));
      entry.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        turn(entry, !isOn(entry));
      });
    }

    const tools = Object.assign(document.createElement("p"), { className: "tools" });
    const tool = (name, title, act) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name, title });
      button.addEventListener("click", act);
      tools.append(button);
    };
    const seen = () => svgs.find(svg => svg.getBoundingClientRect().width > 0) ?? svgs[0];
    tool("Whole chart", "Show all of the chart again (double click)", () => drawings.forEach(one => one.reset()));
    tool("Save PNG", "Save the chart as it is shown, as pixels", () => savePng(figure, seen()));
    tool("Save SVG", "Save the chart as it is shown, as lines", () => saveSvg(figure, seen()));
    box.append(tip);
    box.after(tools);
    // What is in it can be used, and is no longer one picture.
    box.setAttribute("role", "group");
    figure.dataset.state = "live";
  };
  for (const figure of document.querySelectorAll("figure.chart")) enliven(figure);
})();
