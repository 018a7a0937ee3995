// What all explorers with a model in the page share: loading the model, and keeping the state.

const onPage = !document.getElementById("jupyter-config-data"); // in JupyterLab the address belongs to the reader
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Fetches the model's script from next to the page, from JupyterLab's files, or from the kernel.
function fetched(name, model) {
  const lab = document.getElementById("jupyter-config-data");
  const folder = globalThis.COURSE_MODELS_AT ?? (lab && `${JSON.parse(lab.textContent).baseUrl}files/build/models/`);
  const from = (attributes) => new Promise((ready, failed) => {
    document.head.append(make("script", { ...attributes, onload: ready, onerror: failed }));
  });
  const asked = () => new Promise((ready, failed) => {
    if (!model.send) return failed();
    model.on("msg:custom", ({ script }) => (globalThis.eval(script), ready()));
    model.send({ want: "script" });
    setTimeout(failed, 20000); // no kernel answers
  });
  const there = () => globalThis.COURSE_MODELS?.[name];
  if (there()) return Promise.resolve(there());
  return (folder ? from({ src: `${folder}${name}.js` }).catch(asked) : asked()).then(there);
}

// Starts the named explorer, such as "translator", once its model is there.
function begin(what, { model, el }, start) {
  el.classList.add("am-explorer", "am-tells", "am-in-page", `am-${what.replaceAll(" ", "-")}`);
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", `Explorer: a ${what} in the page`);
  keepKeys(el);
  el.classList.add("am-waiting");
  el.append(make("p", {}, `The ${what} is being fetched (0.6 MB) …`));
  fetched(model.get("name"), model).finally(() => el.classList.remove("am-waiting")).then(
    (spec) => start(model, el, spec),
    () => el.replaceChildren(`The ${what}'s weights were not found. \`make lab\` puts them where JupyterLab finds them, `
      + "and a running kernel sends them: run this cell again."),
  );
}

// A menu of the examples, and a function that selects the typed text in it, or `own` for any other text.
function menu(model, label, own, choose) {
  const ownWords = new Option(own, ""), examples = model.get("examples");
  const select = make("select", { "aria-label": label, oninput: () => select.value && choose(select.value) },
    ...examples.map((text) => new Option(text, text)), ownWords);
  return [select, (text) => {
    ownWords.hidden = examples.includes(text);
    select.value = ownWords.hidden ? text : "";
  }];
}

// Keeps an explorer's state in step with the kernel, with another window and with the address. Returns the function that
// changes it. `read` returns the state, `take` draws a new one, and `allowed` checks each value from the address.
function tied(model, el, given, allowed, read, take) {
  let timer = 0;
  const drawn = (state) => {
    take(state);
    clearTimeout(timer); // when the reader pauses, since the browser takes long for an address
    if (onPage) timer = setTimeout(() => spellInAddress(given, read(), Object.keys(allowed)), 200);
  };
  // From another window or the page around it, which keep their own address.
  el.addEventListener("am-take", ({ detail }) => {
    take({ ...read(), ...detail });
    model.set("state", read());
  });
  model.on("change:state", () => {
    if (JSON.stringify(model.get("state")) !== JSON.stringify(read())) drawn({ ...given, ...model.get("state") });
  });
  return (more) => {
    drawn({ ...read(), ...more });
    model.set("state", read());
    model.save_changes();
    el.dispatchEvent(new CustomEvent("am-told", { bubbles: true, detail: read() }));
  };
}

function spellInAddress(given, state, names) {
  const address = new URL(location.href);
  for (const name of names) {
    const spelled = JSON.stringify(state[name]);
    if (spelled === JSON.stringify(given[name])) address.searchParams.delete(name);
    else address.searchParams.set(name, spelled);
  }
  try {
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  } catch {} // Safari allows a hundred in half a minute
}

function spelledInAddress(allowed) {
  const found = {};
  for (const [name, text] of onPage ? new URLSearchParams(location.search) : []) {
    try {
      const value = JSON.parse(text);
      if (allowed[name]?.(value)) found[name] = value;
    } catch {} // changed by hand
  }
  return found;
}

// What a reader could have chosen: a number, a whole one, a text, texts.
const within = (least, most) => (value) => Number.isFinite(value) && least <= value && value <= most;
const count = (least, most) => (value) => Number.isInteger(value) && within(least, most)(value);
const text = (most) => (value) => typeof value === "string" && value.length <= most;
const texts = (value) => Array.isArray(value) && value.every(text(100));

// The list without these values if it has them all, else with them.
const flipped = (list, ...values) => (values.every((value) => list.includes(value)) ? list.filter((one) => !values.includes(one)) : [...new Set([...list, ...values])]);

// The words of a sentence, their numbers, below 0 if the model has never read them, and these words in quotation marks.
// While the reader is typing, the last word isn't wrong yet.
function inWords(sentence, known, typing) {
  const words = sentence.split(/[\s.,;:!?]+/).filter(Boolean), numbers = words.map((word) => known.indexOf(word, 4)); // after the special tokens
  const unknown = words.filter((_, i) => numbers[i] < 0 && !(typing && i === words.length - 1));
  return { words, numbers, unknown: unknown.map((word) => `“${word}”`).join(", ") };
}
