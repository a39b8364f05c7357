// The line to an account: how many calls are under way, which wait, and what is not asked while
// Stripe is silent.
import { expect, test } from 'bun:test';
import Stripe from 'stripe';
import { Line, Lines, NotAsked } from '../../../src/processors/stripe/line.ts';

const SILENT_MAX = 5;
const PROBE_MS = 2000;

/** Time stands still but for `pass`. */
function open() {
  let now = 0;
  const timed = new Set<{ at: number; task: () => void }>();
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const deps = {
    clock: { monotonic: () => now },
    timers: {
      after(ms: number, task: () => void) {
        const entry = { at: now + ms, task };
        timed.add(entry);
        return () => timed.delete(entry);
      },
      soon: (task: () => void) => void setImmediate(task),
    },
    log: { info: note, warn: note, error: note },
  };
  return {
    deps,
    line: new Line(deps, 'stripe:acct_1'),
    logged,
    pass: async (ms: number) => {
      now += ms;
      for (const entry of timed) {
        if (entry.at > now) continue;
        timed.delete(entry);
        entry.task();
      }
      await new Promise(setImmediate);
    },
  };
}

const silence = () => Promise.reject(new Stripe.errors.StripeConnectionError({ message: 'gone' }));
const broken = (statusCode: number) => () =>
  Promise.reject(
    new Stripe.errors.StripeAPIError({ type: 'api_error', message: 'no', statusCode }),
  );

/** How calls end: their value, or the name of the error. */
const ends = (asked: Promise<unknown>): Promise<unknown> =>
  asked.catch((error: unknown) => (error as Error).constructor.name);

async function silenced(line: Line): Promise<void> {
  for (let call = 0; call < SILENT_MAX; call += 1) await ends(line.ask('confirm', silence));
}

/** Calls that are made, in order, and end when the test says so. */
function holding() {
  const begun: string[] = [];
  const held: (() => void)[] = [];
  const ask = (name: string) => () => {
    begun.push(name);
    const { promise, resolve } = Promise.withResolvers<string>();
    held.push(() => resolve(name));
    return promise;
  };
  return { begun, held, ask };
}

test('the Stripe client returns what Stripe answers, and throws what it refuses', async () => {
  const { line } = open();
  expect(await line.ask('create', () => Promise.resolve(17))).toBe(17);
  const refusal = new Stripe.errors.StripeCardError({ type: 'card_error', message: 'no' });
  expect(line.ask('create', () => Promise.reject(refusal))).rejects.toBe(refusal);
});

test('a Stripe account silent five times in a row gets a probe now and then, until it answers', async () => {
  const { line, logged, pass } = open();
  let asked = 0;
  const counted = (answer: () => Promise<unknown>) => () => {
    asked += 1;
    return answer();
  };
  for (let call = 1; call < SILENT_MAX; call += 1) await ends(line.ask('confirm', silence));
  expect([line.isSilent, logged]).toEqual([false, []]);
  await ends(line.ask('confirm', silence));
  expect([line.isSilent, logged]).toEqual([
    true,
    ['Stripe circuit breaker is open: it is only probed'],
  ]);
  for (const kind of ['confirm', 'find', 'refund']) {
    expect(await ends(line.ask(kind, counted(silence)))).toBe(NotAsked.name);
  }
  expect(asked).toBe(0);
  await pass(PROBE_MS);
  const probes = [counted(silence), counted(silence), counted(silence)].map((ask) =>
    line.ask('find', ask),
  );
  expect(await Promise.all(probes.map(ends))).toEqual([
    'StripeConnectionError',
    NotAsked.name,
    NotAsked.name,
  ]);
  expect([asked, line.isSilent]).toEqual([1, true]);
  await pass(PROBE_MS);
  expect(await line.ask('find', () => Promise.resolve('there'))).toBe('there');
  expect([line.isSilent, logged.at(-1)]).toEqual([
    false,
    'Stripe circuit breaker is closed: it answers again',
  ]);
  expect(await line.ask('find', () => Promise.resolve('at once'))).toBe('at once');
});

test.each<[string, () => Promise<never>, boolean]>([
  ['no connection', silence, true],
  ['a 500', broken(500), true],
  ['a 409 of a key in use', broken(409), false],
  [
    'a refusal of the bank',
    () => Promise.reject(new Stripe.errors.StripeCardError({ type: 'card_error', message: '' })),
    false,
  ],
  [
    'a rate limit',
    () =>
      Promise.reject(
        new Stripe.errors.StripeRateLimitError({ type: 'rate_limit_error' as never, message: '' }),
      ),
    false,
  ],
  ['a fault of ours', () => Promise.reject(new TypeError('a bug')), false],
])('whether %s counts as silence of Stripe, row %#', async (_what, answer, isSilence) => {
  const { line } = open();
  for (let call = 0; call < SILENT_MAX; call += 1) await ends(line.ask('confirm', answer));
  expect(line.isSilent).toBe(isSilence);
});

test('an answer of Stripe in between begins the count of silence anew', async () => {
  const { line } = open();
  for (let call = 0; call < SILENT_MAX * 3; call += 1) {
    await ends(line.ask('confirm', call % SILENT_MAX === 3 ? () => Promise.resolve(1) : silence));
  }
  expect(line.isSilent).toBe(false);
});

test('a queue of renewals does not take all Stripe connections, and kinds take turns', async () => {
  const { line } = open();
  const { begun, held, ask } = holding();
  const renewals = Array.from({ length: 40 }, (_, index) =>
    line.ask('confirm', ask(`renewal ${index}`)),
  );
  const buyers = Array.from({ length: 12 }, (_, index) =>
    line.ask('session', ask(`buyer ${index}`)),
  );
  await new Promise(setImmediate);
  const begunOf = (who: string) => begun.filter((name) => name.startsWith(who)).length;
  expect([begunOf('renewal'), begunOf('buyer')]).toEqual([16, 8]);
  while (held.length > 0) {
    held.shift()?.();
    await new Promise(setImmediate);
  }
  expect((await Promise.all([...renewals, ...buyers])).length).toBe(52);
});

test('a Stripe call that waits too long in the queue is not sent', async () => {
  const { line, pass } = open();
  const { begun, held, ask } = holding();
  const places = Array.from({ length: 16 }, () => line.ask('confirm', ask('first')));
  const late = ends(line.ask('confirm', ask('late')));
  await pass(2999);
  const next = line.ask('confirm', ask('next'));
  await pass(1);
  expect(await late).toBe(NotAsked.name);
  held.shift()?.();
  await places[0];
  await new Promise(setImmediate);
  expect(begun.slice(16)).toEqual(['next']);
  for (const end of held) end();
  expect(await next).toBe('next');
});

test('Stripe calls that wait when Stripe falls silent are not sent', async () => {
  const { line } = open();
  const { promise: gone, reject } = Promise.withResolvers<never>();
  let asked = 0;
  const calls = Array.from({ length: 40 }, () =>
    ends(
      line.ask('confirm', () => {
        asked += 1;
        return gone;
      }),
    ),
  );
  await new Promise(setImmediate);
  expect(asked).toBe(16);
  reject(new Stripe.errors.StripeConnectionError({ message: 'gone' }));
  const refused = (await Promise.all(calls)).filter((end) => end === NotAsked.name);
  expect([refused.length, asked]).toEqual([24, 16]);
});

test('each Stripe account has a queue of its own', async () => {
  const { deps } = open();
  const lines = new Lines(deps);
  const one = lines.of({ id: '1', name: 'stripe:acct_1' });
  await silenced(one);
  expect(lines.of({ id: '1', name: 'stripe:acct_1' })).toBe(one);
  expect([lines.silent, lines.of({ id: '2', name: 'stripe:acct_2' }).isSilent]).toEqual([1, false]);
});
