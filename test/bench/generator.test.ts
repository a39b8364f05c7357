import { afterEach, expect, test } from 'bun:test';
import type { LoadPlan } from './generator/plan.ts';
import { Histogram } from './histogram.ts';
import { generate } from './measure.ts';

const STALL_MS = 300;

let server: ReturnType<typeof Bun.serve> | undefined;
afterEach(async () => {
  await server?.stop(true);
});

async function load(
  plan: Partial<LoadPlan>,
  answer: (body: string) => Response | Promise<Response>,
) {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => answer(await request.text()),
  });
  const whole: LoadPlan = {
    ports: [server.port ?? 0],
    authorization: 'Bearer key',
    shape: 'track',
    customers: 100,
    ids: [],
    connections: 4,
    warmUpMs: 0,
    measureMs: 500,
    ratePerSecond: null,
    run: 1234,
    ...plan,
  };
  const result = await generate(whole, new AbortController().signal);
  const latency = new Histogram();
  latency.add(result.latency);
  return { result, latency };
}

test('the load generator counts every answer of the server, and no key comes twice', async () => {
  const keys = new Set<string>();
  const customers = new Set<string>();
  let answered = 0;
  const { result, latency } = await load({}, (text) => {
    const body = JSON.parse(text) as { idempotency_key: string; external_customer_id: string };
    keys.add(body.idempotency_key);
    customers.add(body.external_customer_id);
    answered += 1;
    return Response.json({ ok: true });
  });
  expect(result).toMatchObject({ succeeded: answered, errors: 0 });
  expect(keys.size).toBe(answered);
  expect(customers.size).toBe(100);
  expect(latency.count).toBe(result.completed);
});

test('the load generator counts refusals as errors, and shows the first few', async () => {
  const { result } = await load({}, () => new Response('no such thing', { status: 404 }));
  expect(result.succeeded).toBe(0);
  expect(result.errors).toBeGreaterThan(0);
  expect(result.samples[0]).toContain('no such thing');
});

test('the load generator counts an answer that never comes as an error', async () => {
  const { result } = await load({ connections: 1, measureMs: 50 }, () => {
    server?.stop(true).catch(() => undefined);
    return Promise.withResolvers<Response>().promise;
  });
  expect(result.errors).toBe(1);
});

test("the load generator's open loop keeps its rate, and a stall counts for every delayed request", async () => {
  let stalled = false;
  const plan = { ratePerSecond: 1000, measureMs: 1000, connections: 64 };
  const { result, latency } = await load(plan, () => {
    if (!stalled) {
      stalled = true;
      Bun.sleepSync(STALL_MS);
    }
    return Response.json({});
  });
  expect(result).toMatchObject({ succeeded: 1000, completed: 1000, errors: 0 });
  // A closed loop would have one slow answer for each connection; here every fifth is slow.
  expect(latency.percentile(0.8)).toBeGreaterThan(STALL_MS * 1000 * 0.2);
  expect(latency.maxMicros).toBeGreaterThan(STALL_MS * 1000 * 0.9);
});

test('the load generator reconnects where the server ends a connection, and loses no request', async () => {
  const heard = [0, 0];
  const servers = heard.map((_, which) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        heard[which] = (heard[which] ?? 0) + 1;
        const isLeaving = which === 0 && heard[0]! > 50;
        return Response.json({}, isLeaving ? { headers: { connection: 'close' } } : undefined);
      },
    }),
  );
  try {
    const ports = servers.map(({ port }) => port ?? 0);
    const { result } = await load({ ports, ratePerSecond: 500 }, () => Response.json({}));
    expect(result).toMatchObject({ succeeded: 250, completed: 250, errors: 0 });
    expect(heard[0]).toBeLessThan(60);
    expect(heard[1]).toBe(250 - heard[0]!);
  } finally {
    for (const one of servers) await one.stop(true);
  }
});
