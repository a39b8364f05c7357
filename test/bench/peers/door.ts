// What each peer shares with the service: the port, the key check, the same schemas and the same
// framework. A peer ends when the bench does, for any reason.
import { Elysia } from 'elysia';

export interface PeerSettings {
  readonly port: number;
  readonly authorization: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Connections to the database. */
  readonly pool: number;
}

export function peerSettings(): PeerSettings {
  return JSON.parse(process.env['BENCH_PEER'] ?? '{}') as PeerSettings;
}

export interface Door {
  readonly app: Elysia;
  /** Each handler calls it first: measured, no hook of Elysia is faster. */
  readonly letsIn: (request: Request) => boolean;
}

export function openDoor({ authorization }: PeerSettings): Door {
  // A map, because a service has many keys.
  const keys = new Map([[authorization, 'bench']]);
  return {
    app: new Elysia({ normalize: false }),
    letsIn: (request) => keys.has(request.headers.get('authorization') ?? ''),
  };
}

export function refusal(): Response {
  return Response.json({ error: { type: 'unauthorized' } }, { status: 401 });
}

export async function serveUntilBenchEnds(app: Elysia, { port }: PeerSettings): Promise<never> {
  app.listen({ port, hostname: '127.0.0.1' });
  // stdin is a pipe that the bench holds open and never writes to.
  await Bun.stdin.text();
  process.exit(0);
}
