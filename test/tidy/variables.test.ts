// Each variable is documented for operators: .env.example and src/OPERATIONS.md list all that are
// read, with their defaults.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { parseConfig } from '../../src/config.ts';
import { expectGenerated, withBlock } from '../support/generated.ts';
import { exampleText, NAMES, tableText } from './variables-text.ts';

const command = 'bun run docs:config';

test('.env.example has every variable', () => {
  expectGenerated({ path: '.env.example', text: exampleText(), command });
});

test('the table in src/OPERATIONS.md has every variable', () => {
  const path = 'src/OPERATIONS.md';
  const text = withBlock({ path, name: 'variables', block: tableText() });
  expectGenerated({ path, text, command });
});

test('every variable that is read is documented, and no other', () => {
  const read = new Set<string>();
  const set: Record<string, string> = {
    NODE_ADDRESS: 'node-1:4000',
    NODE_SECRET: 'x'.repeat(32),
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const env = new Proxy(set, {
    get(target, name: string) {
      read.add(name);
      return target[name];
    },
  });
  parseConfig(env);
  expect([...read].toSorted()).toEqual(NAMES.toSorted());
});

test('.env.example with each # taken away changes nothing', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const env = Object.fromEntries(
    [...example.matchAll(/^# ([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(Object.keys(env)).toEqual([...NAMES]);
  // PORT is set: it gives the service's address.
  expect(parseConfig(env)).toEqual({ ...parseConfig({}), isAddressed: true });
});
