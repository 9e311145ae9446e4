// The trials: an index of all of them, column by column, and the details of each, unpacked a block at a time.

const DATA = JSON.parse(document.getElementById("data").textContent);
const KEPT_BLOCKS = 6;
const cases = []; // { id, kind, asked, wanted, hay, trials }
const tools = []; // names by number
const kinds = [];
const trials = {
  number: [], arm: [], epoch: [], case: [], outcome: [], flags: [], called: [], missing: [], surplus: [],
  definitions: [], tokens: [], requests: [], latency: [], cost: [], block: [], at: [],
};
const byNumber = new Map();
const caseByName = new Map();
const blocks = new Map(); // those unpacked last

async function unpack(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function loadIndex() {
  const elements = [...document.querySelectorAll("script.index")];
  const parts = await Promise.all(elements.map((element) => unpack(element.textContent)));
  const numbers = new Map();
  parts.forEach((part, block) => addPart(part, block, numbers));
  kinds.push(...new Set(cases.map((one) => one.kind)));
  kinds.sort();
}

function addPart(part, block, numbers) {
  const tool = part.tools.map((text) => {
    if (!numbers.has(text)) numbers.set(text, tools.push(text) - 1);
    return numbers.get(text);
  });
  const own = part.cases.map(([id, kind, , asked, wanted]) => {
    if (!caseByName.has(id)) {
      caseByName.set(id, cases.length);
      cases.push({ id, kind, asked, wanted: wanted.map((one) => tool[one]), hay: null, trials: [] });
    }
    return caseByName.get(id);
  });
  part.trial.forEach((number, at) => {
    const place = trials.number.push(number) - 1;
    byNumber.set(number, place);
    trials.case.push(own[part.case[at]]);
    cases[own[part.case[at]]].trials.push(place);
    for (const key of ["called", "missing", "surplus"]) trials[key].push(part[key][at].map((one) => tool[one]));
    for (const key of ["arm", "epoch", "outcome", "flags", "definitions", "tokens", "requests", "latency", "cost"]) {
      trials[key].push(part[key][at]);
    }
    trials.block.push(block);
    trials.at.push(at);
  });
}

// What is shown of one trial: { trial, of, names, offers }.
async function details(place) {
  const block = trials.block[place];
  if (!blocks.has(block)) {
    blocks.set(block, unpack(document.querySelectorAll("script.details")[block].textContent).then((kept) => {
      kept.offers = kept.offers.map((steps) => { let at = 0; return steps.map((step) => (at += step)); });
      return kept;
    }));
    if (blocks.size > KEPT_BLOCKS) blocks.delete(blocks.keys().next().value);
  }
  const kept = await blocks.get(block);
  const at = trials.at[place];
  return { trial: kept.trials[at], of: kept.cases[kept.case[at]], names: kept.names, offers: kept.offers };
}

const isCovered = (place) => (trials.flags[place] & 1) !== 0;
const isSurfaced = (place) => (trials.flags[place] & 2) !== 0;
const isOwnCount = (place) => (trials.flags[place] & 4) !== 0;

// `right`, `wrong` or `unscored`; what could not be reached is never right.
function sortOf(place) {
  const sort = DATA.outcomes[trials.outcome[place]][1];
  return sort === "right" && !isCovered(place) ? "wrong" : sort;
}

// Arms of one run are compared by what is right of all asked (rule V1): what was too long for the model is not right.
const isAsked = (place) => sortOf(place) !== "unscored" || outcomeOf(place) === "context_overflow";

// Share of a case's epochs in an arm that were right, of those asked; `null` where there is none but errors.
function rightShare(of, arm) {
  const asked = of.trials.filter((place) => trials.arm[place] === arm && isAsked(place));
  return asked.length ? asked.filter((place) => sortOf(place) === "right").length / asked.length : null;
}

// By number of the case, how much better the new arm does it; those alike, or not asked in both, left out.
function flips(old, now) {
  const found = new Map();
  if (old === now) return found;
  cases.forEach((of, number) => {
    const before = rightShare(of, old);
    const after = rightShare(of, now);
    if (before !== null && after !== null && before !== after) found.set(number, after - before);
  });
  return found;
}

const NONE = -1;

function without(numbers, others) {
  const left = [...others];
  return numbers.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

// What was wanted and what was called for it, -1 for nothing, by the rule of `toolbelt eval compare`: where as many
// calls are missing as are too many, each is taken for the one in its place; else any may stand for any.
function confusions(place) {
  if (sortOf(place) !== "wrong") return [];
  const missing = without(trials.missing[place], trials.surplus[place]);
  const surplus = without(trials.surplus[place], trials.missing[place]);
  const pairs = missing.length === surplus.length
    ? missing.map((wanted, at) => [wanted, surplus[at]])
    : (missing.length ? missing : [NONE]).flatMap((wanted) => (surplus.length ? surplus : [NONE]).map((called) => [wanted, called]));
  return [...new Map(pairs.map((pair) => [pair.join(" "), pair])).values()];
}

const toolName = (number) => (number === NONE ? "nothing" : tools[number]);
