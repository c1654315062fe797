// SPDX-License-Identifier: Apache-2.0
// Verdicts as they are shown: each has a word, a sign and a colour; each of them alone is enough.
import { h } from './dom.js';

export const VERDICTS = {
  reproduced: { sign: '✓', name: 'reproduced', kind: 'good' },
  'in shape': { sign: '≈', name: 'in shape', kind: 'fair' },
  'not reproduced': { sign: '✕', name: 'not reproduced', kind: 'bad' },
  'no data': { sign: '–', name: 'no data', kind: 'none' },
  'not testable': { sign: '○', name: 'not testable', kind: 'none' },
  'not judged': { sign: '○', name: 'not judged', kind: 'none' },
};

// Of statements; the others are as those of claims.
const STATEMENTS = {
  holds: { sign: '✓', name: 'holds', kind: 'good' },
  'does not hold': { sign: '✕', name: 'does not hold', kind: 'bad' },
  'not measured': { sign: '–', name: 'not measured', kind: 'none' },
};

export const verdictOf = ({ verdict }) => VERDICTS[verdict] ?? STATEMENTS[verdict]
  ?? { sign: '?', name: verdict || 'no verdict', kind: 'none' };

export const UNSURE = 'The interval reaches into another verdict, so more seeds may change it.';

export function chip(verdict, unsure) {
  return h('span', { class: `verdict ${verdict.kind}`,
    title: unsure ? UNSURE : null },
  h('span', { class: 'sign', 'aria-hidden': 'true' }, verdict.sign),
  verdict.name + (unsure ? '?' : ''));
}
