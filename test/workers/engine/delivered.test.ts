// What a receiver gets, what is stored of it, and what follows from its answer.
import { afterAll, afterEach, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { answer, Receiver } from '../support/receiver.ts';
import { Bed } from './bed.ts';
import { type Arrival, Sink } from './sink.ts';

let bed: Bed;
let sink: Sink;

beforeAll(async () => {
  bed = await Bed.start();
});
afterAll(() => bed.stop());
beforeEach(() => {
  sink = new Sink();
});
afterEach(async () => {
  await bed.server.sql`update webhook_endpoints set deleted_at = now() where deleted_at is null`;
  await sink.stop();
});

/** Whether the receivers' library accepts it, now by the engine's clock. */
function isSigned({ body, headers }: Arrival, secret: string): boolean {
  setSystemTime(bed.clock.at);
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  } finally {
    setSystemTime();
  }
}

test('a webhook event arrives once, signed, as the API shows it', async () => {
  const { id, secret } = await bed.endpoint(sink.url);
  const [event] = await bed.events(1);
  await bed.all(id, 'delivered');
  expect(sink.ids).toEqual([event!]);
  const [arrival] = sink.arrivals;
  expect(isSigned(arrival!, secret)).toBe(true);
  expect(arrival!.headers['content-type']).toBe('application/json');
  expect(arrival!.body).toBe((await bed.server.call('GET', `/events/${event}`)).text);
  expect(await bed.attempts(id)).toEqual([
    {
      at: new Date(bed.clock.at),
      statusCode: 200,
      error: null,
      address: '127.0.0.1',
      responseHead: '',
    },
  ]);
  const [delivery] = await bed.deliveries(id);
  expect(delivery).toMatchObject({ attempts: 1, worker: null });
});

const canary = (): Response => Response.redirect(`${sink.url}/canary`, 302);

/** An attempt without an answer, and its log entry. */
// prettier-ignore
const FAILURES: [name: string, answers: () => Response | 'hang', statusCode: number | null, error: string | null, head: string | null][] = [
  ['500',                  () => new Response('out of order', { status: 500 }), 500,  null,      'out of order'],
  ['404',                  () => new Response('who?', { status: 404 }),         404,  null,      'who?'],
  ['a redirect',           canary,                                              302,  null,      ''],
  ['304',                  () => new Response(null, { status: 304 }),           304,  null,      ''],
  ['no answer in time',    () => 'hang',                                        null, 'timeout', null],
];

test.each(FAILURES)(
  'a delivery answered with %s is tried again in 5 s',
  async (_name, answers, statusCode, error, head) => {
    const { id } = await bed.endpoint(sink.url);
    sink.answer = answers;
    const at = bed.clock.at;
    await bed.events(1);
    await bed.attempted(id, 1);
    expect(await bed.attempts(id)).toEqual([
      { at: new Date(at), statusCode, error, address: '127.0.0.1', responseHead: head },
    ]);
    const [delivery] = await bed.deliveries(id);
    const due = { status: 'pending', attempts: 1, nextAt: new Date(at + 5000) };
    expect(delivery).toMatchObject(due);
    bed.pass(4999);
    await bed.sweeps();
    expect(sink.arrivals).toHaveLength(1);
    sink.answer = () => new Response();
    bed.pass(1);
    await bed.all(id, 'delivered');
    expect(sink.arrivals).toHaveLength(2);
  },
);

test('a delivery whose connection is reset or refused is tried again', async () => {
  const resets = await Receiver.open((socket) => socket.resetAndDestroy());
  const { id } = await bed.endpoint(`http://127.0.0.1:${resets.port}/`);
  await bed.events(1);
  await bed.attempted(id, 1);
  resets.close();
  bed.pass(5000);
  await bed.attempted(id, 2);
  const errors = (await bed.attempts(id)).map(({ error }) => error);
  expect(errors).toEqual(['reset', 'connect']);
  const [delivery] = await bed.deliveries(id);
  const due = { status: 'pending', attempts: 2, nextAt: new Date(bed.clock.at + 10_000) };
  expect(delivery).toMatchObject(due);
});

test('every attempt of a delivery has the same id and bytes, and a timestamp of its own', async () => {
  const { id, secret } = await bed.endpoint(sink.url);
  sink.answer = () => new Response(null, { status: 503 });
  await bed.events(1);
  for (const [attempts, wait] of [5000, 10_000, 20_000].entries()) {
    await bed.attempted(id, attempts + 1);
    expect(isSigned(sink.arrivals.at(-1)!, secret)).toBe(true);
    bed.pass(wait);
  }
  await bed.attempted(id, 4);
  const [first, ...again] = sink.arrivals;
  for (const { id: event, body } of again) {
    expect({ event, body }).toEqual({ event: first!.id, body: first!.body });
  }
  const stamps = sink.arrivals.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect(stamps.map((stamp) => stamp - stamps[0]!)).toEqual([0, 5, 15, 35]);
});

test('the delivery log keeps the first bytes of an answer', async () => {
  const long = await Receiver.open(answer('500 No', { body: 'x'.repeat(5000) }));
  const { id } = await bed.endpoint(`http://127.0.0.1:${long.port}/`);
  await bed.events(1);
  await bed.attempted(id, 1);
  expect((await bed.attempts(id))[0]!.responseHead).toBe('x'.repeat(1024));
  long.close();
});

/** The receiver's Retry-After, and the seconds until the next attempt. */
// prettier-ignore
const RETRY_AFTER: [status: number, asks: string | null, seconds: number][] = [
  [429, '60',         60],
  [503, '60',         60],
  [429, '1',          5],
  [429, '86400',      10_800],
  [429, 'soon',       5],
  [503, null,         5],
];

test.each(RETRY_AFTER)(
  'a delivery answered %d with Retry-After %s is tried again after %d s',
  async (status, asks, seconds) => {
    const { id } = await bed.endpoint(sink.url);
    const headers: Record<string, string> = asks === null ? {} : { 'retry-after': asks };
    sink.answer = () => new Response(null, { status, headers });
    await bed.events(1);
    await bed.attempted(id, 1);
    const [delivery] = await bed.deliveries(id);
    expect(delivery!.nextAt).toEqual(new Date(bed.clock.at + seconds * 1000));
  },
);

test('an answer of 410 disables the endpoint and holds its deliveries until it is enabled', async () => {
  const { id } = await bed.endpoint(sink.url);
  sink.answer = () => new Response(null, { status: 503 });
  await bed.events(2);
  await bed.attempted(id, 2);
  sink.answer = () => new Response(null, { status: 410 });
  const [third] = await bed.events(1);
  await bed.all(id, 'held');
  expect(sink.ids.at(-1)).toBe(third);
  expect(await bed.health(id)).toMatchObject({ status: 'disabled', reason: 'gone' });
  await bed.events(1);
  bed.pass(3_600_000);
  await bed.sweeps();
  expect(sink.arrivals).toHaveLength(3);
  await bed.all(id, 'held');
  sink.arrivals.length = 0;
  sink.answer = () => new Response();
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'enabled' } });
  await bed.all(id, 'delivered');
  const owed = (await bed.deliveries(id)).map(({ event }) => event);
  expect(sink.ids.toSorted()).toEqual(owed.toSorted());
  expect(sink.ids).toHaveLength(4);
});

test('a disabled endpoint has its deliveries held, and no other endpoint has', async () => {
  const { id } = await bed.endpoint(sink.url, { status: 'disabled' });
  const other = await bed.endpoint(`${sink.url}/other`);
  const events = await bed.events(3);
  await bed.all(other.id, 'delivered');
  expect((await bed.deliveries(id)).map(({ status }) => status)).toEqual(['held', 'held', 'held']);
  sink.arrivals.length = 0;
  await bed.server.call('PATCH', `/webhook-endpoints/${id}`, { body: { status: 'enabled' } });
  await bed.all(id, 'delivered');
  expect(sink.ids.toSorted()).toEqual(events.toSorted());
});

/**
 * A day after a secret was replaced by the API's clock, which is an hour behind, and less than a
 * day after an attempt.
 */
const OVERLAP_MS = 23.5 * 3_600_000;

test('a new secret signs at once, retries too, and the old one beside it for a day', async () => {
  const { id, secret: old } = await bed.endpoint(sink.url);
  sink.answer = () => new Response(null, { status: 500 });
  await bed.events(1);
  await bed.attempted(id, 1);
  const rotated = await bed.server.call('POST', `/webhook-endpoints/${id}/rotate-secret`);
  bed.pass(5000);
  await bed.attempted(id, 2);
  bed.pass(OVERLAP_MS);
  await bed.attempted(id, 3);
  const secret = rotated.json.secret as string;
  const signedBy = sink.arrivals.map(
    ({ headers }) => headers['webhook-signature']!.split(' ').length / 2,
  );
  expect(signedBy).toEqual([1, 2, 1]);
  const [before, during, after] = sink.arrivals;
  bed.pass(-OVERLAP_MS - 5000);
  expect([isSigned(before!, old), isSigned(before!, secret)]).toEqual([true, false]);
  bed.pass(5000);
  expect([isSigned(during!, old), isSigned(during!, secret)]).toEqual([true, true]);
  bed.pass(OVERLAP_MS);
  expect([isSigned(after!, old), isSigned(after!, secret)]).toEqual([false, true]);
});

test('a deleted endpoint gets nothing more, and a delivery in flight is settled', async () => {
  const { id } = await bed.endpoint(sink.url);
  sink.answer = () => 'hang';
  await bed.events(2);
  await bed.server.call('DELETE', `/webhook-endpoints/${id}`);
  await bed.all(id, 'exhausted');
  const arrived = sink.arrivals.length;
  bed.pass(24 * 3_600_000);
  await bed.events(1);
  await bed.sweeps();
  expect(sink.arrivals).toHaveLength(arrived);
  expect(await bed.deliveries(id)).toHaveLength(2);
});
