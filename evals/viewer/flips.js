// Cases that flipped in a comparison lead to their trials: the one that explains the flip is opened, the others follow.

const LONGEST_ASKED = 90;
const askedOf = (of) => (of.asked.length > LONGEST_ASKED ? `${of.asked.slice(0, LONGEST_ASKED).replace(/\s+\S*$/, "")} …` : of.asked);

function linkFlips(table) {
  const arm = table.dataset.arm === undefined ? null : Number(table.dataset.arm);
  const isOfArm = (place) => arm === null || trials.arm[place] === arm;
  const own = [...table.querySelectorAll(".case")].filter((one) => caseByName.has(one.dataset.case));
  const flipped = new Set(own.map((one) => caseByName.get(one.dataset.case)));
  const number = flipTables.push({ text: `flipped: ${table.dataset.name}`, passes: (place) => isOfArm(place) && flipped.has(trials.case[place]) }) - 1;
  for (const one of own) {
    const of = cases[caseByName.get(one.dataset.case)];
    const candidates = of.trials.filter(isOfArm);
    // Where arguments count, the one that explains it may be right by names.
    const telling = candidates.find((place) => outcomeOf(place) === one.dataset.outcome)
      ?? candidates.find((place) => sortOf(place) === (one.dataset.change === "worse" ? "wrong" : "right")) ?? candidates[0];
    one.nextElementSibling.append(" · ", el("span", { dir: "auto" }, askedOf(of)));
    if (telling === undefined) continue;
    const link = el("a", { href: formatAddress({ view: "list", flips: number, trial: trials.number[telling] }) });
    one.replaceWith(link);
    link.append(...one.childNodes);
  }
}
