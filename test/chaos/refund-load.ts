// Many callers who refund the same payments at once. A caller with a key retries until it is
// answered, sometimes twice in parallel; one without a key tries once and may never learn the
// outcome.
import { must } from '../../ledger/kernel/assert.ts';
import { parseMoney } from '../../ledger/kernel/money.ts';
import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';

export type Wish = {
  readonly payment: string;
  readonly amount: string;
  readonly key: string | null;
};

export type RefundLoadOptions = {
  readonly key: string;
  readonly wishes: readonly Wish[];
  readonly random: Random;
  /** The node to call now. */
  readonly target: () => Promise<string>;
};

const RETRY_MS = 50;
const KEYED = 0.8;
const TWINS = 0.3;
const CENTS_MAX = 150;

export function randomWishes(random: Random, payment: string, count: number): Wish[] {
  return Array.from({ length: count }, (_, index) => {
    const amount = random.integer(1, CENTS_MAX);
    return {
      payment,
      amount: `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`,
      key: random.chance(KEYED) ? `${payment} ${index}` : null,
    };
  });
}

/** Starts when it is made. */
export class RefundLoad {
  /** Answers and reads that must not occur. */
  readonly faults: string[] = [];
  /** Acknowledged refunds, by id. */
  readonly refunds = new Map<string, Wish>();
  /** Unanswered requests without a key. */
  readonly lost: Wish[] = [];
  /** Resolves when every request is answered or lost. */
  readonly done: Promise<unknown>;
  answers = 0;
  snapshots = 0;
  readonly #options: RefundLoadOptions;
  readonly #texts = new Map<string, string>();
  readonly #readers: Promise<unknown>;
  readonly #reading = new AbortController();

  constructor(options: RefundLoadOptions) {
    this.#options = options;
    const { wishes, random } = options;
    const payments = new Set(wishes.map(({ payment }) => payment));
    this.#readers = Promise.all([...payments].map((payment) => this.#read(payment)));
    const calls = wishes.flatMap((wish) =>
      wish.key !== null && random.chance(TWINS) ? [wish, wish] : [wish],
    );
    this.done = Promise.all(calls.map((wish) => this.#untilKnown(wish)));
  }

  async moreAnswers(count: number): Promise<void> {
    const enough = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= enough);
  }

  /** Sends every key once more: each answer must have the same bytes. */
  async repeat(): Promise<void> {
    const keyed = this.#options.wishes.filter(({ key }) => key !== null);
    await Promise.all(keyed.map((wish) => this.#untilKnown(wish)));
  }

  async stopReading(): Promise<void> {
    this.#reading.abort();
    await this.#readers;
  }

  async #untilKnown(wish: Wish): Promise<void> {
    while (!(await this.#attempt(wish))) {
      if (wish.key === null) {
        this.lost.push(wish);
        return;
      }
      await Bun.sleep(RETRY_MS);
    }
  }

  /** Whether the outcome is known now. */
  async #attempt(wish: Wish): Promise<boolean> {
    const { status, text } = await this.#send(wish);
    const isLater = status === 409 && text.includes('idempotency_in_progress');
    if (status === 0 || status === 503 || isLater) return false;
    if (status === 200 || (status === 400 && text.includes('validation_error'))) {
      this.#enter(wish, status, text);
    } else {
      this.faults.push(`${JSON.stringify(wish)}: ${status} ${text}`);
    }
    return true;
  }

  /** Status 0 where no answer came. */
  async #send({ payment, amount, key }: Wish): Promise<{ status: number; text: string }> {
    const url = await this.#options.target();
    try {
      const response = await fetch(`${url}/payments/${payment}/refund`, {
        method: 'POST',
        headers: {
          ...this.#headers,
          'content-type': 'application/json',
          ...(key !== null && { 'idempotency-key': key }),
        },
        body: JSON.stringify({ amount }),
      });
      return { status: response.status, text: await response.text() };
    } catch {
      return { status: 0, text: '' };
    }
  }

  #enter(wish: Wish, status: number, text: string): void {
    this.answers += 1;
    if (status === 200) this.refunds.set((JSON.parse(text) as { id: string }).id, wish);
    if (wish.key === null) return;
    const before = this.#texts.get(wish.key) ?? text;
    if (before !== text) this.faults.push(`${wish.key}: first ${before}, then ${text}`);
    this.#texts.set(wish.key, text);
  }

  /** Reads the payment all the time. */
  async #read(payment: string): Promise<void> {
    while (!this.#reading.signal.aborted) {
      const url = await this.#options.target();
      try {
        const response = await fetch(`${url}/payments/${payment}`, { headers: this.#headers });
        if (response.status !== 200) throw new Error(await response.text());
        const wrong = wrongSnapshot((await response.json()) as Snapshot);
        if (wrong !== null) this.faults.push(wrong);
        this.snapshots += 1;
      } catch {
        // The node is being killed, or waits for the seat.
        await Bun.sleep(RETRY_MS);
      }
    }
  }

  get #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#options.key}` };
  }
}

type Snapshot = Readonly<
  Record<
    'id' | 'status' | 'amount' | 'amount_refunded' | 'amount_refund_pending' | 'refundable_amount',
    string
  >
>;

/** What no reader may ever see. */
function wrongSnapshot(payment: Snapshot): string | null {
  const amount = cents(payment.amount);
  const refunded = cents(payment.amount_refunded);
  const pending = cents(payment.amount_refund_pending);
  const partly = refunded < amount ? 'partially_refunded' : 'refunded';
  const isSound =
    refunded + pending <= amount &&
    cents(payment.refundable_amount) === amount - refunded - pending &&
    payment.status === (refunded === 0n ? 'succeeded' : partly);
  return isSound ? null : `a reader saw ${JSON.stringify(payment)}`;
}

export function cents(text: string): bigint {
  const amount = parseMoney(text, 'USD');
  return must(typeof amount === 'bigint' ? amount : null, text);
}
