// Callers who use and hold what customers have prepaid. Each call is sent again until it is
// answered: now and then twice at once, or again later.
import { must } from '../../ledger/kernel/assert.ts';
import type { Random } from '../support/random.ts';
import { call, type Sender } from './call.ts';
import type { Asked, PrepaidBook } from './prepaid-book.ts';
import { PrepaidCalls } from './prepaid-calls.ts';
import { wrongRows } from './prepaid-reckoning.ts';

const RETRY_MS = 20;
const TWINS = 0.1;
const AGAIN = 0.1;
const REMEMBERED = 100;
const READ_MS = 10;

type Options = {
  readonly book: PrepaidBook;
  readonly random: Random;
  /** An organisation's key. */
  readonly key: string;
  /** The node to call now. */
  readonly target: () => Promise<string>;
};

export class PrepaidLoad {
  /** How often balances were read. */
  readings = 0;
  readonly #options: Options;
  readonly #calls: PrepaidCalls;
  readonly #answered: Asked[] = [];
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    this.#calls = new PrepaidCalls(options);
  }

  start(callers: number): void {
    const loop = async (step: () => Promise<unknown>): Promise<void> => {
      while (!this.#stopping.signal.aborted) await step();
    };
    this.#running = Promise.all([
      ...Array.from({ length: callers }, () => loop(() => this.#step())),
      loop(() => this.#read()),
    ]);
  }

  /** Resolves when every call is answered. Holds are still open. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Then nothing is held. */
  async resolveAll(): Promise<void> {
    for (const hold of this.#calls.open.splice(0)) {
      await this.#untilAnswered(this.#calls.end(hold));
    }
  }

  get #random(): Random {
    return this.#options.random;
  }

  async #step(): Promise<void> {
    const asked = this.#next();
    const times = this.#random.chance(TWINS) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => this.#untilAnswered(asked)));
    if (asked.after !== undefined) return asked.after();
    this.#answered.push(asked);
    if (this.#answered.length > REMEMBERED) this.#answered.shift();
  }

  #next(): Asked {
    const random = this.#random;
    if (this.#answered.length > 0 && random.chance(AGAIN)) return random.pick(this.#answered);
    const customer = random.pick(this.#options.book.customers);
    const what = random.integer(1, 20);
    if (what === 1) return this.#calls.grant(customer);
    if (what <= 8) return this.#calls.use(customer);
    const { open } = this.#calls;
    if (what <= 14 || open.length === 0) return this.#calls.reserve(customer);
    const [hold] = open.splice(random.integer(0, open.length - 1), 1);
    return this.#calls.resolve(must(hold, 'an open hold'));
  }

  async #untilAnswered(asked: Asked): Promise<void> {
    const { book } = this.#options;
    for (;;) {
      const wasKnown = book.isKnown(asked);
      try {
        const answer = await call(await this.#sender(), asked.path, asked.body);
        if (answer.status !== 503) return book.hear(asked, answer, wasKnown);
      } catch {
        // The outcome is unknown.
      }
      book.unanswered += 1;
      await Bun.sleep(RETRY_MS);
    }
  }

  async #sender(): Promise<Sender> {
    return { url: await this.#options.target(), key: this.#options.key };
  }

  /** What a reader sees fits together at any moment. */
  async #read(): Promise<void> {
    const { book } = this.#options;
    const customer = this.#random.pick(book.customers);
    try {
      const answer = await call(await this.#sender(), `/customers/${customer.id}/balances`);
      if (answer.status === 200) {
        book.faults.push(...wrongRows(customer, answer.json.data));
        this.readings += 1;
      }
    } catch {
      // It is killed.
    }
    await Bun.sleep(READ_MS);
  }
}
