// Each command of the page is one that the program takes.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parse } from '../../src/cli/parse.ts';

const PAGE = readFileSync(join(import.meta.dir, '../../src/cli/README.md'), 'utf8');
const BLOCK = /^```sh\n([^`]*)^```/gm;
const CALL = /(?:^|\||\()\s*tollhouse ([^|)\n]*)/gm;

const calls = [...PAGE.matchAll(BLOCK)].flatMap(([, block = '']) =>
  [...block.matchAll(CALL)].map(([, call = '']) => call.trim()),
);

test.each(calls)('the README runs tollhouse %s', (call) => {
  expect(parse(COMMANDS, call.split(' ')).kind).toBe('command');
});

test('each command is on the page of the README', () => {
  const named = calls.map((call) => parse(COMMANDS, call.split(' ')));
  const names = new Set(named.map((one) => (one.kind === 'command' ? one.name : '')));
  expect([...names].toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
});
