// How calls and streams end: a wrong argument rejects, a slow consumer is no silent service, a
// close ends what is open, a worker is told of each call, one signal has one listener.
import { expect, test } from 'bun:test';
import { ClosedError, Tollhouse } from '../../src/client/index.ts';

const USE = { externalCustomerId: 'ann', featureKey: 'calls' };
const thrown = (error: unknown): unknown => error;

const answer = async (url: string): Promise<Response> => {
  await Promise.resolve();
  return Response.json(url.endsWith('/batch') ? { results: [{}] } : { allowed: true });
};

/** A stream that sends one event on each connection; `cut` ends the one that is open. */
function streaming() {
  let open: ReadableStreamDefaultController<Uint8Array> | undefined;
  let sent = 0;
  const fetch = async (_: string, { signal }: RequestInit): Promise<Response> => {
    await Promise.resolve();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        open = controller;
        sent += 1;
        controller.enqueue(new TextEncoder().encode(`id: ${sent}\ndata: {"id":"${sent}"}\n\n`));
        signal?.addEventListener('abort', () => controller.error(new Error('cut')));
      },
    });
    return new Response(body);
  };
  return { fetch, cut: () => open?.close() };
}

const clientOf = (options: Partial<ConstructorParameters<typeof Tollhouse>[0]>): Tollhouse =>
  new Tollhouse({ apiKey: 'svc_test_1', baseUrl: 'http://service', ...options });

test('a client call with an invalid argument rejects', async () => {
  await using tollhouse = clientOf({ fetch: answer });
  const wrong = { ...USE, value: 1n as unknown as number };
  const none = undefined as unknown as typeof USE;
  const calls = [
    tollhouse.track(wrong),
    tollhouse.check(wrong),
    tollhouse.track(none),
    tollhouse.check(none),
    tollhouse.customers.retrieve(''),
  ];
  for (const call of calls) expect(await call.catch(thrown)).toBeInstanceOf(TypeError);
});

test('an event stream with a slow consumer goes on after a cut', async () => {
  const { fetch, cut } = streaming();
  let now = 0;
  const chance = { now: () => now, random: () => 0, sleep: () => Promise.resolve() };
  const tollhouse = clientOf({ fetch, chance });
  const seen: string[] = [];
  for await (const { id } of tollhouse.events.stream({ timeoutMs: 2000 })) {
    seen.push(id);
    now += 3000;
    cut();
    if (seen.length === 3) break;
  }
  expect(seen).toEqual(['1', '2', '3']);
});

test('closing the client ends its event streams, and none begins after it', async () => {
  const tollhouse = clientOf({ fetch: streaming().fetch });
  const stream = tollhouse.events.stream();
  expect(await stream.next()).toMatchObject({ value: { id: '1' } });
  const next = stream.next().catch(thrown);
  await tollhouse.close();
  expect(await next).toBeInstanceOf(ClosedError);
  expect(await tollhouse.events.stream().next().catch(thrown)).toBeInstanceOf(ClosedError);
});

test('a worker is told of each client call once', async () => {
  const waited: Promise<void>[] = [];
  await using tollhouse = clientOf({ fetch: answer, waitUntil: (work) => void waited.push(work) });
  const calls: Promise<unknown>[] = [
    tollhouse.track({ ...USE, value: 1 }),
    tollhouse.check({ ...USE, consume: true }),
    tollhouse.customers.retrieve('ann'),
  ];
  expect(waited).toHaveLength(3);
  await Promise.all(waited);
  for (const call of calls) expect(Bun.peek.status(call)).toBe('fulfilled');
});

test('a signal shared by many client calls has one listener', async () => {
  const abort = new AbortController();
  let listeners = 0;
  const add = abort.signal.addEventListener.bind(abort.signal);
  abort.signal.addEventListener = (...of: Parameters<typeof add>) => {
    listeners += 1;
    add(...of);
  };
  await using tollhouse = clientOf({ fetch: answer });
  const { signal } = abort;
  const calls = Array.from({ length: 20 }, () => tollhouse.track(USE, { signal }).catch(thrown));
  abort.abort();
  for (const call of calls) expect(await call).toBe(signal.reason);
  expect(listeners).toBe(1);
});
