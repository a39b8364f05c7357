// Buyers, one checkout after the other, with every kind of card. What they click may be lost: then they look again, and try again.
import type { Means } from '../support/means.ts';
import type { Random } from '../support/random.ts';
import { ask, type Session, sessionOf, submit } from '../support/shop.ts';
import { until } from '../support/until.ts';

export type CheckoutLoadOptions = {
  readonly key: string;
  readonly productId: string;
  readonly buyers: number;
  readonly random: Random;
  /** Where to buy now. */
  readonly target: () => Promise<string>;
  /** Longer than an open charge is left alone, and longer than whatever else may be in its way. */
  readonly stuckMs?: number;
};

const RETRY_MS = 50;
const LOOK_MS = 100;
const ATTEMPTS_MAX = 3;
const DOUBLE_CLICKS = 0.3;
const RELOADS = 0.5;
const RETURNS = 0.8;
const ADDRESSES = 20;
/** Longer than a restart. */
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

/** What somebody does besides clicking. */
type Habits = {
  /** Loads the page again, or only waits. */
  readonly reloads: boolean;
  /** What the bank is told. */
  readonly confirms: boolean;
  /** Comes back from the bank, or has closed the page. */
  readonly returns: boolean;
};

/** Begins when it is made. */
export class CheckoutLoad {
  /** What should never have happened. */
  readonly faults: string[] = [];
  /** What became of each checkout, by its id. */
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

  /** Resolves when every checkout that was begun is paid, or its buyer has given up. */
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

  /** Sends it until it is answered: it has a key. */
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
        // It is being killed.
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
      // The buyer has seen nothing of it, and looks.
    }
  }

  async #decided(checkout: Session, habits: Habits): Promise<string> {
    let status = 'processing';
    await until(
      `checkout ${checkout.id} is decided`,
      async () => {
        status = await this.#look(checkout, habits).catch(() => 'processing');
        if (status === 'processing') await Bun.sleep(LOOK_MS);
        return status !== 'processing';
      },
      this.#options.stuckMs ?? STUCK_MS,
    );
    return status;
  }

  /** Whoever lost the way to the bank finds it again. @throws where the service is being killed */
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

/** The bank leads back to the page, which looks what came of it. */
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
