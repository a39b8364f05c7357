// Buyers, one checkout after the other, with every kind of card. A click may be lost: then the
// buyer looks at the page and tries again.
import type { Means } from '../support/means.ts';
import type { Random } from '../support/random.ts';
import { ask, type Session, sessionOf, submit } from '../support/shop.ts';
import { until } from '../support/until.ts';

export type CheckoutLoadOptions = {
  readonly key: string;
  readonly productId: string;
  readonly buyers: number;
  readonly random: Random;
  /** The node to buy from now. */
  readonly target: () => Promise<string>;
  /** Longer than an open charge is left alone, and than anything else may delay it. */
  readonly stuckMs?: number;
  /** When the service was last started: a checkout has its time from then, however long that took. */
  readonly upSince?: () => number;
};

const RETRY_MS = 50;
const LOOK_MS = 100;
const ATTEMPTS_MAX = 3;
const DOUBLE_CLICKS = 0.3;
const RELOADS = 0.5;
const RETURNS = 0.8;
const ADDRESSES = 20;
/** Of a service that runs. */
const STUCK_MS = 15_000;

const MEANS: readonly Means[] = [
  'good',
  'answerLost',
  'requestLost',
  'declined',
  'error',
  'challenge',
  'challengeDeclined',
  'iban',
  'ibanFails',
];

/** What a buyer does besides clicking. */
type Habits = {
  /** Reloads the page, or only waits. */
  readonly reloads: boolean;
  /** The answer on the bank's page. */
  readonly confirms: boolean;
  /** Returns from the bank, or has closed the page. */
  readonly returns: boolean;
};

/** Starts when it is made. */
export class CheckoutLoad {
  /** Violations. */
  readonly faults: string[] = [];
  /** The outcome of each checkout, by its id. */
  readonly seen = new Map<string, string>();
  answers = 0;
  readonly #options: CheckoutLoadOptions;
  readonly #running: Promise<unknown>;
  readonly #stopping = new AbortController();
  #keys = 0;

  constructor(options: CheckoutLoadOptions) {
    this.#options = options;
    this.#running = Promise.all(Array.from({ length: options.buyers }, () => this.#run()));
  }

  async moreAnswers(count: number): Promise<void> {
    const enough = this.answers + count;
    await until(`${count} more answers`, () => this.answers >= enough);
  }

  /** Resolves when every checkout is paid, or its buyer has given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#purchase();
      } catch (error) {
        this.faults.push(String(error));
        return;
      }
    }
  }

  async #purchase(): Promise<void> {
    const { random } = this.#options;
    const checkout = await this.#open();
    const habits = {
      reloads: random.chance(RELOADS),
      confirms: random.chance(0.5),
      returns: random.chance(RETURNS),
    };
    let status = 'active';
    for (let attempt = 0; attempt < ATTEMPTS_MAX && status === 'active'; attempt += 1) {
      const means = random.pick(MEANS);
      const clicks = random.chance(DOUBLE_CLICKS) ? [means, means] : [means];
      await Promise.all(clicks.map((one) => this.#click(checkout, one, habits)));
      status = await this.#decided(checkout, habits);
    }
    this.seen.set(checkout.id, status);
  }

  /** Retries until it is answered: it has a key. */
  async #open(): Promise<Session> {
    const { key, productId, random, target } = this.#options;
    const address = `buyer-${random.integer(1, ADDRESSES)}@example.com`;
    const body = JSON.stringify({ product_id: productId, customer_email: address });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': `checkout ${(this.#keys += 1)}`,
    };
    for (;;) {
      const url = await target();
      try {
        const response = await fetch(`${url}/checkouts`, { method: 'POST', headers, body });
        if (response.status === 201) return sessionOf(await response.json());
      } catch {
        // The node is being killed.
      }
      await Bun.sleep(RETRY_MS);
    }
  }

  async #click(checkout: Session, means: Means, habits: Habits): Promise<void> {
    const url = await this.#options.target();
    try {
      const location = await submit(url, checkout, means);
      this.answers += 1;
      const payment = /\/sandbox\/challenges\/([\w-]+)$/.exec(location)?.[1];
      if (payment !== undefined) await answerBank(url, { checkout, payment }, habits);
    } catch {
      // The buyer has got no answer, and looks at the page.
    }
  }

  /** Counted from the click, or from when the service is up again. */
  async #decided(checkout: Session, habits: Habits): Promise<string> {
    const { stuckMs = STUCK_MS, upSince = () => 0 } = this.#options;
    const clicked = performance.now();
    for (;;) {
      const status = await this.#look(checkout, habits).catch(() => 'processing');
      if (status !== 'processing') return status;
      if (performance.now() - Math.max(clicked, upSince()) > stuckMs) {
        throw new Error(`not within ${stuckMs} ms: checkout ${checkout.id} is decided`);
      }
      await Bun.sleep(LOOK_MS);
    }
  }

  /**
   * A buyer who lost the link to the bank's page finds it again. @throws while the service is being
   * killed
   */
  async #look(checkout: Session, habits: Habits): Promise<string> {
    const url = await this.#options.target();
    const seller = { url, key: this.#options.key };
    if (habits.reloads) await load(url, checkout);
    const { status } = await ask(seller, 'GET', `/checkouts/${checkout.id}`);
    if (status !== 'processing') return status;
    const { data } = await ask(seller, 'GET', `/payments?checkout_id=${checkout.id}`);
    for (const payment of data as { id: string; status: string }[]) {
      if (payment.status === 'requires_action') {
        await answerBank(url, { checkout, payment: payment.id }, habits);
      }
    }
    return 'processing';
  }
}

/** The bank redirects to the page, which shows the outcome. */
async function answerBank(
  url: string,
  { checkout, payment }: { readonly checkout: Session; readonly payment: string },
  { confirms, returns }: Habits,
): Promise<void> {
  const body = new URLSearchParams({ answer: confirms ? 'complete' : 'fail' });
  const address = `${url}/sandbox/challenges/${payment}`;
  await (await fetch(address, { method: 'POST', body, redirect: 'manual' })).text();
  if (returns) await load(url, checkout);
}

async function load(url: string, { token }: Session): Promise<void> {
  await (await fetch(`${url}/pay/${token}`)).text();
}
