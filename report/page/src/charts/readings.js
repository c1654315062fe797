// SPDX-License-Identifier: Apache-2.0
// A figure measured in several readings of its paper: "GBN (another reading)" beside "GBN".

export function readingsOf(curves) {
  const plain = new Set(curves.map(({ label }) => label));
  const of = ({ label }) => {
    const found = /^(.+) \((.+)\)$/.exec(label);
    return found && plain.has(found[1]) ? { base: found[1], reading: found[2] }
      : { base: label, reading: '' };
  };
  const list = [...new Set(curves.map((curve) => of(curve).reading))].filter(Boolean);
  return {
    of,
    bases: [...new Set(curves.map((curve) => of(curve).base))],
    // A control to choose one; `more`: further options.
    controls: (more) => (list.length === 0 ? [] : [{ key: 'reading', label: 'Reading', value: '',
      options: [['', 'as judged'], ...list.map((name) => [name, name]), ...more] }]),
  };
}
