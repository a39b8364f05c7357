// The receiver of the webhooks: a process of its own, where each path is an endpoint. A path below
// /hang/ never answers. It keeps when each delivery first came, by endpoint and `webhook-id`.
import { clock } from '../../../src/platform/clock.ts';

export type SinkSettings = { readonly port: number };

/** The endpoint, the event's id, and the time of arrival. */
export type Arrival = readonly [path: string, id: string, at: number];

export type Seen = { readonly unique: number; readonly again: number; readonly unsigned: number };

const { port } = JSON.parse(process.env['BENCH_SINK'] ?? '{}') as SinkSettings;
const arrivals = new Map<string, Arrival>();
let again = 0;
let unsigned = 0;

function receive(path: string, headers: Headers): void {
  const id = headers.get('webhook-id') ?? '';
  if (!headers.has('webhook-signature') || !headers.has('webhook-timestamp')) unsigned += 1;
  const key = `${path} ${id}`;
  if (arrivals.has(key)) again += 1;
  else arrivals.set(key, [path, id, clock.now()]);
}

Bun.serve({
  port,
  hostname: '127.0.0.1',
  // Longer than any sender waits.
  idleTimeout: 120,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/seen') {
      const seen: Seen = { unique: arrivals.size, again, unsigned };
      return Response.json(seen);
    }
    if (pathname === '/arrivals') {
      const all = [...arrivals.values()];
      arrivals.clear();
      [again, unsigned] = [0, 0];
      return Response.json(all);
    }
    if (pathname.startsWith('/hang/')) return Promise.withResolvers<Response>().promise;
    await request.text();
    receive(pathname, request.headers);
    return new Response(null, { status: 204 });
  },
});
// Until the bench ends, which holds the other end open.
await Bun.stdin.text();
process.exit(0);
