// SPDX-License-Identifier: Apache-2.0
// Labels that tell the runs of a document apart.
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

// "switch.kmin=10KB, seed=7" for each run; beside one without overrides only what it does not have.
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

// "true" and "7" say nothing without their key; the name of a scheme does.
const withKey = ({ label, compared }) => (label && compared
  && wordOf(compared) !== 'congestion_control' ? `${wordOf(compared)}=${label}` : label);

// What was compared, else the parameters that differ, else the folder, else the scenario.
export function nameRuns(runs) {
  // Those of one comparison in the order of the command; others with what is least changed first.
  if (runs.every(({ info }) => info.variant && info.command === runs[0].info.command))
    runs.sort((a, b) => Number(a.info.variant) - Number(b.info.variant));
  else if (runs.every(({ overrides }) => overrides))
    runs.sort((a, b) => a.overrides.length - b.overrides.length || depth(a) - depth(b));
  const labels = runs.map(({ info }) => withKey(info));
  const told = labels.every(Boolean) && new Set(labels).size === labels.length
    ? labels : differences(runs);
  const names = runs.map((run, i) => (told[i] || withKey(run.info) || folder(run)
    || run.info.scenario || 'run') + (isRepeat(run) && told[i] ? ' (repeat)' : ''));
  runs.forEach((run, i) => {
    run.label = names.filter((name) => name === names[i]).length > 1
      ? `${names[i]} (${folder(run) || 'here'})` : names[i];
  });
}

// What a document of runs is called.
export function runsTitle({ scenario, compared, overrides }) {
  const key = compared ? `: ${wordOf(compared)}` : '';
  return `${scenario || 'Run'}${key}${overrides ? ` (${overrides})` : ''}`;
}
