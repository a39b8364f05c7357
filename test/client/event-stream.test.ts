// `events.stream` against the real service: no event is missed or repeated over cut connections.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Event, InvalidRequestError, Tollhouse } from '../../src/client/index.ts';
import { relayAll } from '../support/relayed.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const client = (fetch?: Fetch): Tollhouse =>
  new Tollhouse({
    baseUrl: server.url,
    apiKey: server.organisation.testKey,
    // What it waits before another connection is of no interest here.
    chance: { random: () => 0, sleep: () => Bun.sleep(0) },
    ...(fetch !== undefined && { fetch }),
  });

async function makeCustomer(name: string): Promise<void> {
  await server.call('PUT', `/customers/${name}`, { body: {} });
  await relayAll(server.sql);
}

async function firstId(): Promise<string> {
  await makeCustomer('first');
  const { json } = await server.call('GET', '/events?limit=1');
  return json.data[0].id as string;
}

const nameOf = (event: Event) => (event.data as { externalCustomerId?: string }).externalCustomerId;

test("the client's event stream yields events in order, and abort ends it", async () => {
  const after = await firstId();
  const abort = new AbortController();
  const seen: (string | undefined)[] = [];
  for (const name of ['a', 'b', 'c']) await makeCustomer(name);
  for await (const event of client().events.stream({ after, signal: abort.signal })) {
    expect(event).toMatchObject({ type: 'customer.created' });
    seen.push(nameOf(event));
    if (seen.length === 3) await makeCustomer('d');
    if (seen.length === 4) abort.abort();
  }
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
});

test("the client's event stream yields what happens once it has begun, though the connection breaks", async () => {
  await makeCustomer('before');
  let connections = 0;
  const tollhouse = client(async (url, init) => {
    connections += 1;
    if (connections !== 1) return fetch(url, init);
    const response = await fetch(url, init);
    // Of the first connection nothing but its beginning arrives.
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return new Response(value, response);
  });
  let opened = 0;
  const onOpen = () => {
    opened += 1;
    makeCustomer('after').catch(() => undefined);
  };
  for await (const event of tollhouse.events.stream({ onOpen })) {
    expect(nameOf(event)).toBe('after');
    break;
  }
  expect([opened, connections]).toEqual([1, 2]);
});

test("the client's event stream reconnects after a cut, without a gap", async () => {
  const after = await firstId();
  let connections = 0;
  const tollhouse = client(async (url, init) => {
    connections += 1;
    if (connections === 2) throw new TypeError('connection refused');
    const response = await fetch(url, init);
    return new Response(response.body?.pipeThrough(cutAfter(connections * 700)), response);
  });
  const names = Array.from({ length: 12 }, (_, n) => `cut-${n}`);
  for (const name of names) await makeCustomer(name);
  const seen: (string | undefined)[] = [];
  for await (const event of tollhouse.events.stream({ after })) {
    seen.push(nameOf(event));
    if (seen.length === names.length) break;
  }
  expect(seen).toEqual(names);
  expect(connections).toBeGreaterThan(3);
});

/** Breaks off after so many bytes. */
function cutAfter(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, left));
      left -= chunk.length;
      if (left <= 0) controller.error(new TypeError('connection reset'));
    },
  });
}

test("the client's event stream throws for an id that is not kept, without a loop", async () => {
  const after = '0198c0de-0000-7000-8000-000000000001';
  const error = await client()
    .events.stream({ after })
    .next()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidRequestError);
});
