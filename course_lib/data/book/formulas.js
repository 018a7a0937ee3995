// Turns formulas, a list of [TeX, display], into MathML. The first argument is the folder of MathJax.
const formulas = JSON.parse(require("fs").readFileSync(0, "utf-8"));
require(process.argv[2]).init({ loader: { load: ["input/tex"] } }).then((MathJax) => {
  process.stdout.write(JSON.stringify(formulas.map(([tex, display]) => MathJax.tex2mml(tex, { display }))));
});
