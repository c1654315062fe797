// SPDX-License-Identifier: Apache-2.0
// The width of a text in the page's fonts, where there is no canvas to measure on. Widths are those
// of DejaVu Sans, the widest of the usual ones, so labels are never cut.

const WIDTHS = [ // of an em
  ['ijlI\u202f\u2009|\'.,:;!', 0.33], ['ft()[]{}/-"r ', 0.43], ['cksvxyzJL–−', 0.61],
  ['mw', 0.98], ['MW%', 1], ['ABCDEFGHKNOPQRSTUVXYZ+=<>~#', 0.79],
];
const OTHERS = 0.64; // lower case and digits

const known = new Map(WIDTHS.flatMap(([letters, width]) =>
  [...letters].map((letter) => [letter, width])));

export function textWidth(text, size) {
  let sum = 0;
  for (const letter of String(text))
    sum += known.get(letter) ?? (letter.codePointAt(0) > 0x2000 ? 1 : OTHERS);
  return Math.ceil(sum * size);
}

// The lines of a text that is broken between words at `room` pixels. A wider word is broken, too.
export function linesOf(text, size, room) {
  let lines = 1, used = 0;
  for (const word of String(text).split(' ')) {
    const wide = textWidth(word, size), gap = used > 0 ? textWidth(' ', size) : 0;
    if (used > 0 && used + gap + wide > room) {
      lines++;
      used = 0;
    }
    used += (used > 0 ? gap : 0) + wide;
    while (used > room) {
      lines++;
      used -= room;
    }
  }
  return lines;
}
