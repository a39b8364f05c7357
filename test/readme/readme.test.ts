// What the README shows of a service that runs, in its order and in a terminal. How it is started,
// its programs and all of src/API.md: readme.long.test.ts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, type TestServer } from '../support/server.ts';
import { partsOf } from './book.ts';
import { BY_FORMS } from './buyer.ts';
import { Reader } from './reader.ts';
import { Terminal } from './terminal.ts';

setDefaultTimeout(120_000);

const page = (path: string) => readFileSync(join(import.meta.dir, '../..', path), 'utf8');
const README = page('README.md');

let server: TestServer;
let directory: string;
let terminal: Terminal;
let reader: Reader;
beforeAll(async () => {
  server = await startServer({
    settings: (url) => ({ checkoutUrl: `http://localhost:${new URL(url).port}/pay` }),
  });
  directory = mkdtempSync(join(tmpdir(), 'tollhouse-readme-'));
  terminal = new Terminal(directory, {});
  const secrets = new Map([['KEY=svc_test_...', `KEY=${server.organisation.testKey}`]]);
  const ports = new Map([['3000', Number(new URL(server.url).port)]]);
  reader = new Reader({ directory, terminal, ports, secrets, buyer: BY_FORMS });
});
afterAll(async () => {
  await terminal.close();
  rmSync(directory, { recursive: true });
  await server.stop();
});

test('README, Start: the first calls', () => reader.read(partsOf(README, 'Start').slice(2)));

test.each(['Sell', 'Sell usage'])('README, %s', (title) => reader.read(partsOf(README, title)));

test('each figure in the README was measured', () => {
  const measured = page('test/bench/README.md') + page('test/README.md');
  const [figures] = partsOf(README, 'How fast');
  const numbers = figures?.kind === 'text' ? figures.text.match(/\d[\d,.]*/g) : null;
  expect(numbers?.filter((number) => !measured.includes(number))).toEqual([]);
});
