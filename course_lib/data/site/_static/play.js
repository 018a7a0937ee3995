// The ledger as a game: a claim, a guess, then what came out. The cards wait in templates, which no reader sees. Rounds are
// in the address, and the guesses in the history's entry, so that a way back from a lesson leads to the same claim.
(() => {
  const game = document.querySelector(".game"), part = (name) => game.querySelector(name);
  const templates = [...document.querySelectorAll("template[data-round]")];
  const rounds = Number(templates.at(-1).dataset.round), asked = new URLSearchParams(location.search).get("round");
  const round = templates.some((card) => card.dataset.round === asked) ? Number(asked) : 1;
  const cards = templates.filter((card) => card.dataset.round === String(round)).map(({ content, dataset }) => ({
    id: dataset.id,
    sentence: content.querySelector(".sentence p").innerHTML,
    verdicts: content.querySelector(".claim").dataset.verdicts.split(";"),
    parts: [...content.querySelector(".claim").children],
  }));
  let { guesses, at } = history.state?.guesses ? history.state : { guesses: [], at: 0 };

  const right = (i) => cards[i].verdicts.includes(guesses[i]);
  const points = () => guesses.filter((_, i) => right(i)).length;
  const came = ({ verdicts }) => [...new Set(verdicts)].join(", and in another test it ");

  function show() {
    history.replaceState({ guesses, at }, "");
    const over = at === cards.length, guessed = at < guesses.length;
    part(".marks").innerHTML = cards
      .map((_, i) => `<li class="${i < guesses.length ? (right(i) ? "right" : "missed") : i === at ? "now" : ""}"></li>`)
      .join("");
    part(".told").textContent = over ? "" : `Claim ${at + 1} of ${cards.length} · ${points()} ${points() === 1 ? "point" : "points"}`;
    part(".asked").hidden = over;
    part(".result").hidden = !over;
    if (over) return sum();
    const card = cards[at], about = card.parts.findIndex((one) => one.matches(".by")) + 1;
    part(".said").innerHTML = card.sentence;
    part(".about").replaceChildren(...card.parts.slice(0, about));
    part(".guesses").hidden = guessed;
    part(".outcome").hidden = !guessed;
    part(".answer").replaceChildren(...(guessed ? card.parts.slice(about) : []));
    if (!guessed) return;
    const found = came(card);
    part(".outcome h3").textContent = right(at) ? `Correct: it ${found}.` : `You said it ${guesses[at]}. It ${found}.`;
    part(".outcome h3").classList.toggle("right", right(at));
    part(".next").textContent = at + 1 < cards.length ? "Next claim" : "See your score";
    window.MathJax?.typesetPromise?.([part(".answer")]);
  }
  // What is new has the focus, and is in sight.
  function turnTo(heading) {
    heading.focus({ preventScroll: true });
    const { top, bottom } = game.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) game.scrollIntoView({ behavior: "instant" });
  }

  // ---- the score ----
  const address = () => new URL(`?round=${round}`, location.href).href;
  const score = () => `${points()} of ${cards.length}`;
  function sum() {
    const middle = cards.filter(({ verdicts }) => verdicts.includes("holds only if")).length;
    part(".result h2").textContent = `You guessed ${score()}`;
    part(".score").setAttribute("aria-label", `Score: ${score()} verdicts guessed`);
    part(".points").textContent = score();
    part(".squares").innerHTML = cards
      .map((_, i) => `<rect x="${38 + 48 * i}" y="226" width="36" height="36" rx="6" stroke="#56b4e9" stroke-width="3"
        fill="${right(i) ? "#56b4e9" : "none"}"/>`)
      .join("");
    part(".middle").textContent = `If you had said “holds only if …” every time, you would have guessed ${middle}.`;
    part(".recap").innerHTML = cards
      .map(({ id, sentence, verdicts }, i) => `<li class="${verdicts[0].replaceAll(" ", "-")}">
        <a href="claims.html#${id}">${sentence}</a><br>It ${came(cards[i])}${right(i) ? "." : `; you said it ${guesses[i]}.`}</li>`)
      .join("");
    part(".another").href = `?round=${(round % rounds) + 1}`;
    part(".shared").textContent = "";
  }
  async function share() {
    const squares = cards.map((_, i) => (right(i) ? "🟦" : "⬜")).join("");
    const text = `I guessed ${score()} verdicts on what people say about attention.\n${squares}\nAnd you?`;
    try {
      if (navigator.share) return await navigator.share({ text, url: address() });
      await navigator.clipboard.writeText(`${text} ${address()}`);
      part(".shared").textContent = "Copied: paste it wherever you like.";
    } catch (fault) {
      if (fault.name !== "AbortError") part(".shared").textContent = `${text} ${address()}`;
    }
  }

  part(".guesses").addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    guesses.push(button.value);
    show();
    turnTo(part(".outcome h3"));
  });
  part(".next").addEventListener("click", () => {
    at += 1;
    show();
    turnTo(part(at < cards.length ? ".said" : ".result h2"));
  });
  part(".again").addEventListener("click", () => {
    [guesses, at] = [[], 0];
    show();
    turnTo(part(".said"));
  });
  part(".share").addEventListener("click", share);
  document.querySelector(".without").remove();
  game.hidden = false;
  show();
})();
