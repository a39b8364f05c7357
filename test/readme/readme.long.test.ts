// The user pages, followed in order in a fresh clone: README.md, the commands of src/API.md, and
// those of an operator. `stripe.long.test.ts` follows
// "Go live". The output is what the page shows, and the audit finds nothing at the end.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { codesOf, exchangesOf, linesOf, partsOf, patternOf, trimmed } from './book.ts';
import { BY_FORMS } from './buyer.ts';
import { type Clone, openClone, Started } from './clone.ts';
import { Reader, STEPS } from './reader.ts';
import { Terminal } from './terminal.ts';

setDefaultTimeout(180_000);

const page = (path: string) => readFileSync(join(import.meta.dir, '../..', path), 'utf8');
const README = page('README.md');
const API = page('src/API.md');

let clone: Clone;
let port: number;
let service: Started;
let terminal: Terminal;
let reader: Reader;

const [START] = exchangesOf(linesOf(partsOf(README, 'Start')[1]));

beforeAll(async () => {
  clone = await openClone();
  port = await freePort();
  service = new Started(clone, START!.command, port);
  terminal = new Terminal(clone.directory, clone.environment);
});
afterAll(async () => {
  await terminal.close();
  await service.interrupt();
  clone.remove();
});

test('README, Start: what is printed', async () => {
  const said = trimmed(await service.says('"listening"'));
  expect(said).toMatch(patternOf(START!.shown.map((line) => line.replaceAll(':3000', `:${port}`))));
  const ports = new Map([
    ['3000', port],
    ['4000', await freePort()],
  ]);
  const secrets = new Map([['KEY=svc_test_...', `KEY=${/svc_test_\w+/.exec(said)![0]}`]]);
  const { directory } = clone;
  reader = new Reader({ directory, terminal, ports, secrets, buyer: BY_FORMS });
});

test('README, Start: the first calls', () => reader.read(partsOf(README, 'Start').slice(2)));

test.each(['In three lines', 'Sell', 'Sell usage', 'Prepaid'])('README, %s', (title) =>
  reader.read(partsOf(README, title)),
);

test('src/API.md works as written', async () => {
  await reader.read(partsOf(API));
  const { data } = JSON.parse(await terminal.run("call '/events?limit=200'"));
  const times = data.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp));
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(60 * 86_400_000);
});

test('src/OPERATIONS.md: the commands of an operator work, and the books balance', async () => {
  const [, block] = partsOf(page('src/OPERATIONS.md'), 'Administer');
  const ids = new Map([['CUSTOMER_ID', await terminal.run('call /customers | field id')]]);
  for (const line of linesOf(block)) {
    const [command = ''] = line.split(/\s{2,}# /);
    const filled = command.replaceAll(/\b[A-Z]+_ID\b/g, (name) => ids.get(name)!);
    const value = JSON.parse(await terminal.run(`${filled} --json`));
    if (command.includes('org create')) ids.set('ORG_ID', value.organization_id);
    if (command.includes('group create')) ids.set('GROUP_ID', value.group_id);
    if (command.includes('key create')) ids.set('KEY_ID', value.id);
    if (command.includes('portal-token create')) {
      ids.set('TOKEN_ID', value.id);
      expect(value.url).toStartWith(`http://localhost:${port}/portal/`);
      expect((await fetch(value.url)).status).toBe(200);
    }
    if (command.includes('admin audit')) expect(value).toEqual({ findings: [] });
  }
  expect([...ids.keys()]).toEqual(['CUSTOMER_ID', 'ORG_ID', 'GROUP_ID', 'KEY_ID', 'TOKEN_ID']);
});

test('no block of the pages was left out, but what stripe.long.test.ts runs', () => {
  const pages = [README.replace(/\n## Go live\n[^]*?(?=\n## )/, ''), API].map((it) => partsOf(it));
  const texts = pages.flat().map((part) => (part.kind === 'text' ? part.text : ''));
  const steps = Object.keys(STEPS).filter((words) => texts.some((text) => text.includes(words)));
  const all = [...pages.flatMap((parts) => parts.flatMap(codesOf)), ...steps];
  expect(all.filter((one) => !reader.did.includes(one))).toEqual([START!.command]);
});

test('the next start finds the data of the last', async () => {
  expect(await service.interrupt()).toContain('"stopped"');
  service = new Started(clone, START!.command, port);
  await service.says('"listening"');
  expect(await terminal.run('call /payments | field id')).not.toBe('');
});
