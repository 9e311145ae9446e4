// Confusions of an arm, and the cases that one of two arms does better.

const MOST_CONFUSIONS = 60;
const MOST_FLIPS = 500;

function fillSelect(select, options, chosen = "") {
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
  select.value = String(chosen);
}

const armOptions = () => DATA.arms.map((text, number) => [number, text]);

function startConfusions() {
  const select = document.getElementById("confusion-arm");
  fillSelect(select, [["", "all arms"], ...armOptions()]);
  select.addEventListener("change", showConfusions);
  showConfusions();
}

function showConfusions() {
  const arm = document.getElementById("confusion-arm").value;
  const counts = new Map();
  for (let place = 0; place < trials.number.length; place += 1) {
    if (arm !== "" && trials.arm[place] !== Number(arm)) continue;
    for (const [wanted, called] of confusions(place)) {
      const key = `${wanted} ${called}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const found = [...counts].sort((one, two) => two[1] - one[1]);
  const most = found.length ? found[0][1] : 1;
  const rows = found.slice(0, MOST_CONFUSIONS).map(([key, times]) => {
    const [wanted, called] = key.split(" ").map(Number);
    const show = el("button", { type: "button", class: "plain link", onclick: () => browse({ only: confusedAs(wanted, called), arm }) }, count(times));
    show.setAttribute("aria-label", `${plural(times, "trial")}: wanted ${visible(toolName(wanted))}, called ${visible(toolName(called))}. Show them`);
    return el("tr", {},
      el("td", { class: "name" }, wanted === NONE ? el("i", { class: "muted" }, "nothing") : name(tools[wanted])),
      el("td", { class: "name" }, called === NONE ? el("i", { class: "muted" }, "nothing") : name(tools[called])),
      el("td", {}, show), el("td", { class: "wide" }, bar(times / most)));
  });
  document.querySelector("#confusion-table tbody").replaceChildren(...rows);
  const more = found.length - rows.length;
  document.getElementById("confusion-note").textContent = !found.length ? "None." : more > 0 ? `${plural(more, "rarer pair")} not listed.` : "";
}

function confusedAs(wanted, called) {
  return {
    text: `wanted ${toolName(wanted)}, called ${toolName(called)}`,
    passes: (place) => confusions(place).some(([one, other]) => one === wanted && other === called),
  };
}

function startFlips() {
  const [old, now] = ["flip-old", "flip-new"].map((id) => document.getElementById(id));
  if (!old) return;
  fillSelect(old, armOptions(), DATA.pair[0]);
  fillSelect(now, armOptions(), DATA.pair[1]);
  for (const select of [old, now]) select.addEventListener("change", showFlips);
  document.getElementById("flip-browse").addEventListener("click", () => browse({ from: old.value, to: now.value }));
  showFlips();
}

function showFlips() {
  const [old, now] = ["flip-old", "flip-new"].map((id) => Number(document.getElementById(id).value));
  const found = [...flips(old, now)].sort((one, two) => one[1] - two[1] || one[0] - two[0]);
  const worse = found.filter(([, change]) => change < 0).length;
  const note = document.getElementById("flip-note");
  if (old === now) note.textContent = "Two different arms are needed.";
  else if (!found.length) note.textContent = "No case that both were scored on differs.";
  else note.textContent = `${plural(worse, "case")} worse, ${count(found.length - worse)} better, by the share of scored epochs that were right${found.length > MOST_FLIPS ? `; the first ${count(MOST_FLIPS)} are listed` : ""}.`;
  document.getElementById("flip-browse").disabled = !found.length;
  document.querySelector("#flip-table tbody").replaceChildren(...found.slice(0, MOST_FLIPS).map(([number, change]) => {
    const of = cases[number];
    return el("tr", {},
      el("th", { scope: "row", class: "name" }, name(of.id), el("span", { class: "beside", dir: "auto" }, askedOf(of))),
      el("td", { class: "name change" }, el("span", { "aria-hidden": "true" }, change < 0 ? "▼" : "▲"), document.createTextNode(" "), el("span", { class: "word" }, change < 0 ? "worse" : "better")),
      flippedCell(of, old, change < 0), flippedCell(of, now, change > 0));
  }));
}

// Shows the first epoch that was right, or was not: the one that tells of the flip.
function flippedCell(of, arm, isRight) {
  const own = of.trials.filter((place) => trials.arm[place] === arm);
  const scored = own.filter((place) => sortOf(place) !== "unscored");
  const right = scored.filter((place) => sortOf(place) === "right");
  const shown = scored.find((place) => (sortOf(place) === "right") === isRight);
  const called = trials.called[shown].map((one) => tools[one]).join(", ");
  const missing = wantedIn(shown);
  return el("td", { class: "name" }, el("a", { href: `#trial=${trials.number[shown]}` }, mark(shown)),
    el("span", { class: "beside" }, "called ", name(called || "nothing")),
    missing && el("span", { class: "beside" }, "wanted ", name(missing)),
    own.length > 1 && el("span", { class: "beside" }, `${right.length} of ${scored.length}${scored.length < own.length ? " scored" : ""} epochs right`));
}

const outcomeOf = (place) => DATA.outcomes[trials.outcome[place]][0];

// Tools that were wanted and not called; those that were called at the wrong time were called.
function wantedIn(place) {
  const [missing, surplus] = [trials.missing[place], trials.surplus[place]];
  const lacked = without(missing, surplus);
  const isOrder = outcomeOf(place) === "wrong_tool" && missing.length && !lacked.length && !without(surplus, missing).length;
  return isOrder ? "another order" : lacked.map((one) => tools[one]).join(", ");
}

const LONGEST_ASKED = 90;
const askedOf = (of) => (of.asked.length > LONGEST_ASKED ? `${of.asked.slice(0, LONGEST_ASKED).replace(/\s+\S*$/, "")} …` : of.asked);

// Cases that flipped in a comparison lead to their trials: the one that tells why is opened, the others are a key away.
function linkFlips(table) {
  const arm = table.dataset.arm === undefined ? null : Number(table.dataset.arm);
  const isOfArm = (place) => arm === null || trials.arm[place] === arm;
  const own = [...table.querySelectorAll(".case")].filter((one) => caseByName.has(one.dataset.case));
  const flipped = new Set(own.map((one) => caseByName.get(one.dataset.case)));
  const only = { text: `flipped: ${table.dataset.name}`, passes: (place) => isOfArm(place) && flipped.has(trials.case[place]) };
  for (const one of own) {
    const of = cases[caseByName.get(one.dataset.case)];
    const candidates = of.trials.filter(isOfArm);
    // Where arguments count, the one that tells may be right by names.
    const telling = candidates.find((place) => outcomeOf(place) === one.dataset.outcome)
      ?? candidates.find((place) => sortOf(place) === (one.dataset.change === "worse" ? "wrong" : "right")) ?? candidates[0];
    one.nextElementSibling.append(" · ", el("span", { dir: "auto" }, askedOf(of)));
    if (telling === undefined) continue;
    const link = el("a", { href: `#trial=${trials.number[telling]}`, onclick: () => browse({ only }, false) });
    one.replaceWith(link);
    link.append(...one.childNodes);
  }
}
