// A query among keys. The arrows are dragged, turned with the arrow keys, or glide to where the plane is clicked. Scores,
// weights and their sum are computed here at every move, so this works without a kernel.
const UNIT = 80; // pixels of the drawing; a key is at most 1 long
const REACH = 86; // of the longest query
const RING = 98; // words are outside of it, all else inside
const LETTER = 16;
const SIDEWAYS = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8].map((turns) => 15 * turns); // degrees
const GLIDE = 250; // milliseconds
const COLOURS = { key: "#0072b2", value: "#009e73", output: "#d55e00", query: "currentColor" };

const toPoint = ([length, degrees]) => {
  const angle = (degrees * Math.PI) / 180;
  return [length * Math.cos(angle), length * Math.sin(angle)];
};
const toPolar = ([x, y]) => [Math.hypot(x, y), ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360];
const pair = (point) => `(${point.map((number) => number.toFixed(2)).join(",\u00a0").replaceAll("-", "−")})`;

function attend([x, y], keys, values) {
  const scores = keys.map((key) => x * key[0] + y * key[1]);
  const weights = softmax(scores);
  const output = [0, 1].map((axis) => weights.reduce((sum, weight, i) => sum + weight * values[i][axis], 0));
  return { scores, weights, output };
}

// An arrow from the origin, along the axis of its turned group.
function makeArrow(plane, kind, attributes = {}) {
  const shaft = drawn("line", kind === "query" ? { "stroke-dasharray": "6 3" } : {});
  const head = drawn("polygon", { stroke: "none" });
  const group = drawn("g", { fill: COLOURS[kind], stroke: COLOURS[kind], ...attributes }, shaft, head);
  plane.append(group);
  const point = ([length, degrees], width) => {
    const wide = Math.min(4 + width, length);
    const tall = Math.min(2 * wide, length);
    group.setAttribute("transform", `rotate(${-degrees})`);
    shaft.setAttribute("x2", length - tall);
    shaft.setAttribute("stroke-width", width);
    head.setAttribute("points", `${length},0 ${length - tall},${wide} ${length - tall},${-wide}`);
  };
  return { group, point };
}

// Puts words around the ring, each as near to its arrow as the words before it allow.
function placeWords(labels, vectors) {
  const taken = [];
  labels.forEach((label, i) => {
    const [wide, tall] = [0.31 * LETTER * label.textContent.length, 0.6 * LETTER];
    const [, degrees] = toPolar(vectors[i]);
    const boxes = SIDEWAYS.map((more) => {
      const [x, y] = toPoint([1, degrees + more]);
      const away = RING + wide * Math.abs(x) + tall * Math.abs(y);
      return { x: away * x, y: -away * y, wide, tall };
    });
    const free = ({ x, y }) =>
      taken.every((box) => Math.abs(box.x - x) > box.wide + wide || Math.abs(box.y - y) > box.tall + tall);
    const box = boxes.find(free) ?? boxes[0];
    taken.push(box);
    label.setAttribute("x", box.x);
    label.setAttribute("y", box.y + 0.35 * LETTER);
  });
}

function render({ model, el }) {
  const [words, values, turned, longest] = ["words", "values", "turned", "longest"].map((name) => model.get(name));
  const state = { query: model.get("query"), key_vectors: model.get("key_vectors") };
  const two = values.length > 0;
  const [key, output] = two ? ["key", "output"] : ["state", "context"];
  const half = [RING + 0.62 * LETTER * Math.max(...words.map((word) => word.length)) + 4, RING + 1.2 * LETTER + 4];
  const about = (i) => ({ "data-about": i });

  const makePlane = (title) => drawn("svg", {
    viewBox: `${-half[0]} ${-half[1]} ${2 * half[0]} ${2 * half[1]}`, role: "group", "aria-label": title,
    fill: "currentColor", "font-size": LETTER, "text-anchor": "middle", "data-prevent-swipe": true,
  },
    drawn("path", { d: `M${-REACH} 0H${REACH}M0 ${-REACH}V${REACH}`, stroke: "#8886" }),
    drawn("circle", { r: UNIT, fill: "none", stroke: "#8886" }));
  const figure = (plane) => make("figure", {}, ...(two ? [make("figcaption", {}, plane.ariaLabel)] : []), plane);

  const left = makePlane(`query and ${key}s`);
  const glows = words.map(() => drawn("circle", { fill: "#f0e442" }));
  const keyWords = words.map((word, i) => drawn("text", about(i), word));
  left.append(...glows, ...keyWords);
  const keyArrows = words.map((_, i) => makeArrow(left, "key", about(i)));

  const right = two ? makePlane(`values and ${output}`) : left;
  const valueArrows = values.map((_, i) => makeArrow(right, "value", about(i)));
  const valueWords = words.filter(() => two).map((word, i) => drawn("text", about(i), word));
  right.append(...valueWords);
  placeWords(valueWords, values);
  const sum = makeArrow(right, "output");
  const queryArrow = makeArrow(left, "query"); // above all others

  const rows = words.map((word, i) => {
    const score = make("td"), weight = make("span");
    const row = make("tr", { tabindex: 0, ...about(i) },
      make("th", { scope: "row" }, word), score, make("td", {}, make("span", { class: "am-bar" }), weight));
    return { row, score, weight };
  });
  const names = [two ? "q·k" : "q·h", "weight"].map((name) => make("th", { scope: "col" }, name));
  const table = make("table", {},
    make("thead", {}, make("tr", {}, make("td"), ...names)), make("tbody", {}, ...rows.map(({ row }) => row)));

  const legend = two
    ? "blue: keys · green: values, wider with more weight · orange: output"
    : "blue: states, brighter with more weight · orange: context";
  const numbers = make("div", { class: "am-numbers" });
  const said = make("div", { class: "am-words" },
    make("div", {}, "Drag what has a ring, or click where the query should point."),
    make("div", {}, `dashed: query (drawn smaller) · ${legend}`), numbers);
  const live = make("div", { class: "visually-hidden", "aria-live": "polite" });
  const grid = make("div", { class: two ? "am-planes am-two" : "am-planes" }, figure(left), table, ...(two ? [figure(right)] : []), said);
  el.append(make("div", { class: "am-frame" }, grid), live);
  let hovered, focused, speaking;

  function draw() {
    const query = toPoint(state.query);
    const { scores, weights, output: mixture } = attend(query, state.key_vectors, two ? values : state.key_vectors);
    words.forEach((_, i) => {
      const [length, degrees] = toPolar(state.key_vectors[i]);
      const [x, y] = state.key_vectors[i];
      keyArrows[i].point([UNIT * length, degrees], two ? 3 : 1.5 + 5 * weights[i]);
      Object.entries({ cx: UNIT * x, cy: -UNIT * y, r: 17 * weights[i] }).forEach(([name, at]) => glows[i].setAttribute(name, at));
      rows[i].score.textContent = scores[i].toFixed(2).replace("-", "−");
      rows[i].weight.textContent = weights[i].toFixed(2);
      rows[i].row.style.setProperty("--weight", weights[i]);
      if (two) {
        const [long, towards] = toPolar(values[i]);
        valueArrows[i].point([UNIT * long, towards], 1.5 + 6 * weights[i]);
      }
    });
    placeWords(keyWords, state.key_vectors);
    const [length, degrees] = toPolar(mixture);
    sum.point([UNIT * length, degrees], 4);
    queryArrow.point([(REACH / longest) * state.query[0], state.query[1]], 2.5);
    const i = hovered ?? focused;
    numbers.textContent = i === undefined
      ? `query ${pair(query)}, ${state.query[0].toFixed(2)} long · ${output} ${pair(mixture)}`
      : `${words[i]}: ${key} ${pair(state.key_vectors[i])}${two ? `, value ${pair(values[i])}` : ""} · score ${rows[i].score.textContent}, `
        + `weight ${rows[i].weight.textContent}`;
    const said = `weights: ${words.map((word, n) => `${word} ${Math.round(100 * weights[n])}%`).join(", ")}`;
    handles.forEach(({ group, get }) => {
      const [long, towards] = get();
      group.setAttribute("aria-valuenow", Math.round(towards) % 360);
      group.setAttribute("aria-valuetext", `${Math.round(towards) % 360} degrees, ${long.toFixed(2)} long; ${said}`);
    });
    return `${said}; ${output} ${pair(mixture)}`;
  }

  // ---- what is moved ----

  // Called once nothing moves any more.
  function keep() {
    clearTimeout(speaking);
    const said = draw();
    speaking = setTimeout(() => (live.textContent = said), 500);
    Object.entries(state).forEach(([name, value]) => model.set(name, value));
    model.save_changes();
  }
  function put(handle, [length, degrees]) {
    handle.set([Math.min(handle.longest, Math.max(0, length)), (degrees + 360) % 360]);
    draw();
    el.dispatchEvent(new CustomEvent("am-told", { bubbles: true, detail: { ...state } }));
  }
  function glide(handle, goal) {
    const from = handle.get();
    const turn = ((goal[1] - from[1] + 540) % 360) - 180;
    const began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    cancelAnimationFrame(handle.running);
    handle.goal = goal;
    (function step(now) {
      const part = still ? 1 : Math.min(1, Math.max(0, (now - began) / GLIDE));
      const eased = part * (2 - part);
      put(handle, part === 1 ? goal : [from[0] + eased * (goal[0] - from[0]), from[1] + eased * turn]);
      if (part < 1) handle.running = requestAnimationFrame(step);
      else {
        handle.goal = undefined;
        keep();
      }
    })(began);
  }
  function at({ clientX, clientY }, plane) {
    const box = plane.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * 2 * half[0] - half[0];
    return [x, half[1] - ((clientY - box.top) / box.height) * 2 * half[1]];
  }

  const handles = [];
  function makeHandle(name, { group, point }, scale, longest, get, set) {
    const handle = { group, longest, get, set };
    const grip = drawn("circle", { class: "am-grip", r: 9 });
    const hit = drawn("circle", { class: "am-hit", r: 20 });
    group.append(grip, hit);
    const label = `${name}: left and right turn it, up and down change its length`;
    const said = { role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 359 };
    Object.entries(said).forEach(([attribute, value]) => group.setAttribute(attribute, value));
    hit.addEventListener("touchstart", (event) => event.preventDefault()); // else the page scrolls, too
    let apart; // of the tip and the pointer that holds it
    hit.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      cancelAnimationFrame(handle.running);
      handle.goal = undefined;
      hit.setPointerCapture(event.pointerId);
      const [tip, pointer] = [toPoint(get()), at(event, left)];
      apart = tip.map((place, axis) => scale * place - pointer[axis]);
    });
    hit.addEventListener("pointermove", (event) => {
      if (hit.hasPointerCapture(event.pointerId))
        put(handle, toPolar(at(event, left).map((place, axis) => (place + apart[axis]) / scale)));
    });
    hit.addEventListener("lostpointercapture", keep);
    group.addEventListener("keydown", (event) => {
      const [turn, more] = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
      if (turn === undefined) return;
      event.preventDefault();
      const [length, degrees] = handle.goal ?? get();
      glide(handle, [Math.min(longest, Math.max(0, length + (more * longest) / 16)), (degrees + turn + 360) % 360]);
    });
    handles.push(handle);
    return (polar, width) => {
      point(polar, width);
      [grip, hit].forEach((circle) => circle.setAttribute("cx", polar[0]));
    };
  }
  turned.map((word) => words.indexOf(word)).forEach((i) => {
    const set = ([length, degrees]) => {
      const point = toPoint([Math.max(0.05, length), degrees]); // at 0 its direction would be lost
      state.key_vectors = state.key_vectors.map((old, n) => (n === i ? point : old));
    };
    keyArrows[i].point = makeHandle(`key of ${words[i]}`, keyArrows[i], UNIT, 1, () => toPolar(state.key_vectors[i]), set);
  });
  const setQuery = (polar) => (state.query = polar);
  queryArrow.point = makeHandle("query", queryArrow, REACH / longest, longest, () => state.query, setQuery);
  const queryHandle = handles.at(-1);
  left.addEventListener("click", (event) => {
    if (event.target.closest("[role=slider]")) return;
    const [length, degrees] = toPolar(at(event, left).map((place) => (place * longest) / REACH));
    queryHandle.group.focus({ preventScroll: true });
    glide(queryHandle, [Math.min(longest, length), degrees]);
  });

  const aboutOf = ({ target }) => target.closest("[data-about]")?.dataset.about;
  el.addEventListener("pointerover", (event) => { hovered = aboutOf(event); draw(); });
  el.addEventListener("pointerleave", () => { hovered = undefined; draw(); });
  el.addEventListener("focusin", (event) => { focused = aboutOf(event); draw(); });
  el.addEventListener("focusout", () => { focused = undefined; draw(); });
  el.addEventListener("am-take", ({ detail }) => { Object.assign(state, detail); keep(); });
  Object.keys(state).forEach((name) => model.on(`change:${name}`, () => { state[name] = model.get(name); draw(); }));

  el.classList.add("am-explorer", "am-tells", "am-plane");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", `Explorer: a query among ${key}s`);
  keepKeys(el);
  draw();
}

export default { render };
