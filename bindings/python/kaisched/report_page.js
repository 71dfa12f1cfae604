// Draws the figures of the page in the colours that it has now, and again when these or its width change.
(() => {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 600px)");
  const button = document.getElementById("theme");
  const modes = ["auto", "light", "dark"];
  let mode = "auto";

  const figures = [...document.querySelectorAll("section")].map((section) => ({
    plot: section.querySelector(".plot"),
    told: JSON.parse(section.querySelector("script").textContent),
  }));

  function laidOut(layout) {
    const style = getComputedStyle(root);
    const front = style.getPropertyValue("--front").trim();
    const made = structuredClone(layout);
    made.paper_bgcolor = made.plot_bgcolor = "rgba(0,0,0,0)";
    made.font = { ...made.font, color: front, size: narrow.matches ? 11 : 13 };
    made.hoverlabel = { bgcolor: style.getPropertyValue("--card").trim(), font: { color: front } };
    made.title = undefined; // the page has it
    made.autosize = true;
    const dim = style.getPropertyValue("--dim").trim();
    made.modebar = { bgcolor: "rgba(0,0,0,0)", color: dim, activecolor: front };
    for (const slider of made.sliders ?? []) {
      slider.bordercolor = slider.activebgcolor = dim;
      slider.bgcolor = style.getPropertyValue("--card").trim();
      slider.font = { color: front };
    }
    made.margin = { ...made.margin, t: narrow.matches ? 16 : 36, ...(narrow.matches ? { l: 40, r: 8 } : {}) };
    return made;
  }

  function draw() {
    for (const { plot, told } of figures) {
      Plotly.react(plot, structuredClone(told.data), laidOut(told.layout), {
        responsive: true,
        displaylogo: false,
        displayModeBar: narrow.matches ? false : "hover",
      });
    }
  }

  button.addEventListener("click", () => {
    mode = modes[(modes.indexOf(mode) + 1) % modes.length];
    if (mode === "auto") delete root.dataset.theme;
    else root.dataset.theme = mode;
    button.textContent = `Colours: ${mode}`;
    button.setAttribute("aria-label", mode === "auto" ? "Colours: as the system has them" : `Colours: ${mode}`);
    draw();
  });
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  draw();
  root.dataset.drawn = "yes";
})();
