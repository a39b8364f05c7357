// What a load balancer knows of the nodes: which ones lately reported ready. Now and then it is
// wrong, and callers try another node.
import type { Random } from '../../support/random.ts';
import type { FleetNode } from './fleet.ts';

const POLL_MS = 200;

/** Starts when it is made. */
export class Balancer {
  readonly #nodes: readonly FleetNode[];
  readonly #random: Random;
  readonly #blind: number;
  readonly #ready = new Set<FleetNode>();
  readonly #stopping = new AbortController();
  readonly #polling: Promise<void>;

  /** `blind` is the share of calls that it sends to any node. */
  constructor(nodes: readonly FleetNode[], { random, blind }: { random: Random; blind: number }) {
    this.#blind = blind;
    this.#nodes = nodes;
    this.#random = random;
    this.#polling = this.#poll();
  }

  /** A node that is ready, as far as is known; sometimes any node. */
  readonly target = (): Promise<string> => {
    const ready = [...this.#ready];
    const among = ready.length === 0 || this.#random.chance(this.#blind) ? this.#nodes : ready;
    return Promise.resolve(this.#random.pick(among).url);
  };

  /** Any of them, ready or not. */
  any(): string {
    return this.#random.pick(this.#nodes).url;
  }

  get allReady(): boolean {
    return this.#ready.size === this.#nodes.length;
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#polling;
  }

  async #poll(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await Promise.all(
        this.#nodes.map(async (node) => {
          if (await node.isReady()) this.#ready.add(node);
          else this.#ready.delete(node);
        }),
      );
      await Bun.sleep(POLL_MS);
    }
  }
}
