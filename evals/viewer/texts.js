// Everything foreign goes in as text, never as HTML; what cannot be seen, or turns text around, is spelled out.

const UNSAFE = /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]/gu;

function spell(character) {
  const code = character.codePointAt(0);
  const hex = (length) => code.toString(16).padStart(length, "0");
  return code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

// On one line; white space is folded.
function visible(text) {
  return String(text).replace(/[\t\r\n ]+/g, " ").replace(UNSAFE, spell);
}

// With its line breaks.
function visibleLines(text) {
  return String(text).replace(/\r\n?/g, "\n").replace(UNSAFE, (one) => (one === "\n" || one === "\t" ? one : spell(one)));
}

// An element with attributes and children; texts among these are made visible, `null` and `false` left out.
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined && one !== false && one !== "")
    .map((one) => (one instanceof Node ? one : visible(one))));
  return made;
}

// A name from elsewhere, which must not turn around what stands beside it, and is broken after separators.
const BREAKS = /(?<=[/:_=])(?![/:_=]|$)|(?<=[a-z])(?=[A-Z])/;
const name = (text) => el("bdi", {}, text === "" ? "–" : text.split(BREAKS).flatMap((part, at) => (at ? [el("wbr"), part] : [part])));

const NUMBER = new Intl.NumberFormat("en-US");
const count = (value) => NUMBER.format(value);
const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
const known = (value, show) => (value === null || value === undefined ? "–" : show(value));
const tokens = (value) => known(value, count);
const words = (text) => text.replaceAll("_", " ");

function seconds(value) {
  return known(value, (time) => {
    if (time >= 0.9995) return `${time.toFixed(1)} s`;
    return time * 1000 < 9.95 ? `${(time * 1000).toFixed(1)} ms` : `${(time * 1000).toFixed(0)} ms`;
  });
}

function dollars(value) {
  return known(value, (usd) => {
    if (usd === 0) return "$0";
    return `$${usd.toFixed(Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(usd))))))}`;
  });
}

const MARKS = { right: "✓", near: "≈", wrong: "✕", unscored: "–" };

const outcomeOf = (place) => DATA.outcomes[trials.outcome[place]][0];

// `right`, `near` where arguments alone are wrong, `wrong` or `unscored`.
function signOf(place) {
  const sort = sortOf(place);
  return sort === "right" && outcomeOf(place) !== "correct" ? "near" : sort;
}

// What became of a trial, as a sign and in words.
function mark(place) {
  return el("span", { class: `mark ${sortOf(place)}` }, el("span", { "aria-hidden": "true" }, MARKS[signOf(place)]), document.createTextNode(" "), words(outcomeOf(place)));
}
