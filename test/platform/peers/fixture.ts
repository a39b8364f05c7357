import { PeerFailure } from '../../../ledger/ports.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import type { RequestHandler } from '../../../src/platform/peers/inbound.ts';
import type { PeerLimits } from '../../../src/platform/peers/limits.ts';
import { OpenPeers } from '../../../src/platform/peers/peers.ts';
import type { MovedTime } from './moved-time.ts';

export const SECRET = 'shared by the nodes of a test';
export const SOON = { withinMs: 5000 };

export type Logged = { readonly fields: Record<string, unknown>; readonly message: string };

export type TestNode = OpenPeers & { readonly address: string; readonly logged: Logged[] };

export type NodeOptions = {
  readonly answer?: RequestHandler;
  readonly secret?: string;
  /** The address that others dial, where it differs from the one it listens on. */
  readonly self?: string;
  readonly port?: number;
  readonly limits?: Partial<PeerLimits>;
};

/** Nodes on the loopback that end with their test. */
export class Nodes {
  readonly #open: OpenPeers[] = [];
  readonly #time: Pick<MovedTime, 'clock' | 'timers'>;

  constructor(time: Pick<MovedTime, 'clock' | 'timers'> = { clock, timers }) {
    this.#time = time;
  }

  open(options: NodeOptions = {}): TestNode {
    const { answer = (request) => request, secret = SECRET, port = 0, limits = {} } = options;
    const logged: Logged[] = [];
    const write = (fields: Record<string, unknown>, message: string): void => {
      logged.push({ fields, message });
    };
    const log = { info: write, warn: write, error: write };
    const listen = { hostname: '127.0.0.1', port };
    const peers = new OpenPeers({
      listen,
      secret,
      // Its port is known when it listens.
      get self() {
        return options.self ?? `127.0.0.1:${peers.port}`;
      },
      answer,
      ...this.#time,
      log,
      limits,
    });
    this.#open.push(peers);
    return Object.assign(peers, { address: `127.0.0.1:${peers.port}`, logged });
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((peers) => peers.close()));
  }
}

/** How a call failed: whether it may have been done, or that the connection did not fail. */
export async function failureOf(ask: Promise<unknown>): Promise<'maybe' | 'no' | `bug: ${string}`> {
  try {
    await ask;
  } catch (error) {
    if (error instanceof PeerFailure) return error.maybeDone ? 'maybe' : 'no';
    return `bug: ${(error as Error).message}`;
  }
  throw new Error('it was answered');
}

/** Resolves once it holds: for what no signal tells. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(2);
}

/** A latch: what waits for it continues once it is open. */
export function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
