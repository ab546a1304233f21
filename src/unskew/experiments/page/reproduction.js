// The Tab key stops at a box only while the box can scroll. The edge of the box fades while there is
// more to see beyond it.
(() => {
  const fade = (box) =>
    box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
      fade(target);
    }
  });
  document.querySelectorAll(".scroll").forEach((box) => {
    observer.observe(box);
    box.addEventListener("scroll", () => fade(box), { passive: true });
  });
})();

// Karel's runs, one tick at a time.
(() => {
  if (!document.getElementById("tasks")) return;
  const { sets } = JSON.parse(document.getElementById("tasks").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const DIRECTIONS = ["north", "east", "south", "west"];
  const CELL = 20;
  const WALL = "#", FREE = ".";
  const PARTS = 4; // numbers of a tick: line, pose, markers in Karel's cell, index of a text
  const at = { set: 0, task: 0, pair: 0, tick: 0 };
  let timer = null;
  let runs = []; // for each program: its world, its status and its listing on the page

  const task = () => sets[at.set].tasks[at.task];
  const pair = () => task().pairs[at.pair];
  const ticks = (run) => (run ? run.ticks.length / PARTS : 0);
  const last = () => Math.max(0, ...pair().runs.map(ticks));

  // Elements. Text is always set as text, never as markup.
  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function shape(name, attributes, text = "") {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== "") node.textContent = text;
    return node;
  }

  // Worlds: [rows, columns, cells, Karel's cell, direction], row 0 at the bottom.
  function worldAfter(before, run, count) {
    const [rows, columns, text, cell, facing] = before;
    const world = { rows, columns, cells: [...text], cell, facing };
    const done = Math.min(count, ticks(run));
    for (let i = 0; i < done; i += 1) {
      const [, pose, markers] = run.ticks.slice(i * PARTS, (i + 1) * PARTS);
      world.cell = pose >> 2;
      world.facing = pose & 3;
      world.cells[world.cell] = markers ? String(markers) : FREE;
    }
    return world;
  }

  function described(world) {
    const walls = world.cells.filter((cell) => cell === WALL).length;
    const markers = world.cells.reduce((sum, cell) => sum + (Number(cell) || 0), 0);
    const row = Math.floor(world.cell / world.columns) + 1;
    const column = (world.cell % world.columns) + 1;
    return `${world.rows} × ${world.columns} cells, ${walls} walls, ${markers} markers, Karel in row ` +
      `${row} from below, column ${column}, facing ${DIRECTIONS[world.facing]}`;
  }

  function drawWorld(world, other = null) {
    const width = world.columns * CELL, height = world.rows * CELL;
    const svg = shape("svg", {
      viewBox: `-1 -1 ${width + 2} ${height + 2}`, role: "img", "aria-label": described(world),
    });
    svg.style.maxWidth = `${(width + 2) * 1.3}px`;
    svg.append(shape("rect", { class: "ground", width, height }));
    let lines = "";
    for (let c = 1; c < world.columns; c += 1) lines += `M${c * CELL} 0v${height}`;
    for (let r = 1; r < world.rows; r += 1) lines += `M0 ${r * CELL}h${width}`;
    svg.append(shape("path", { class: "lines", d: lines }));
    world.cells.forEach((content, cell) => {
      const row = Math.floor(cell / world.columns), column = cell % world.columns;
      const x = column * CELL, y = (world.rows - 1 - row) * CELL;
      const here = cell === world.cell;
      if (content === WALL) {
        svg.append(shape("rect", { class: "wall", x, y, width: CELL, height: CELL }));
      }
      if (other && isWrong(world, other, cell)) {
        svg.append(shape("rect", { class: "wrong", x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 }));
      }
      if (here) drawKarel(svg, x, y, world.facing, content !== FREE);
      if (content !== WALL && content !== FREE) drawMarkers(svg, x, y, content, here);
    });
    svg.append(shape("rect", { class: "frame", width, height }));
    return svg;
  }

  function isWrong(world, wanted, cell) {
    const posed = world.cell === wanted.cell && world.facing === wanted.facing;
    return world.cells[cell] !== wanted.cells[cell] || (cell === world.cell && !posed);
  }

  function drawKarel(svg, x, y, facing, onMarkers) {
    const size = onMarkers ? 0.8 * CELL : CELL;
    const [dx, dy] = onMarkers ? [0.36, 0.62] : [0.5, 0.5];
    const [tip, back, side, notch] = [-0.43, 0.35, 0.34, 0.18].map((part) => part * size);
    svg.append(shape("path", {
      class: "karel",
      d: `M0 ${tip}L${side} ${back}L0 ${notch}L${-side} ${back}z`,
      transform: `translate(${x + dx * CELL} ${y + dy * CELL}) rotate(${90 * facing})`,
    }));
  }

  function drawMarkers(svg, x, y, count, underKarel) {
    const radius = (underKarel ? 0.29 : 0.38) * CELL;
    const cx = underKarel ? x + CELL - radius : x + CELL / 2;
    const cy = underKarel ? y + radius : y + CELL / 2;
    const size = radius * 1.7;
    svg.append(shape("circle", { class: "marker", cx, cy, r: radius }));
    svg.append(shape("text", {
      class: "count", x: cx, y: cy + size * 0.36, "font-size": size,
    }, count));
  }

  // Programs
  function listing(program) {
    if (!program.lines) return element("pre", { class: "program unread" }, program.text);
    const list = element("ol", { class: "program" });
    for (const [depth, text] of program.lines) {
      const line = element("li", {}, text);
      line.style.setProperty("--depth", depth);
      list.append(line);
    }
    return list;
  }

  function highlight(list, current) {
    if (list.tagName !== "OL") return;
    [...list.children].forEach((line, i) => {
      line.classList.toggle("current", i === current);
      if (i === current) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    });
    const line = list.children[current];
    if (!line) { list.scrollTop = 0; return; }
    // Scroll the listing, and never the page.
    const above = line.offsetTop - list.offsetTop, room = list.clientHeight - line.offsetHeight;
    if (above < list.scrollTop) list.scrollTop = above;
    else if (above > list.scrollTop + room) list.scrollTop = above - room;
  }

  function statusOf(program, run, tick) {
    if (!program.lines) return "is not a valid program";
    if (tick === 0) return "has not started";
    if (tick > ticks(run)) return run.end;
    const [line, , , word] = run.ticks.slice((tick - 1) * PARTS, tick * PARTS);
    const words = sets[at.set].words[word];
    const text = program.lines[line][1].replace(/:$/, "");
    return `${text}${words ? ` ${words}` : ""}${tick === ticks(run) ? ` – ${run.end}` : ""}`;
  }

  // Drawing. A new task is drawn when it is chosen, a new tick at every step.
  function drawTask() {
    pause();
    const { tasks } = sets[at.set];
    byId("which-task").textContent = `${at.task + 1} of ${tasks.length}: ${task().name}`;
    enable("previous-task", at.task > 0);
    enable("next-task", at.task < tasks.length - 1);
    byId("choose-pair").replaceChildren(...task().pairs.map((one, i) => {
      const input = element("input", { type: "radio", name: "pair", value: i });
      input.checked = i === at.pair;
      const ends = one.runs[one.runs.length - 1];
      const right = one.runs.length > 1 && ends ? (ends.right ? " ✓" : " ✗") : "";
      const name = element("span", {}, `${i + 1}${right}`);
      if (one.note) name.append(element("small", {}, ` ${one.note}`));
      return element("label", {}, input, name);
    }));
    drawPair();
  }

  function drawPair() {
    at.tick = Math.min(at.tick, last());
    const worlds = [], programs = [];
    runs = task().programs.map((program) => {
      const world = element("div", { class: "world" });
      const now = element("p", { class: "now" });
      const list = listing(program);
      worlds.push(element("figure", {}, element("figcaption", {}, program.title), world, now));
      programs.push(element("figure", {}, element("figcaption", {}, program.title), list));
      return { program, world, now, list };
    });
    const wanted = element("div", { class: "world" }, drawWorld(worldAfter(pair().after, null, 0)));
    worlds.push(element("figure", { class: "wanted" }, element("figcaption", {}, "Wanted world"), wanted));
    byId("stage").dataset.programs = runs.length;
    byId("stage").replaceChildren(
      element("div", { class: "worlds" }, ...worlds),
      element("div", { class: "programs" }, ...programs),
    );
    byId("tick").max = last();
    drawTick();
  }

  function drawTick() {
    const { tick } = at;
    const wanted = worldAfter(pair().after, null, 0);
    const texts = runs.map(({ program, world, now, list }, i) => {
      const run = pair().runs[i];
      const shown = worldAfter(pair().before, run, tick);
      world.replaceChildren(drawWorld(shown, run && tick >= ticks(run) ? wanted : null));
      const text = statusOf(program, run, tick);
      now.textContent = text;
      const index = Math.min(tick, ticks(run));
      highlight(list, index > 0 ? run.ticks[(index - 1) * PARTS] : -1);
      return `${program.title}: ${text}.`;
    });
    byId("tick").value = tick;
    byId("tick-of").textContent = `${tick} of ${last()}`;
    byId("tick").setAttribute("aria-valuetext", `tick ${tick} of ${last()}`);
    enable("back", tick > 0);
    enable("reset", tick > 0);
    enable("forward", tick < last());
    byId("status").textContent = `Tick ${tick} of ${last()}. ${texts.join(" ")}`;
  }

  // An inactive button keeps the focus. The attribute `disabled` would take it away.
  function enable(id, able) {
    byId(id).setAttribute("aria-disabled", String(!able));
  }

  function press(id, action) {
    byId(id).addEventListener("click", (event) => {
      if (event.currentTarget.getAttribute("aria-disabled") !== "true") action();
    });
  }

  // Moving
  function go(tick) {
    at.tick = Math.max(0, Math.min(last(), tick));
    drawTick();
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    byId("play").textContent = "Play";
    byId("status").setAttribute("aria-live", "polite");
  }

  function play() {
    if (at.tick >= last()) go(0);
    byId("play").textContent = "Pause";
    byId("status").setAttribute("aria-live", "off"); // a screen reader cannot keep up
    timer = setInterval(() => {
      if (at.tick + 1 >= last()) pause();
      go(at.tick + 1);
    }, Number(byId("speed").value));
  }

  const toggle = () => (timer === null ? play() : pause());
  const stepTo = (tick) => { pause(); go(tick); };

  function choose(change) {
    Object.assign(at, { tick: 0 }, change);
    // Show the first pair that went wrong.
    at.pair = Math.max(0, task().pairs.findIndex((one) => one.runs.some((run) => run && !run.right)));
    drawTask();
  }

  const KEYS = {
    ArrowRight: () => stepTo(at.tick + 1),
    ArrowLeft: () => stepTo(at.tick - 1),
    Home: () => stepTo(0),
    End: () => stepTo(last()),
    " ": toggle,
  };

  byId("choose-set").append(...sets.map((group, i) =>
    element("option", { value: i }, `${group.name} (${group.tasks.length})`)));
  byId("choose-set").addEventListener("change", (event) =>
    choose({ set: Number(event.target.value), task: 0 }));
  document.querySelectorAll("a[data-set]").forEach((link) => link.addEventListener("click", () => {
    byId("choose-set").value = sets.findIndex((group) => group.name === link.dataset.set);
    choose({ set: Number(byId("choose-set").value), task: 0 });
  }));
  press("previous-task", () => choose({ task: at.task - 1 }));
  press("next-task", () => choose({ task: at.task + 1 }));
  byId("choose-pair").addEventListener("change", (event) => {
    pause();
    at.pair = Number(event.target.value);
    at.tick = 0;
    drawPair();
  });
  press("reset", () => stepTo(0));
  press("back", () => stepTo(at.tick - 1));
  press("forward", () => stepTo(at.tick + 1));
  press("play", toggle);
  byId("tick").addEventListener("input", (event) => stepTo(Number(event.target.value)));
  byId("speed").addEventListener("change", () => { if (timer !== null) { pause(); play(); } });
  byId("player").addEventListener("keydown", (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
    const own = event.target.matches("select, input[type=radio]"); // these use the keys themselves
    const pressed = event.key === " " && event.target.matches("button");
    if (!plain || own || pressed || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  // Users who prefer less motion start with the slowest speed.
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) byId("speed").value = "1000";
  byId("player").hidden = false;
  choose({});
})();
