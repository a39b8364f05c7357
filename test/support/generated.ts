// Committed files that are generated from a source, so that they can be read without running
// anything. A test generates the text again and compares. With WRITE=1 it writes the file instead.
import { expect } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** @throws where the committed file differs; `command` writes it */
export function expectGenerated(options: { path: string; text: string; command: string }): void {
  const { path, text, command } = options;
  const file = join(ROOT, path);
  if (process.env['WRITE'] === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8'), `${path} is out of date: run \`${command}\``).toBe(text);
}

/** The text of a file, with the part between the marks `name` and `end of name` replaced. */
export function withBlock(options: { path: string; name: string; block: string }): string {
  const { path, name, block } = options;
  const text = readFileSync(join(ROOT, path), 'utf8');
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->\n`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${path} lacks the marks of ${name}`);
  return text.slice(0, from + begin.length) + block + text.slice(to);
}
