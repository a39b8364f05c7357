// Messages between two nodes on the loopback, and their cost on each side, by how many share a
// frame.
//
// One frame is in flight at a time: the next is sent when the last is answered. So the rate is that
// of the round trip, and the processor time includes sleeping and waking for each frame, which a
// busy node does not pay.
import { clock, timers } from '../../../src/platform/clock.ts';
import { OpenPeers } from '../../../src/platform/peers/peers.ts';
import type { Closers } from '../../support/closers.ts';
import { freePort } from '../../support/free-port.ts';
import { type Child, startChild } from '../bed/child.ts';
import type { Stores } from '../bed/service.ts';
import { secondsOf } from '../probes/processor-time.ts';

const ANSWERER = Bun.fileURLToPath(import.meta.resolve('./answerer.ts'));
const SECRET = 'of two nodes in a bench';
const FRAME_CALLS = [1, 5, 10, 25, 50, 100, 200];
const REQUESTS = 4096;
const WARM_UP_MS = 400;
const WITHIN = { withinMs: 5000 };

/** About the size of one tracked event. */
export type Request = ReturnType<typeof requestOf>;

export type Wire = {
  readonly frameCalls: number;
  readonly callsPerSecond: number;
  /** Processor time of one call, in microseconds. */
  readonly askerUs: number;
  readonly answererUs: number;
};

export async function runWire(
  stores: Stores,
  closers: Closers,
  options: {
    readonly measureMs: number;
    readonly signal: AbortSignal;
    readonly say: (line: string) => void;
  },
): Promise<Wire[]> {
  const { measureMs, signal, say } = options;
  const port = await freePort();
  const answerer = await startChild({
    name: 'answerer',
    command: [process.execPath, ANSWERER],
    port,
    env: { PORT: String(port), NODE_SECRET: SECRET },
    directory: stores.dataDir,
    ready: { path: '/', status: 404 },
  });
  closers.push(() => answerer.stop());
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const asker = new OpenPeers({
    listen: { hostname: '127.0.0.1', port: 0 },
    secret: SECRET,
    self: 'asker:1',
    answer: () => undefined,
    clock,
    timers,
    log,
  });
  closers.push(() => asker.close());
  const results: Wire[] = [];
  for (const frameCalls of FRAME_CALLS) {
    signal.throwIfAborted();
    say(`peers: ${frameCalls} to a frame`);
    results.push(await measure({ asker, answerer }, { frameCalls, measureMs }));
  }
  return results;
}

async function measure(
  { asker, answerer }: { readonly asker: OpenPeers; readonly answerer: Child },
  { frameCalls, measureMs }: { readonly frameCalls: number; readonly measureMs: number },
): Promise<Wire> {
  const address = `127.0.0.1:${answerer.port}`;
  const requests = Array.from({ length: REQUESTS }, (_, at) => requestOf(at));
  const askFor = async (ms: number): Promise<number> => {
    const until = performance.now() + ms;
    let asked = 0;
    while (performance.now() < until) {
      const from = asked % (REQUESTS - frameCalls);
      const frame = requests.slice(from, from + frameCalls);
      await Promise.all(frame.map((request) => asker.ask(address, request, WITHIN)));
      asked += frameCalls;
    }
    return asked;
  };
  await askFor(WARM_UP_MS);
  const answererBefore = secondsOf(answerer.pid);
  const askerBefore = secondsOf(process.pid);
  const startedAt = performance.now();
  const calls = await askFor(measureMs);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    frameCalls,
    callsPerSecond: calls / seconds,
    askerUs: ((secondsOf(process.pid) - askerBefore) / calls) * 1e6,
    answererUs: ((secondsOf(answerer.pid) - answererBefore) / calls) * 1e6,
  };
}

function requestOf(at: number) {
  return {
    operation: 'track',
    tenant: { organisationId: '0197a1b2-0000-7000-8000-000000000001', mode: 'live' },
    command: {
      customerId: crypto.randomUUID(),
      featureKey: 'api_calls',
      value: 1_000_000n * BigInt(at + 1),
      idempotencyKey: `k-${crypto.randomUUID()}`,
      occurredAt: clock.now(),
      metadata: null,
    },
  };
}
