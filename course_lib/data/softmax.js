// What has a score of minus infinity gets no weight; if all have it, none gets any.
function softmax(scores) {
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => (score === -Infinity ? 0 : Math.exp(score - most)));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / (total || 1));
}
