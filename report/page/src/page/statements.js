// SPDX-License-Identifier: Apache-2.0
// What papers say in the main: how many of their statements hold, then each one with its verdicts,
// as they were recorded beside the papers.
import { fold } from './details.js';
import { h, scroller, table } from './dom.js';
import { chip, verdictOf } from './verdict.js';

const COUNTS = [['hold', 'hold'], ['in_shape', 'in shape'], ['do_not_hold', 'do not hold'],
  ['not_measured', 'not measured'], ['not_judged', 'not judged']];

const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

// A row of counts. A reading under which nothing was measured has none.
function countsRow(name, counts, measured = true) {
  if (!measured)
    return [`${name} (not measured)`, ...COUNTS.map(() => '–'), '–', '–'];
  return [name, ...COUNTS.map(([key]) => String(counts[key])), counts.judged > 0
    ? `${counts.hold_or_in_shape} of ${counts.judged}` : '–', String(sum(counts.from_memory))];
}

function countsOf({ paper, counts }) {
  const { declared, best } = counts;
  const isDeclared = best && declared.some(({ reading }) => reading === best.reading);
  return [countsRow(paper, counts.as_judged),
    ...declared.map((one) => countsRow(`declared: ${one.reading}`, one, one.measured)),
    ...(best && !isDeclared ? [countsRow(`best reading: ${best.reading}`, best)] : [])];
}

// The claims that decide a statement.
const deciding = ({ decided_by: claims }) => h('span', { class: 'claim-about' }, 'by ',
  claims.map(({ claim, verdict, unsure }, i) =>
    `${i > 0 ? ', ' : ''}${claim} (${verdict ?? 'not measured'}${unsure ? '?' : ''})`));

function statementTable({ paper, statements, counts }) {
  const readings = counts.declared.map(({ reading }) => reading);
  const about = ({ place, published, source }) => [place, `published: ${published}`,
    source === 'memory' && 'from memory'].filter(Boolean).join(' · ');
  return scroller(`Statements of ${paper}`, h('table', { class: 'words statements' },
    h('thead', {}, h('tr', {}, ['Statement', 'Verdict', ...readings].map((name) =>
      h('th', { scope: 'col' }, name)))),
    h('tbody', {}, statements.map((statement) => h('tr', {},
      h('th', { scope: 'row' },
        h('span', { class: 'claim-text' }, statement.text),
        h('span', { class: 'claim-about' }, about(statement)),
        deciding(statement),
        statement.verdict !== 'holds' && statement.explanation
          && h('span', { class: 'explanation' }, statement.explanation)),
      h('td', {}, chip(verdictOf(statement), statement.unsure)),
      statement.declared.map((one) => h('td', {}, one.measured
        ? chip(verdictOf(one), one.unsure) : '–')))))));
}

// `here`: names of the papers whose figures the page shows; the others are folded.
export function recordedStatements(recorded, here) {
  const papers = recorded.filter(({ statements }) => statements.length > 0);
  if (papers.length === 0)
    return null;
  const ordered = [...papers.filter(({ paper }) => here.includes(paper)),
    ...papers.filter(({ paper }) => !here.includes(paper))];
  return h('div', {},
    scroller('Statements', table({ columns: ['Paper', ...COUNTS.map(([, name]) => name),
      'hold or in shape', 'from memory'], rows: ordered.flatMap(countsOf) })),
    h('p', { class: 'caption' }, 'As recorded beside the papers, not of the runs on this page. A '
      + 'statement holds if all claims that decide it are reproduced; one from memory is counted '
      + 'apart.'),
    ordered.map((paper) => fold(`${paper.paper}: ${paper.title}`, statementTable(paper),
      here.includes(paper.paper))));
}
