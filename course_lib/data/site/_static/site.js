// What the pages do besides what Sphinx makes: cards on links to terms, a filter for the claims, formulas in search
// results, and keys and a fade for what scrolls.
(() => {
  const assets = new URL(".", document.currentScript.src).href;

  // ---- a card with the entry's first paragraph, where a link leads to a term ----
  const card = Object.assign(document.createElement("div"), { id: "term-card", hidden: true });
  card.setAttribute("role", "tooltip");
  let described = null;
  let waiting = 0;

  function termOf(target) {
    const link = target.closest?.("article a[href]");
    const name = link?.pathname.match(/\/glossary\/([a-z-]+)\.html$/)?.[1];
    return name in TERMS && link.pathname !== location.pathname ? { link, ...TERMS[name] } : null;
  }
  function show({ link, term, text }) {
    hide();
    card.innerHTML = `<b>${term}</b><p>${text}</p>`;
    card.hidden = false;
    const [at, size] = [link.getBoundingClientRect(), card.getBoundingClientRect()];
    const below = at.bottom + size.height < innerHeight || at.top < size.height;
    card.style.top = `${scrollY + (below ? at.bottom : at.top - size.height)}px`;
    card.style.left = `${scrollX + Math.max(8, Math.min(at.left, document.body.clientWidth - size.width - 8))}px`;
    described = link;
    link.setAttribute("aria-describedby", card.id);
    if (card.querySelector(".math")) typeset();
  }
  function hide() {
    clearTimeout(waiting);
    card.hidden = true;
    described?.removeAttribute("aria-describedby");
    described = null;
  }
  function typeset() {
    const late = [card, ...document.querySelectorAll("#search-results .context")];
    if (window.MathJax) return window.MathJax.typesetPromise?.(late);
    // A page without a formula of its own has not loaded MathJax.
    window.MathJax = { startup: { typeset: false, ready: () => (MathJax.startup.defaultReady(), typeset()) } };
    document.head.append(Object.assign(document.createElement("script"), { src: `${assets}mathjax/tex-mml-chtml.js` }));
  }
  document.addEventListener("pointerover", (event) => {
    const term = event.pointerType !== "touch" && termOf(event.target);
    if (term && term.link !== described) {
      clearTimeout(waiting);
      waiting = setTimeout(show, 200, term);
    } else if (!term && !card.contains(event.target)) {
      clearTimeout(waiting);
      if (!described?.matches(":focus-visible")) waiting = setTimeout(hide, 200); // time to move into the card
    } else clearTimeout(waiting);
  });
  document.addEventListener("focusin", (event) => {
    const term = event.target.matches(":focus-visible") && termOf(event.target);
    if (term) show(term);
    else hide();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

  // ---- a filter for the claims by verdict, lesson and words, kept in the address ----
  const ELSEWHERE = { page: "settled on this page", later: "not tested yet" };
  function addFilter(counts) {
    const cards = [...document.querySelectorAll(".claim")].map(({ dataset, parentElement }) => ({
      box: parentElement,
      parts: [...parentElement.querySelectorAll(".verdict")],
      verdict: dataset.verdicts.split(";"),
      lesson: dataset.places.split(";"), // one for each verdict
      words: parentElement.textContent.toLowerCase(),
    }));
    const filter = Object.assign(document.createElement("form"), { className: "claims-filter" });
    filter.innerHTML = `<label>Verdict <select name="verdict"><option value="">any</option></select></label>
      <label>Lesson <select name="lesson"><option value="">any</option></select></label>
      <label>Words <input type="search" name="words"></label> <output></output>`;
    const [verdict, lesson, words] = filter.elements;
    const groups = [...new Set(cards.map(({ box }) => box.parentElement))];
    const entries = document.querySelectorAll(".groups li");
    const told = filter.querySelector("output");
    new Set(cards.flatMap((card) => card.verdict)).forEach((name) => verdict.add(new Option(name)));
    [...new Set(cards.flatMap((card) => card.lesson))]
      .sort((a, b) => (a in ELSEWHERE) - (b in ELSEWHERE) || a.localeCompare(b))
      .forEach((place) => lesson.add(new Option(ELSEWHERE[place] ?? place.replace("lesson ", ""), place)));

    function choose() {
      const wanted = words.value.toLowerCase().split(/\s+/);
      for (const card of cards) {
        const fits = card.verdict.map(
          (name, i) => [name, ""].includes(verdict.value) && [card.lesson[i], ""].includes(lesson.value)
        );
        card.box.hidden = !(fits.includes(true) && wanted.every((word) => card.words.includes(word)));
        // Matching verdicts come first; without a filter each is where it was.
        const order = (part) => !fits[card.parts.indexOf(part)];
        card.parts[0]?.parentElement.append(...[...card.parts].sort((a, b) => order(a) - order(b)));
      }
      groups.forEach((group, i) => {
        group.hidden = entries[i].hidden = !group.querySelector(":scope > section:not([hidden])");
      });
      for (const row of document.querySelectorAll(".effects [data-claim]"))
        row.hidden = document.getElementById(row.dataset.claim).closest("section").hidden;
      told.textContent = `${cards.filter(({ box }) => !box.hidden).length} of ${cards.length} claims are shown`;
    }
    filter.addEventListener("submit", (event) => event.preventDefault());
    // The card or group that the address names, if it is hidden.
    function missed() {
      const named = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("section");
      return named?.closest("[hidden]") && named;
    }
    function write() {
      const asked = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value));
      history.replaceState(null, "", (asked.size ? `?${asked}` : location.pathname) + (missed() ? "" : location.hash));
    }
    // A card that the address names is shown, whatever the filter says.
    function giveWay() {
      const named = missed();
      if (!named) return;
      verdict.value = lesson.value = words.value = "";
      choose();
      write();
      named.scrollIntoView({ behavior: "instant" });
    }
    filter.addEventListener("input", () => {
      choose();
      write();
    });
    addEventListener("hashchange", giveWay);
    const asked = new URLSearchParams(location.search);
    for (const menu of [verdict, lesson]) {
      menu.value = asked.get(menu.name);
      if (menu.selectedIndex < 0) menu.value = ""; // nothing is asked for, or what no claim has
    }
    words.value = asked.get("words") ?? "";
    if (verdict.value || lesson.value || words.value) choose();
    giveWay();
    counts.after(filter);
  }

  // ---- what the search quotes: each formula is one letter of no alphabet while Sphinx cuts and marks the text ----
  function quoteFormulas() {
    const { htmlToText, makeSearchSummary } = Search;
    const places = [];
    let formulas = [];
    let waiting = 0;
    function fill() {
      places.splice(0).forEach(([place, formula]) => (place.outerHTML = formula));
      typeset();
    }
    Search.htmlToText = (page, anchor) => {
      const letter = (formula) => String.fromCharCode(0xe000 + formulas.push(formula) - 1);
      return htmlToText(page.replace(/<(span|div) class="math[^]*?<\/\1>/g, letter), anchor);
    };
    Search.makeSearchSummary = (...found) => {
      formulas = [];
      const summary = makeSearchSummary(...found);
      const letters = summary?.textContent.match(/[\ue000-\uf8ff]/g);
      if (!letters) return summary;
      summary.innerHTML = summary.innerHTML.replace(/[\ue000-\uf8ff]/g, "<span></span>");
      summary.querySelectorAll("span").forEach((place, i) => places.push([place, formulas[letters[i].charCodeAt() - 0xe000]]));
      clearTimeout(waiting);
      waiting = setTimeout(fill, 50);
      return summary;
    };
  }

  // ---- what scrolls within the page can be reached by keyboard, and fades where it goes on ----
  const FADE = "2.5rem";
  function fade(box) {
    box.style.setProperty("--before", box.scrollLeft > 1 ? FADE : "0px");
    box.style.setProperty("--after", box.scrollLeft + box.clientWidth < box.scrollWidth - 1 ? FADE : "0px");
  }
  function reachable() {
    const edge = document.querySelector("article").getBoundingClientRect().right;
    document.querySelectorAll("article mjx-container").forEach((formula) => {
      if (formula.getBoundingClientRect().right > edge) formula.classList.add("wide");
    });
    document.querySelectorAll("article :is(pre, .table-wrapper, .output, .cell_output, mjx-container, .am-explorer, .am-frame, dt)").forEach((box) => {
      const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible";
      box.classList.toggle("scrolls", scrolls);
      if (!scrolls) return;
      box.tabIndex = 0;
      fade(box);
    });
  }

  // ---- explorers and formulas come late, and move what was linked to; until the reader moves, it is brought back ----
  let reading = false;
  ["wheel", "keydown", "pointerdown"].forEach((kind) => addEventListener(kind, () => (reading = true), { once: true }));
  function settle() {
    reachable();
    if (!reading) document.querySelector(":target")?.scrollIntoView({ behavior: "instant" });
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.body.append(card);
    const counts = document.querySelector(".counts");
    if (counts) addFilter(counts);
    if (typeof Search === "object") quoteFormulas();
    new ResizeObserver(settle).observe(document.querySelector("article"));
    addEventListener("input", reachable); // an explorer's next frame may be wider
    addEventListener("scroll", ({ target }) => target.matches?.(".scrolls") && fade(target), true);
  });
  // A page opened from a folder may not read others to quote from what was found.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
