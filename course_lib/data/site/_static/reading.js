// A lesson's reading view: code, prints, fine print and answers are folded until a reader opens them, or votes.
(() => {
  const KEY = "attention-measured-view";
  const button = document.querySelector(".view button");
  if (!button) return;
  const folds = [...document.querySelectorAll("article details")];
  const voted = new Set(); // the ids of the cells

  // Opens the answers to a vote, and returns them.
  function answer(vote) {
    const answers = folds.filter((fold) => fold.dataset.vote === vote);
    for (const fold of answers) fold.open = true;
    return answers;
  }

  // ---- the switch; where nothing may be stored, it works until the page is left ----
  let everything = false;
  try {
    everything = localStorage[KEY] === "everything";
  } catch {}
  function show() {
    button.textContent = everything ? "Reading view" : "Show everything";
    for (const fold of folds) fold.open = everything || voted.has(fold.dataset.vote);
  }
  button.addEventListener("click", () => {
    everything = !everything;
    show();
    try {
      localStorage[KEY] = everything ? "everything" : "reading";
    } catch {}
  });
  if (everything) show();

  // ---- a vote opens its answers, which compare it with the measured as the notebook does ----
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".am-prediction input")) return;
    const cell = target.closest(".cell"), told = document.createElement("span"), said = document.createElement("b");
    voted.add(cell.id);
    const measured = answer(cell.id).map((fold) => fold.querySelector(".measured")).find(Boolean);
    said.textContent = target.closest("label").textContent;
    told.append("You predicted: ", said, ". ");
    measured.querySelector("span")?.remove();
    measured.prepend(told);
    if (cell.querySelector(".voted")) return;
    const link = `<a href="#${measured.closest(".cell").id}">See what was measured</a>`;
    const reply = Object.assign(document.createElement("p"), { className: "voted", innerHTML: link });
    reply.setAttribute("role", "status");
    cell.append(reply);
  });
  // Who shows one part of an answer needs no fold over the others.
  document.addEventListener("toggle", ({ target }) => target.matches(".answer[open]") && answer(target.dataset.vote), true);

  // ---- a link into a fold opens it, and a link to a cell that is folded as a whole opens the cell ----
  function reveal() {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!named) return;
    for (let fold = named.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (named.matches(".cell:not(:has(> .cell_output))")) named.querySelector("details").open = true;
    named.scrollIntoView({ behavior: "instant" });
  }
  addEventListener("hashchange", reveal);
  reveal();

  // ---- on paper everything is open ----
  let shut = [];
  addEventListener("beforeprint", () => {
    shut = folds.filter((fold) => !fold.open);
    for (const fold of shut) fold.open = true;
  });
  addEventListener("afterprint", () => shut.forEach((fold) => (fold.open = false)));
})();
