// Every metric that an alert uses is one that a node exports.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPlace } from '../support/new-place.ts';
import { startServer } from '../support/server.ts';

const FILE = join(import.meta.dir, '../../src/operations/alerts.yaml');
const NUMBER = /\b(?:tollhouse|process)_\w+/g;

type Rules = {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};

test('the list of what can trigger an alert is exported', async () => {
  const server = await startServer({ node: await newPlace() });
  const { text } = await server.call('GET', '/metrics', { key: null });
  await server.stop();
  const exported = new Set(text.match(/^\w+(?=[{ ])/gm));
  const { groups } = Bun.YAML.parse(readFileSync(FILE, 'utf8')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(20);
  const asked = rules.flatMap(({ alert, expr }) =>
    [...expr.matchAll(NUMBER)].map(([name]) => ({ alert, name })),
  );
  expect(asked.length).toBeGreaterThan(rules.length);
  expect(asked.filter(({ name }) => !exported.has(name))).toEqual([]);
}, 60_000);
