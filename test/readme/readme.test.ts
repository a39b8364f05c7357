// What the README says, done in its order by who has read nothing else: each command in a terminal, each page by its form, and each
// promise behind a command held to. The audit closes the books in the end, with the test clock moved.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDataDir } from '../platform/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { chapterOf, type Line, linesOf, type Part } from './book.ts';
import { act, pay, replaceCard } from './buyer.ts';
import { Terminal } from './terminal.ts';

setDefaultTimeout(180_000);

const ROOT = join(import.meta.dir, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

type Json = ReturnType<typeof JSON.parse>;

const directory = temporaryDataDir(0o755);
const desk = join(directory.dataDir, 'desk');
let service: ReturnType<typeof start>;
let terminal: Terminal;
let ports: ReadonlyMap<string, number>;
/** What was printed, the last first. */
const printed: string[] = [];
let receiver: ReturnType<Terminal['start']> | undefined;
const received: string[] = [];

function start(port: number) {
  const env = {
    ...process.env,
    DATA_DIR: directory.dataDir,
    HOST: '127.0.0.1',
    PORT: String(port),
  };
  return Bun.spawn([process.execPath, 'src/main.ts'], { cwd: ROOT, env, stdout: 'pipe' });
}

/** What it says until it listens. The rest is read, too. */
async function listening(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let said = '';
  while (!said.includes('"listening"')) {
    const { value, done: isOver } = await reader.read();
    if (isOver) throw new Error(`it did not start: ${said}`);
    said += decoder.decode(value, { stream: true });
  }
  const drain = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  // What it says in the end is nobody's.
  drain().catch(() => undefined);
  return said;
}

beforeAll(async () => {
  ports = new Map([
    ['3000', await freePort()],
    ['4000', await freePort()],
  ]);
  service = start(ports.get('3000')!);
  const said = await listening(service.stdout);
  printed.unshift(/svc_test_\w+/.exec(said)![0]);
  mkdirSync(desk, { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(desk, 'node_modules'));
  // Of this release, and not from the registry.
  writeFileSync(join(desk, 'npx'), `#!/bin/sh\nshift\ncd ${ROOT}\nexec ${process.execPath} "$@"\n`);
  chmodSync(join(desk, 'npx'), 0o755);
  terminal = new Terminal(desk, {
    PATH: `${desk}:${process.env['PATH']}`,
    DATA_DIR: directory.dataDir,
  });
});
afterAll(async () => {
  receiver?.kill();
  service.kill('SIGTERM');
  await service.exited;
  directory.remove();
});

/** With ports that are free. */
const here = (text: string): string =>
  text.replaceAll(/localhost:(3000|4000)|listen\((4000)\)/g, (match, ...[port, listened]) =>
    match.replace(/\d+/, String(ports.get(port ?? listened))),
  );

const json = (text: string): Json => JSON.parse(text);
/** The last that was printed with this field. */
function last(field: string): Json {
  for (const text of printed) {
    if (!text.startsWith('{')) continue;
    const value = json(text);
    if (value[field] !== undefined) return value[field];
  }
  throw new Error(`nothing has printed ${field}`);
}

/** What the README leaves to fill in. */
const BLANKS: Readonly<Record<string, () => string>> = {
  KEY: () => printed.at(-1)!,
  PRODUCT: () => last('id'),
  PLAN: () => last('id'),
  PAYMENT: () => last('data')[0].id,
  SUBSCRIPTION: () => subscriptionId,
};
let subscriptionId = '';

const check = (expected: object) => (text: string) => expect(json(text)).toMatchObject(expected);

/** What is promised behind a command, and what that means. */
const PROMISES: Readonly<Record<string, (text: string) => unknown>> = {
  'as printed': () => undefined,
  'its id': () => undefined,
  'its id, from /subscriptions': () => undefined,
  'counted once': check({ duplicate: true, consumed: 2, remaining: 3 }),
  'both in one step': check({ allowed: true, consumed: 5, remaining: 0 }),
  'denied: used up': check({ allowed: false, reason: 'insufficient_balance' }),
  'partially_refunded, 20.00 EUR left': check({
    status: 'partially_refunded',
    refundable_amount: '20.00',
    currency: 'EUR',
  }),
  "what happened, in the contract's envelope": (text) =>
    expect(json(text).data.map(({ type }: Json) => type)).toEqual(
      expect.arrayContaining(['payment.succeeded', 'payment.refunded', 'customer.created']),
    ),
  'hosted_url is the printable invoice': async (text) => {
    const { hosted_url: url } = json(text).data[0];
    const page = await fetch(url, { headers: { authorization: `Bearer ${BLANKS['KEY']!()}` } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('24.50')]);
  },
  '409 where it is there already': check({ error: { type: 'conflict' } }),
  '10,000 left': check({ allowed: true, remaining: 10_000 }),
  'the renewal, whose charge is declined': check({ status: 'ready' }),
  'active, overdue_state warning': (text) => {
    const [subscription] = json(text).data;
    subscriptionId = subscription.id;
    expect(subscription).toMatchObject({ status: 'active', overdue_state: 'warning' });
  },
  'four tries later': check({ status: 'ready' }),
  'denied: blocked': check({ allowed: false, reason: 'blocked' }),
  'a renewal that is paid, and a fresh allowance': async (text) => {
    expect(json(text)).toMatchObject({ status: 'ready' });
    const question = '{"feature_key": "api-calls", "external_customer_id": "user-2"}';
    check({ allowed: true, remaining: 10_000 })(await terminal.run(`call /check '${question}'`));
  },
  'at the end of the period; "mode": "immediate" for now': check({
    status: 'active',
    cancel_at_period_end: true,
  }),
  'denied: expired': check({ allowed: false, reason: 'expired' }),
  'each of these, in order, at its own time': (text) => {
    const { data } = json(text);
    const types = data.map(({ type }: Json) => type).toReversed();
    const story = [
      'subscription.created',
      'payment.failed',
      'subscription.blocked',
      'payment.succeeded',
      'subscription.canceled',
      'subscription.expired',
    ];
    let from = 0;
    for (const type of story) {
      const at = types.indexOf(type, from);
      expect([type, at]).toEqual([type, expect.any(Number)]);
      expect([type, at >= from]).toEqual([type, true]);
      from = at;
    }
    const times = data.map(({ timestamp }: Json) => Date.parse(timestamp));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(60 * 86_400_000);
  },
};

/** What is to be done between commands, by what the README says there. */
const STEPS: readonly [string, () => unknown][] = [
  ['pay with card 4242 4242 4242 4242', () => pay(last('url'), '4242424242424242')],
  ['subscribe with card 4000 0000 0000 0341', () => pay(last('url'), '4000000000000341')],
  [
    'Replace the card there with 4242 4242 4242 4242',
    async () => {
      const url = last('url');
      await replaceCard(url, '4242424242424242');
      const question = '{"feature_key": "api-calls", "external_customer_id": "user-2"}';
      await until('/check allows again', async () =>
        Boolean(json(await terminal.run(`call /check '${question}'`)).allowed),
      );
      await act(url, 'pause', subscriptionId);
      await act(url, 'resume', subscriptionId);
    },
  ],
];

/** What changes nothing. */
const READS = /^(?:curl|call \/check (?!.*consume))/;

/** Promises and steps. */
const done = new Set<string>();

async function doLine({ command, says }: Line): Promise<void> {
  const [, blank] = /^(\w+)=\S*\.\.\.$/.exec(command) ?? [];
  const filled = blank === undefined ? here(command) : `${blank}=${BLANKS[blank]!()}`;
  const text = await terminal.run(filled);
  if (text !== '') printed.unshift(text);
  if (says === null) return;
  const promise = PROMISES[says];
  if (promise === undefined) throw new Error(`nobody holds the README to "${says}"`);
  done.add(says);
  if (!READS.test(command)) {
    await promise(text);
    return;
  }
  // What was done is told of a moment later.
  let failure: unknown;
  await until(says, async () => {
    try {
      await promise(await terminal.run(filled));
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  }).catch(() => {
    throw failure;
  });
}

async function doPart(part: Part): Promise<void> {
  if (part.kind === 'text') {
    for (const [words, step] of STEPS) {
      if (!part.text.replaceAll(/\s+/g, ' ').includes(words)) continue;
      done.add(words);
      await step();
    }
  } else if (part.language === 'sh') {
    for (const line of linesOf(part.lines)) await doLine(line);
  }
}

test('Start', async () => {
  const [, , , first, , loop] = chapterOf(README, 'Start');
  await doPart(first!);
  writeFileSync(
    join(desk, 'loop.mjs'),
    here((loop as Extract<Part, { kind: 'code' }>).lines.join('\n')),
  );
  expect(await terminal.run('KEY=$KEY node loop.mjs')).toBe('1000 of 2000');
});

test.each(['Sell something', 'Sell a subscription'])('%s', async (title) => {
  for (const part of chapterOf(README, title)) await doPart(part);
});

test('Hear of it', async () => {
  const [, program, , commands] = chapterOf(README, 'Hear of it');
  if (program?.kind !== 'code' || commands?.kind !== 'code') throw new Error('two blocks of code');
  writeFileSync(join(desk, 'receiver.mjs'), here(program.lines.join('\n')));
  let promised: string[] = [];
  for (const line of linesOf(commands.lines)) {
    if (!line.command.startsWith('SECRET=whsec_...')) {
      await doLine(line);
      continue;
    }
    receiver = terminal.start(line.command.replace('whsec_...', last('secret')));
    collect(receiver.stdout).catch((error: unknown) => received.push(String(error)));
    promised = line.says!.split(', ');
    await until('the receiver listens', () =>
      fetch(here('http://localhost:4000'), { method: 'POST' }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
  }
  await pay(last('url'), '4242424242424242');
  await until('all of it has come', () => received.length >= promised.length);
  expect(received.toSorted()).toEqual(promised.toSorted());
});

async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop()!;
    received.push(...lines.map((line) => line.trim()));
  }
}

test('Run it: the commands of an operator, and the books close', async () => {
  const commands = chapterOf(README, 'Run it').findLast(({ kind }) => kind === 'code');
  const names: Record<string, string> = {};
  for (const { command } of linesOf((commands as Extract<Part, { kind: 'code' }>).lines)) {
    const filled = command.replaceAll(/\b(?:[A-Z]+_)?ID\b/g, (name) => {
      const meant = command.includes('--customer') ? 'CUSTOMER_ID' : name;
      return names[meant] ?? names['ORG_ID']!;
    });
    const value = json(await terminal.run(`${filled} --json`));
    names['ORG_ID'] ??= value.organization_id;
    names['GROUP_ID'] ??= value.group_id;
    if (command.includes('key create')) names['KEY_ID'] = value.id;
    if (command.includes('portal-token create')) {
      names['TOKEN_ID'] = value.id;
      expect(value.url).toStartWith(here('http://localhost:3000/portal/'));
      expect((await fetch(value.url)).status).toBe(200);
    }
    if (command.includes('admin audit')) expect(value).toEqual({ findings: [] });
    if (names['CUSTOMER_ID'] === undefined) {
      const customers = await terminal.run(
        here('curl -s "http://localhost:3000/customers" -H "$KEY_HEADER"'),
      );
      names['CUSTOMER_ID'] = json(customers).data[0].id;
    }
  }
});

test('each promise was held to, and each step done', () => {
  expect([...done].toSorted()).toEqual(
    [...Object.keys(PROMISES), ...STEPS.map(([words]) => words)].toSorted(),
  );
});

test('the next start finds the data of the last', async () => {
  service.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  service = start(ports.get('3000')!);
  await listening(service.stdout);
  const payments = await terminal.run(
    here('curl -s "http://localhost:3000/payments" -H "$KEY_HEADER"'),
  );
  expect(json(payments).data).not.toEqual([]);
});
