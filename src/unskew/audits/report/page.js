"use strict";
(() => {
  const { specs, themes } = JSON.parse(document.getElementById("charts").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];

  async function draw() {
    const scheme = dark.matches ? "dark" : "light";
    for (const [i, spec] of specs.entries()) {
      drawn[i]?.finalize();
      drawn[i] = await vegaEmbed(`#chart-${i}`, spec, {
        mode: "vega-lite",
        actions: false,
        ast: true, // the page's policy forbids eval
        config: themes[scheme],
        defaultStyle: false,
        renderer: "svg",
        tooltip: { theme: scheme },
      });
    }
  }

  // One drawing after another: two at once would fight over the same elements.
  let last = draw();
  dark.addEventListener("change", () => { last = last.then(draw); });
})();
