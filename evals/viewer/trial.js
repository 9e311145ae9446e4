// One trial, opened: why it was scored so, and everything that was said.

const dialog = document.getElementById("trial");
const gone = document.getElementById("gone"); // what is said of a link to a trial that is not there
const trialBody = document.getElementById("trial-body");
const MOST_UNFOLDED = 8;
const MOST_REQUESTS = 50;
let opened = null; // the place of the trial that is open

const ENDINGS = {
  no_call: "It ended when the model called nothing more.",
  steps: "It ended when as many selections were made as a right answer takes.",
  request_limit: "It ended at the limit of requests.",
  refused: "It ended when the model, or its provider, refused.",
  context_overflow: "It ended because the prompt was longer than the model's context.",
  too_many_tools: "It ended because the next request would have held more tools than the model takes.",
  error: "It ended because no answer came.",
};

function startTrial() {
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); closeTrial(); });
  dialog.addEventListener("close", () => { if (opened !== null) closeTrial(); }); // a browser may not ask first
  field("close").addEventListener("click", closeTrial);
  field("previous").addEventListener("click", () => stepTrial(-1));
  field("next").addEventListener("click", () => stepTrial(1));
  showsAddress(["trial"], showWanted);
}

function showWanted() {
  const wanted = address.trial ?? "";
  const place = /^\d+$/.test(wanted) ? byNumber.get(Number(wanted)) : undefined;
  gone.hidden = !wanted || place !== undefined;
  gone.textContent = gone.hidden ? "" : `This run has no finished trial ${visible(wanted)}.`;
  showGone();
  if (place === undefined) hideTrial();
  else showTrial(place);
}

function showGone() {
  if (!gone.hidden) gone.scrollIntoView({ block: "center" });
}

// Another trial in place of the one that is open, so that Back still closes.
const replaceTrial = (place) => go({ trial: String(trials.number[place]) }, "replace");

function stepTrial(by) {
  const position = shown.indexOf(opened);
  const next = shown[position + by];
  if (position >= 0 && next !== undefined) replaceTrial(next);
}

function closeTrial() {
  if (history.state?.opens) history.back();
  else go({ trial: "" }, "replace");
}

function hideTrial() {
  if (opened === null) return;
  const place = opened;
  opened = null;
  if (dialog.open) dialog.close(); // what had the focus before gets it back, if it is still there
  const has = document.activeElement;
  if (has === null || has === document.body || field("browser").contains(has)) {
    chooseTrial(place);
    focusTrial();
  }
}

async function showTrial(place) {
  opened = place;
  const position = shown.indexOf(place);
  chooseTrial(place);
  document.getElementById("previous").disabled = position <= 0;
  document.getElementById("next").disabled = position < 0 || position === shown.length - 1;
  const of = cases[trials.case[place]];
  const kept = await details(place);
  if (opened !== place) return; // another one was asked for meanwhile
  const epoch = DATA.epochs > 1 ? ` · epoch ${trials.epoch[place] + 1}` : "";
  document.getElementById("trial-eyebrow").replaceChildren(name(DATA.arms[trials.arm[place]]), visible(` · ${of.kind}${epoch} · trial ${trials.number[place]}`));
  document.getElementById("trial-title").replaceChildren(name(of.id));
  trialBody.replaceChildren(...why(place, kept), ...siblings(place, of), ...figures(kept.trial), ...conversation(kept), ...answers(kept.of));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  document.getElementById("trial-title").focus({ preventScroll: true });
}

function why(place, { trial }) {
  const reach = !isCovered(place) ? "No right answer could be reached with this toolset, so it is not right whatever was called."
    : isSurfaced(place) ? "A right answer was offered." : "A right answer could be reached, but was never offered in full.";
  const dispatch = trial.would_dispatch ? " Only known tools were called that had not been offered; a dispatcher that asks for no more than a tool's existence would have run them." : "";
  return [el("div", { class: `why-box ${sortOf(place)}` },
    el("p", {}, mark(place), recordedBadge(trial), sharedBadge(trial)),
    trial.reason && el("p", { dir: "auto" }, trial.reason),
    el("p", { class: "muted" }, reach + dispatch),
    listed("Called", trial.called, "nothing"), listed("Wanted, not called", trial.missing), listed("Called, not wanted", trial.surplus),
    el("p", { class: "muted" }, ENDINGS[trial.ending] ?? words(trial.ending)))];
}

// Says of a trial that its responses, or some of them, were reused and not asked by this run.
function recordedBadge({ requests }) {
  const reused = requests.filter((request) => request.recorded).length;
  if (!reused) return null;
  const text = reused === requests.length ? plural(reused, "recorded response") : `${count(reused)} of ${plural(requests.length, "response")} recorded`;
  return el("span", { class: "badge recorded" }, text);
}

// Says of a trial that it sends the same requests as another arm's, which asked for both.
function sharedBadge({ same_as: asked }) {
  if (asked === null) return null;
  const place = byNumber.get(asked);
  const arm = place === undefined ? `trial ${asked}` : DATA.arms[trials.arm[place]];
  return el("span", { class: "badge recorded" }, "same requests as ", name(arm), ", asked once");
}

function listed(label, names, none = null) {
  if (!names.length && none === null) return null;
  const parts = names.length ? names.flatMap((one, at) => [at ? ", " : " ", el("code", {}, name(one))]) : [` ${none}`];
  return el("p", {}, el("b", {}, label), ...parts.map((one) => (typeof one === "string" ? document.createTextNode(one) : one)));
}

function siblings(place, of) {
  if (of.trials.length < 2) return [];
  const links = of.trials.map((other) => el("li", {}, el("a", {
    href: addressWith({ trial: trials.number[other] }), "aria-current": other === place ? "true" : null,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      replaceTrial(other);
    },
  }, name(DATA.arms[trials.arm[other]] + (DATA.epochs > 1 ? ` · ${trials.epoch[other] + 1}` : "")), document.createTextNode(" "), mark(other))));
  const right = of.trials.filter((other) => sortOf(other) === "right").length;
  const near = of.trials.filter((other) => signOf(other) === "near").length;
  const solved = near ? `, ${count(right - near)} with right arguments` : "";
  return [el("details", { class: "alike", open: links.length <= MOST_UNFOLDED }, el("summary", {}, el("h3", {}, "The same case in every arm"),
    el("span", { class: "muted" }, ` ${count(right)} of ${plural(links.length, "trial")} called the right tools${solved}`)), el("ul", { class: "others" }, links))];
}

function figures({ figures: of }) {
  const own = of.prompt_tokens === null;
  const rows = [
    ["requests", count(of.requests)], ["asked again", of.retries ? count(of.retries) : null],
    ["definitions, first request", tokens(of.definition_tokens)], ["definitions, all requests", tokens(of.definition_tokens_total)],
    [own ? "prompt tokens, estimated" : "prompt tokens, as reported", tokens(own ? of.own_prompt_tokens : of.prompt_tokens)],
    ["completion tokens", tokens(of.completion_tokens)],
    ["of them reasoning", of.reasoning_tokens === null ? null : tokens(of.reasoning_tokens)],
    ["read from cache", of.cached_read_tokens === null ? null : tokens(of.cached_read_tokens)],
    ["written to cache", of.cached_write_tokens === null ? null : tokens(of.cached_write_tokens)],
    ["invalidated prefix", of.invalidated_tokens ? tokens(of.invalidated_tokens) : null],
    ["latency", seconds(of.latency_seconds)], ["cost", dollars(of.cost_usd)],
  ].filter(([, value]) => value !== null);
  return [el("h3", {}, "Figures"), el("dl", { class: "facts small" }, rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value))))];
}

function conversation(kept) {
  const { trial, of } = kept;
  const parts = [el("h3", {}, "Conversation")];
  if (!of.is_kept) parts.push(el("p", { class: "note" }, "What was asked is not kept in the file of runs."));
  parts.push(...of.messages.map((message) => said(message.role, message.text, message.calls)));
  parts.push(...exchanges(kept, 0));
  if (trial.requests.some((request) => request.calls.length)) {
    parts.push(el("p", { class: "note" }, "No tool is run in an eval: a call is answered with the result that the case brings along, or with an acknowledgement; those of the toolset's own tools by the toolset. These answers are not kept, so they are not shown; what they changed in the tools offered is."));
  }
  return parts;
}

// Requests and replies from one on, as many as are drawn at once; a button brings the next.
function exchanges(kept, from) {
  const { requests } = kept.trial;
  const to = Math.min(requests.length, from + MOST_REQUESTS);
  const parts = [];
  for (let at = from; at < to; at += 1) {
    const request = requests[at];
    const isNewTurn = at > 0 && request.turn !== requests[at - 1].turn;
    parts.push(asking(request, isNewTurn), offer(request, offeredAt(kept, at), offeredBefore(kept, at)), reply(request));
    if (request.follow_up) parts.push(said("user", request.follow_up, []));
  }
  if (to < requests.length) {
    const next = el("button", { type: "button", class: "next" }, `Show the next of ${plural(requests.length - to, "more request")}`);
    next.addEventListener("click", () => {
      const more = exchanges(kept, to);
      next.replaceWith(...more);
      more[0].tabIndex = -1;
      more[0].focus();
    });
    parts.push(next);
  }
  return parts;
}

// Names of the tools offered at a request; `null` where they are not kept.
function offeredAt({ trial, names, offers }, at) {
  const number = trial.requests[at].offer;
  return number === null ? null : offers[number].map((one) => names[one]);
}

function offeredBefore(kept, at) {
  for (let before = at - 1; before >= 0; before -= 1) {
    const offered = offeredAt(kept, before);
    if (offered !== null) return offered;
  }
  return null;
}

function asking(request, isNewTurn) {
  const reported = request.prompt_tokens === null ? null : `${tokens(request.prompt_tokens)} prompt tokens`;
  const cached = request.cached_read_tokens ? `${tokens(request.cached_read_tokens)} of them cached` : null;
  const facts = [`${plural(request.tools, "tool")} offered, ${tokens(request.definition_tokens)} tokens`, reported, cached,
    request.completion_tokens === null ? null : `${tokens(request.completion_tokens)} completion tokens`,
    seconds(request.latency_seconds), request.cost_usd === null ? null : dollars(request.cost_usd), request.served_by && `by ${request.served_by}`,
    request.recorded && `recorded ${request.recorded.slice(0, 10)}, not asked by this run`];
  return el("p", { class: "ask" },
    el("b", {}, `Request ${request.request + 1}${request.attempt ? `, attempt ${request.attempt + 1}` : ""}${isNewTurn ? ` (turn ${request.turn})` : ""}`),
    facts.filter(Boolean).map((fact) => el("span", {}, fact)));
}

function offer(request, offered, before) {
  if (offered === null) return el("p", { class: "offer muted" }, "The list of tools is not kept.");
  const was = new Set(before ?? []);
  const is = new Set(offered);
  const added = before === null ? [] : offered.filter((one) => !was.has(one));
  const gone = before === null ? [] : before.filter((one) => !is.has(one));
  const isMoved = before !== null && !added.length && !gone.length && offered.some((one, at) => one !== before[at]);
  const change = before === null ? "" : added.length || gone.length ? ` · ${count(added.length)} added, ${count(gone.length)} gone since the request before` : isMoved ? " · the same, in another order" : " · as before";
  const fold = el("details", { class: "offer" }, el("summary", {}, `Tools offered${change}`));
  // The list may be long: made when it is first looked at.
  fold.addEventListener("toggle", () => {
    if (fold.childElementCount > 1) return;
    fold.append(el("ul", {},
      gone.map((one) => el("li", { class: "minus" }, "− ", name(one))),
      offered.map((one) => el("li", was.has(one) || before === null ? {} : { class: "plus" }, before !== null && !was.has(one) && "+ ", name(one)))));
    if (!offered.length) fold.append(el("p", {}, "None."));
  });
  return fold;
}

function reply(request) {
  if (request.failure !== null) {
    return el("div", { class: "said" }, el("p", { class: "who" }, "no answer"), el("p", { class: "failed text" }, `${words(request.failure)}${request.message && `: ${request.message}`}`));
  }
  return said("assistant", request.text, request.calls, request.finish_reason);
}

function said(role, text, calls, finish = "") {
  return el("div", { class: `said ${role === "user" ? "user" : ""}` },
    el("p", { class: "who" }, role + (finish ? ` · ${words(finish)}` : "")),
    text && el("p", { class: "text", dir: "auto" }, document.createTextNode(visibleLines(text))),
    calls.map(([called, written]) => el("div", { class: "call" }, "calls ", el("code", {}, name(called)), el("pre", { dir: "ltr", tabindex: 0 }, document.createTextNode(visibleLines(pretty(written)))))),
    !text && !calls.length && el("p", { class: "muted" }, "Nothing."));
}

// Arguments with line breaks where that changes nothing, else as they were written.
function pretty(written) {
  try {
    const read = JSON.parse(written);
    return JSON.stringify(read) === written.replace(/("(?:\\.|[^"\\])*")|\s+/g, "$1") ? JSON.stringify(read, null, 2) : written;
  } catch {
    return written || "(nothing)";
  }
}

const MATCHES = {
  superset: "Further calls are permitted.",
  ordered: "In this order.",
  in_order: "In this order; further calls are permitted.",
  starts_with: "First these, in this order; further calls may follow.",
};

function answers(of) {
  if (!of.is_kept) return [];
  const parts = [el("h3", {}, "Right answers")];
  if (of.answers === null) parts.push(el("p", {}, "Any call will do."));
  else {
    of.answers.forEach((answer, at) => {
      parts.push(el("div", { class: "answer" }, at > 0 && el("p", { class: "muted" }, "or"),
        answer.length ? answer.map(expected) : el("p", {}, "No call at all.")));
    });
  }
  if (of.match !== "exact") parts.push(el("p", { class: "muted" }, MATCHES[of.match]));
  parts.push(listed("May be called, too", of.allowed_extra), listed("Must not be called", of.forbidden));
  if (of.role) parts.push(el("p", { class: "muted" }, "Role: ", name(of.role)));
  return parts.filter(Boolean);
}

function expected(call) {
  return el("div", {},
    el("p", {}, call.tools.flatMap((tool, at) => [at > 0 && document.createTextNode(" or "), el("code", {}, name(tool))])),
    call.args === null ? el("p", { class: "muted" }, "with any arguments") : el("dl", { class: "facts small" }, call.args.map(([key, values]) =>
      el("div", {}, el("dt", {}, name(key), call.optional.includes(key) && " (may be left out)"), el("dd", {}, el("code", {}, document.createTextNode(values.map(visibleLines).join("  or  "))))))));
}
