// What the page can do with scripts: sort tables, change its theme, and draw charts that can be pointed at. Without
// them all is there, and stands still.
(() => {
  "use strict";
  const root = document.documentElement;
  const sheet = name => getComputedStyle(root).getPropertyValue(name).trim();

  // Tables: a click, or Enter on the focused head, sorts; again turns the order round.
  const key = cell => {
    const by = cell.dataset.by;
    return by === undefined ? null : Number(by);
  };
  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const compare = (one, other) => {
      const [a, b] = [one.cells[column], other.cells[column]];
      const [x, y] = [key(a), key(b)];
      if (x !== null && y !== null) return down ? y - x : x - y;
      // What has no figure comes last in either order.
      if (x !== null || y !== null) return x === null ? 1 : -1;
      const order = a.textContent.localeCompare(b.textContent, "en", { numeric: true });
      return down ? -order : order;
    };
    body.append(...[...body.rows].sort(compare));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.title = "Sort by " + head.textContent;
      button.addEventListener("click", () => sort(table, head, column));
      head.replaceChildren(button);
    });
  }

  // Theme: what the system says, until the button says something else.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const drawn = new Set();
  // A phone has room for few ticks, and gives each name in a legend a line of its own.
  const narrow = () => innerWidth <= 640;
  const LINE = 19;
  const few = axis => {
    if (!narrow() || !axis.tickvals || axis.range[0] > axis.range[1]) return axis;
    const step = Math.ceil(axis.tickvals.length / 5);
    const kept = values => values.filter((_, at) => at % step === 0);
    return { ...axis, tickvals: kept(axis.tickvals), ticktext: kept(axis.ticktext) };
  };
  const fitted = chart => {
    const names = chart.data.filter(trace => trace.showlegend !== false).length;
    const layout = { ...chart.layout, xaxis: few(chart.layout.xaxis) };
    if (narrow()) layout.height = Math.max(layout.height - 120, 300) + LINE * names;
    return layout;
  };
  const colours = layout => {
    const [ink, quiet, rule, card] = ["--ink", "--quiet", "--rule", "--card"].map(sheet);
    const axis = { color: quiet, gridcolor: rule, linecolor: rule, tickfont: { color: quiet } };
    return {
      ...layout,
      font: { ...layout.font, color: ink, family: getComputedStyle(document.body).fontFamily, size: 12 },
      xaxis: { ...layout.xaxis, ...axis, tickangle: 0 }, yaxis: { ...layout.yaxis, ...axis },
      // At the very bottom, whatever the height: nothing lies below it.
      legend: { ...layout.legend, font: { color: ink }, yref: "container", y: 0, yanchor: "bottom" },
      hoverlabel: { bgcolor: card, bordercolor: rule, font: { color: ink }, align: "left" },
      modebar: { color: quiet, activecolor: ink, bgcolor: "rgba(0,0,0,0)" },
    };
  };
  const themed = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
    // Series that were switched off, and what was zoomed, stay so.
    for (const live of drawn) Plotly.react(live, live.data, colours(live.layout), live.furlongOptions);
  };
  button.hidden = false;
  button.setAttribute("aria-label", "Dark theme");
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    themed();
  });
  dark.addEventListener("change", themed);

  // Charts: the script that draws them is unpacked when the first one comes near the window.
  const packed = document.getElementById("chart-script");
  const unpack = async () => {
    const letters = atob(packed.textContent.trim());
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    packed.remove();
  };
  let unpacked = null;
  const draw = async figure => {
    unpacked ??= unpack();
    await unpacked;
    const live = figure.querySelector(".live");
    const chart = JSON.parse(figure.querySelector(".chart-data").textContent);
    live.hidden = false;
    live.furlongOptions = {
      responsive: true, displaylogo: false, displayModeBar: innerWidth > 640,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
      toImageButtonOptions: { format: "png", filename: figure.id, scale: 2 },
    };
    await Plotly.newPlot(live, chart.data, colours(fitted(chart)), live.furlongOptions);
    drawn.add(live);
    figure.querySelector(".still").style.display = "none";
    figure.dataset.state = "live";
  };
  themed();
  if (packed && "DecompressionStream" in window && "IntersectionObserver" in window) {
    const observer = new IntersectionObserver(entries => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        draw(entry.target).catch(error => {
          // The still picture stays.
          entry.target.querySelector(".live").hidden = true;
          entry.target.dataset.state = "still";
          console.error("furlong: a chart stays still:", error);
        });
      }
    }, { rootMargin: "400px" });
    for (const figure of document.querySelectorAll("figure.chart")) observer.observe(figure);
  }
})();
