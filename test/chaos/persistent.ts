// Calls that are sent again until they are answered, and the test clock moved with them. A request
// may be lost: so every call must be one that may be repeated.
import { ask, type Seller } from '../support/shop.ts';

const RETRY_MS = 20;

export type PersistentOptions = {
  readonly key: string;
  /** The node to call now. */
  readonly target: () => Promise<string>;
};

export class Persistent {
  readonly #options: PersistentOptions;

  constructor(options: PersistentOptions) {
    this.#options = options;
  }

  /** Retries until it is answered. */
  async again<T>(send: (seller: Seller) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.once(send);
      } catch {
        await Bun.sleep(RETRY_MS);
      }
    }
  }

  /** @throws where it is not answered */
  async once<T>(send: (seller: Seller) => Promise<T>): Promise<T> {
    return send({ url: await this.#options.target(), key: this.#options.key });
  }

  /** Moves the test clock; resolves when it is there. */
  async pass(until: number): Promise<void> {
    const now = new Date(until).toISOString();
    while ((await this.now()) < until) {
      await this.once((seller) => ask(seller, 'POST', '/test-clock', { now })).catch(() =>
        Bun.sleep(RETRY_MS),
      );
    }
  }

  async now(): Promise<number> {
    const { now } = await this.again((seller) => ask(seller, 'GET', '/test-clock'));
    return Date.parse(now);
  }
}
