// SPDX-License-Identifier: Apache-2.0
// Labels that distinguish the runs of a document.
const MOST = 3; // parameters in a label

const folder = (run) => (run.file.includes('/') ? run.file.replace(/\/[^/]*$/, '') : '');
const isRepeat = (run) => /(^|\/)repeat\/[^/]*$/.test(run.file); // as oche run calls its folder
const depth = (run) => run.file.split('/').length;
const wordOf = (key) => key.replace(/\.name$/, '');

// The parameters, set in at least one of the runs, whose values differ: [key, value of each run].
function differing(runs) {
  const tables = runs.map(({ parameters }) => new Map((parameters ?? []).map((row) => [row[0],
    row])));
  return [...tables[0].keys()].filter((key) => key !== 'name' && key !== 'description'
    && tables.every((table) => table.has(key)) && tables.some((table) => table.get(key)[3])
    && new Set(tables.map((table) => table.get(key)[1])).size > 1)
    .map((key) => [wordOf(key), tables.map((table) => table.get(key)[1])]);
}

// "switch.kmin=10KB, seed=7" for each run. Beside a run without overrides, only the differences
// from it.
function differences(runs) {
  const keys = differing(runs);
  if (new Set(runs.map(({ info }) => info.program)).size > 1)
    keys.push(['version', runs.map(({ info }) => info.program)]);
  const plain = runs[0].overrides?.length === 0;
  return runs.map((_, i) => {
    const own = keys.filter(([, values]) => !plain || values[i] !== values[0]);
    const pairs = own.slice(0, MOST).map(([key, values]) => `${key}=${values[i]}`);
    return keys.length > 0 && own.length === 0 ? 'as it is'
      : [...pairs, ...(own.length > MOST ? ['\u2026'] : [])].join(', ');
  });
}

// The displayed name of a scheme. Without congestion control it is PFC alone, or nothing. `pfc`:
// the value of switch.pfc, if it is known.
export const schemeName = (name, pfc) => (name !== 'none' ? name
  : pfc === 'true' ? 'PFC alone' : 'no congestion control');

// Returns the value of switch.pfc of a run or a sweep.
export const pfcOf = ({ parameters }) => parameters?.find(([key]) => key === 'switch.pfc')?.[1];

export const schemeOf = (run) => schemeName(run.info.congestion_control, pfcOf(run));

// The parts of "{name: dcqcn, g: 1/16}": its name and "g=1/16"; null for any other value.
function partsOf(value) {
  const [, name, rest] = /^\{name: ([^,{}]+)(?:, (.*))?\}$/.exec(value) ?? [];
  return name ? { name, rest: (rest ?? '').replaceAll(': ', '=') } : null;
}

// The value that was compared: the run's last override, because the label may be cut.
function comparedValue({ info: { label, compared }, overrides }) {
  const last = overrides?.at(-1) ?? '';
  return compared && last.startsWith(`${compared}=`) ? last.slice(compared.length + 1) : label;
}

// "true" and "7" mean nothing without their key, but the name of a scheme does. `brief`: without
// its parameters.
function withKey(run, brief) {
  const { label, compared } = run.info;
  if (!label || !compared)
    return label;
  const value = comparedValue(run), parts = partsOf(value);
  const name = parts?.name ?? value, rest = !brief && parts?.rest ? ` (${parts.rest})` : '';
  if (wordOf(compared) === 'congestion_control')
    return schemeName(name, pfcOf(run)) + rest;
  return `${wordOf(compared)}=${name}${rest}`;
}

const areOthers = (names) => names.every(Boolean) && new Set(names).size === names.length;

// The compared value; else the parameters that differ, else the folder, else the scenario.
export function nameRuns(runs) {
  // Runs of one comparison in the order of the command; others with the fewest overrides first.
  if (runs.every(({ info }) => info.variant && info.command === runs[0].info.command))
    runs.sort((a, b) => Number(a.info.variant) - Number(b.info.variant));
  else if (runs.every(({ overrides }) => overrides))
    runs.sort((a, b) => a.overrides.length - b.overrides.length || depth(a) - depth(b));
  const [brief, whole] = [true, false].map((cut) => runs.map((run) => withKey(run, cut)));
  const told = areOthers(brief) ? brief : areOthers(whole) ? whole : differences(runs);
  const names = runs.map((run, i) => (told[i] || withKey(run, false) || folder(run)
    || run.info.scenario || 'run') + (isRepeat(run) && told[i] ? ' (repeat)' : ''));
  runs.forEach((run, i) => {
    run.label = names.filter((name) => name === names[i]).length > 1
      ? `${names[i]} (${folder(run) || 'here'})` : names[i];
  });
}

// The name of a document of runs.
export function runsTitle({ scenario, compared, overrides }) {
  const key = compared ? `: ${wordOf(compared)}` : '';
  return `${scenario || 'Run'}${key}${overrides ? ` (${overrides})` : ''}`;
}
