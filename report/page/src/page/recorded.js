// SPDX-License-Identifier: Apache-2.0
// Verdicts that were recorded beside the papers: the number of each verdict for each paper, by the
// claims' sources, and the program's version.
import { h, scroller, table } from './dom.js';

const ALWAYS = ['reproduced', 'in shape', 'not reproduced'];
const OTHERS = ['no data', 'not testable', 'not judged'];
const FROM = { text: 'text', plot: 'plots', memory: 'memory', own: 'own' };

const sum = (verdicts) => verdicts.reduce((all, { count }) => all + count, 0);

// The columns: each verdict, and beside it the one with a question mark.
function columnsOf(papers) {
  const all = papers.flatMap(({ verdicts }) => verdicts);
  return [...ALWAYS, ...OTHERS].flatMap((verdict) => [false, true].map((unsure) =>
    ({ verdict, unsure, name: verdict + (unsure ? '?' : '') })))
    .filter(({ verdict, unsure }) => (ALWAYS.includes(verdict) && !unsure)
      || all.some((one) => one.verdict === verdict && one.unsure === unsure));
}

function rowsOf(name, verdicts, columns) {
  const row = (title, from, those) => [title, from, sum(those), ...columns.map((column) =>
    sum(those.filter(({ verdict, unsure }) =>
      verdict === column.verdict && unsure === column.unsure)))].map(String);
  const sources = Object.keys(FROM).filter((from) =>
    verdicts.some(({ source }) => source === from));
  const rows = sources.map((from, i) => row(i === 0 ? name : '', FROM[from],
    verdicts.filter(({ source }) => source === from)));
  return sources.length > 1 ? [...rows, row('', 'all', verdicts)] : rows;
}

const range = ([least, most]) => (most === 0 ? '\u2013' : least === most ? String(most)
  : `${least} to ${most}`);

export function recordedVerdicts(papers) {
  const columns = columnsOf(papers);
  const rows = papers.flatMap(({ paper, verdicts }) => rowsOf(paper, verdicts, columns));
  if (papers.length > 1)
    rows.push(...rowsOf('together', papers.flatMap(({ verdicts }) => verdicts), columns));
  const origins = papers.flatMap(({ paper, title, seeds, recorded }) =>
    recorded.map(({ claims, commit, date }, i) => [i === 0 ? paper : '', i === 0 ? title : '',
      String(claims), i === 0 ? range(seeds) : '', h('code', {}, commit), date]));
  return h('div', {},
    scroller('Recorded verdicts', table({ columns: ['Paper', { name: 'From', left: true }, 'Claims',
      ...columns.map(({ name }) => name)], rows })),
    h('p', { class: 'caption' }, 'From: the paper\u2019s text, its plots, memory, or this '
      + 'project\u2019s own. ?: the interval reaches into another verdict.'),
    scroller('Which program', table({ columns: ['Paper', { name: 'Title', left: true }, 'Claims',
      'Seeds', { name: 'Commit', left: true }, { name: 'Recorded', left: true }],
    rows: origins })),
    h('p', { class: 'caption' }, 'As they stand in papers/PAPER/results.csv. Commit with +: of a '
      + 'program with changes that were not committed.'));
}
