// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one HTML file and the SVG script into one module.
//   node build.mjs OUTDIR DEPFILE
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [outdir, depfile] = process.argv.slice(2);

async function bundle(entry, options) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'warning',
    legalComments: 'eof',
    define: { 'process.env.NODE_ENV': '"production"' },
    ...options,
  });
  return { text: result.outputFiles[0].text, inputs: Object.keys(result.metafile.inputs) };
}

// `with` may contain any characters, so no patterns are used.
function put(text, mark, value) {
  const at = text.indexOf(mark);
  if (at < 0)
    throw new Error(`page.html: no ${mark}`);
  return text.slice(0, at) + value + text.slice(at + mark.length);
}

const page = await bundle('src/page/main.js', { format: 'iife', target: 'es2020' });
const style = await bundle('src/page/page.css', {});
const svg = await bundle('src/svg.js', { format: 'esm', platform: 'node', target: 'node18' });

let html = readFileSync(join(here, 'src/page/page.html'), 'utf8');
html = put(html, '/*STYLE*/', style.text.trim());
html = put(html, '/*SCRIPT*/', page.text.trim());
writeFileSync(join(outdir, 'report.html'), html);
writeFileSync(join(outdir, 'report-svg.mjs'), svg.text);

const own = [...page.inputs, ...style.inputs, ...svg.inputs, 'build.mjs', 'package-lock.json',
  'src/page/page.html'].filter((path) => !path.startsWith('node_modules'));
const from = (path) => relative(process.cwd(), resolve(here, path)).replaceAll(' ', '\\ ');
const target = relative(process.cwd(), join(resolve(outdir), 'report.html'));
writeFileSync(depfile, `${target}: ${[...new Set(own)].map(from).join(' ')}\n`);
