#!/bin/bash
# promptfoo 0.121.20: five things that its assertions about tools do, and that their names do not suggest.
#
# 1. `trajectory:tool-used: {name: x, max: 0}`, meant to forbid a tool, never passes: `min` is 1 unless it is written.
# 2. `trajectory:tool-args-match` with an argument that equals its own entry in `defaults` fails for the very call that
#    has it: the value is taken from the call before it is compared, and is missing then.
# 3. `{{variables}}` are filled in where a value is a text or a list, and not in an object: `args: {city: '{{city}}'}`
#    is compared with the braces.
# 4. A call of a tool named `shell` (`exec_command`, `local_shell`) that has an argument `command` is no tool step, so
#    `trajectory:tool-used: shell` fails; without that argument it passes.
# 5. `tool-call-f1` compares sets of names in their exact spelling: two calls of one tool are as good as one, and
#    `Get_Weather` is another tool than `get_weather`; for `trajectory:tool-used` it is the same, and `get_*` fits both.
#
# Needs Node 20.20 or 22.22 and npm. Exits 1 if a behaviour differs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$folder/config"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts promptfoo@0.121.20 >/dev/null
cat > check.mjs <<'JS'
import { readFileSync } from 'node:fs';
const { assertions } = await import('promptfoo');
const { version } = JSON.parse(readFileSync('node_modules/promptfoo/package.json', 'utf8'));
const call = (name, args = {}) => ({ name, args });
async function passes(assertion, calls, vars = {}) {
  const spans = calls.map(({ name, args }, at) => ({
    spanId: `s${at}`, name, startTime: at, endTime: at,
    attributes: { 'tool.name': name, 'tool.arguments': JSON.stringify(args) },
  }));
  const output = calls.map(({ name, args }, at) => ({
    id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) },
  }));
  const result = await assertions.runAssertion({
    assertion, test: { vars, assert: [assertion] }, vars, providerResponse: { output },
    traceId: 't', traceData: { traceId: 't', spans },
  });
  return result.pass;
}
const used = (value) => ({ type: 'trajectory:tool-used', value });
const args = (value) => ({ type: 'trajectory:tool-args-match', value });
const rows = [
  ['1 max 0, the tool was not called', used({ name: 'refund', max: 0 }), [call('search')], false],
  ['1 min 0 and max 0, the same', used({ name: 'refund', min: 0, max: 0 }), [call('search')], true],
  ['2 args {unit: C}, the call has unit C', args({ name: 'weather', args: { unit: 'C' } }), [call('weather', { unit: 'C' })], true],
  ['2 the same with defaults {unit: C}', args({ name: 'weather', args: { unit: 'C' }, defaults: { unit: 'C' } }), [call('weather', { unit: 'C' })], false],
  ['3 a variable in a text', used('{{tool}}'), [call('weather')], true],
  ['3 a variable in an object', used({ name: '{{tool}}' }), [call('weather')], false],
  ['3 a variable in args', args({ name: 'weather', args: { city: '{{city}}' } }), [call('weather', { city: 'Oslo' })], false],
  ['4 shell without an argument', used('shell'), [call('shell')], true],
  ['4 shell with the argument command', used('shell'), [call('shell', { command: 'ls' })], false],
  ['5 f1 of [weather], called twice', { type: 'tool-call-f1', value: ['weather'] }, [call('weather'), call('weather')], true],
  ['5 f1 of [Weather]', { type: 'tool-call-f1', value: ['Weather'] }, [call('weather')], false],
  ['5 tool-used: Weather', used('Weather'), [call('weather')], true],
  ['5 tool-used: WEA*', used('WEA*'), [call('weather')], true],
];
console.log(`promptfoo ${version}`);
let differs = false;
for (const [label, assertion, calls, seen] of rows) {
  const pass = await passes(assertion, calls, { tool: 'weather', city: 'Oslo' });
  console.log(`${label}: ${pass ? 'passes' : 'fails'}${pass === seen ? '' : ', unlike before'}`);
  differs ||= pass !== seen;
}
process.exit(differs ? 1 : 0);
JS
node check.mjs
