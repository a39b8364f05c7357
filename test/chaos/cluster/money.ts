// Buyers, refunds and signups at any node of a cluster, until they are stopped; and what must hold
// at their end.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Means } from '../../support/means.ts';
import type { Random } from '../../support/random.ts';
import { ask, buy, sell } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { CheckoutLoad } from '../checkout-load.ts';
import { wrongCheckouts } from '../checkout-verdict.ts';
import { RefundLoad, randomWishes, type Wish } from '../refund-load.ts';
import { wrongRefunds } from '../refund-verdict.ts';
import { LIMIT, Subscribers } from '../subscribers.ts';
import { createKeys } from '../tenant.ts';
import type { Tally } from './tally.ts';

const BUYERS = 2;
const RETRY_MS = 100;
const REST_MS = 500;
const SIGNUP_MS = 3000;
const WISHES = 24;
/** How long a buyer may see a pending charge, whatever is disturbed meanwhile. */
const STUCK_MS = 90_000;
const CARDS: readonly Means[] = ['good', 'refundPends', 'refundFailsLate', 'answerLost'];
const PRICE = '10.00';

export type MoneyOptions = {
  readonly databaseUrl: string;
  readonly random: Random;
  readonly target: () => Promise<string>;
  readonly tally: Tally;
};

type Shop = { readonly id: string; readonly testKey: string; readonly liveKey: string };

/** Starts when it is opened. */
export class Money {
  readonly organisations: readonly string[];
  readonly #options: MoneyOptions;
  readonly #checkouts: CheckoutLoad;
  readonly #checkoutShop: Shop;
  readonly #refunder: { readonly key: string; readonly productId: string };
  readonly #subscribers: Subscribers;
  readonly #refunded = { refunds: new Map<string, Wish>(), lost: [] as Wish[] };
  readonly #faults: string[] = [];
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(
    options: MoneyOptions,
    parts: {
      readonly checkoutShop: Shop;
      readonly productId: string;
      readonly refundShop: Shop;
      readonly refundable: string;
      readonly signupShop: Shop;
      readonly subscribers: Subscribers;
    },
  ) {
    const { checkoutShop, refundShop, signupShop } = parts;
    const { random, target } = options;
    this.#options = options;
    this.organisations = [checkoutShop.id, refundShop.id, signupShop.id];
    this.#checkoutShop = checkoutShop;
    this.#refunder = { key: refundShop.testKey, productId: parts.refundable };
    this.#subscribers = parts.subscribers;
    this.#checkouts = new CheckoutLoad({
      key: checkoutShop.testKey,
      productId: parts.productId,
      buyers: BUYERS,
      stuckMs: STUCK_MS,
      random,
      target,
    });
    this.#running = Promise.all([this.#refund(), this.#signUp()]);
  }

  /** `prepare` gets the key of each organisation while it is empty. */
  static async open(
    options: MoneyOptions,
    prepare: (key: string) => Promise<unknown>,
  ): Promise<Money> {
    const { databaseUrl, target, random } = options;
    const shop = async (): Promise<Shop> => {
      const made = await createKeys(databaseUrl);
      await prepare(made.testKey);
      return made;
    };
    const [checkoutShop, refundShop, signupShop] = [await shop(), await shop(), await shop()];
    const url = await target();
    const productId = await sell({ url, key: checkoutShop.testKey }, { USD: PRICE, EUR: '9.00' });
    const refundable = await sell({ url, key: refundShop.testKey }, { USD: PRICE });
    const subscribers = await Subscribers.open({ key: signupShop.testKey, random, target });
    return new Money(options, {
      checkoutShop,
      productId,
      refundShop,
      refundable,
      signupShop,
      subscribers,
    });
  }

  /** Resolves when everything that has begun is done. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#running, this.#checkouts.stop(), this.#subscribers.done()]);
  }

  /** What is wrong, one line each. No outbox task may be open any more. */
  async violations(sql: Sql): Promise<string[]> {
    const wrong = [...this.#faults, ...this.#checkouts.faults, ...this.#subscribers.faults];
    wrong.push(...(await wrongCheckouts(sql, this.#checkoutShop.id, this.#checkouts)));
    wrong.push(...(await wrongRefunds(sql, this.#refunded)));
    const { paid, begun } = this.#subscribers;
    if (paid !== begun) wrong.push(`${paid} of ${begun} subscribers have what they paid for`);
    for (let buyer = 1; buyer <= begun; buyer += 1) {
      const { allowed, balance } = await this.#subscribers.check(`buyer-${buyer}`);
      if (allowed !== true || balance !== LIMIT) wrong.push(`buyer-${buyer} has ${balance} left`);
    }
    return wrong;
  }

  lines(): string[] {
    const seen = [...this.#checkouts.seen.values()];
    const paid = seen.filter((status) => status === 'paid').length;
    const { refunds, lost } = this.#refunded;
    return [
      `checkouts  ${seen.length} decided, ${paid} of them paid`,
      `refunds    ${refunds.size} accepted, ${lost.length} without a key never answered`,
      `signups    ${this.#subscribers.paid} paid and in use`,
    ];
  }

  async #signUp(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#subscribers.begin(1);
      await this.#rest(SIGNUP_MS);
    }
  }

  /**
   * One payment after the other, each refunded by many callers at once until nothing is left of it.
   */
  async #refund(): Promise<void> {
    const { random, target, tally } = this.#options;
    const { key } = this.#refunder;
    while (!this.#stopping.signal.aborted) {
      const payment = await this.#payment();
      if (payment === null) continue;
      const wishes = randomWishes(random, payment, WISHES);
      const load = new RefundLoad({ key, wishes, random, target });
      await load.done;
      await load.repeat();
      await load.stopReading();
      this.#faults.push(...load.faults);
      this.#refunded.lost.push(...load.lost);
      for (const [id, wish] of load.refunds) this.#refunded.refunds.set(id, wish);
      tally.count('refund', 200);
      await this.#rest(REST_MS);
    }
  }

  /** A payment that succeeded; null where its buyer lost the way. */
  async #payment(): Promise<string | null> {
    const { random, target } = this.#options;
    const { key, productId } = this.#refunder;
    try {
      const url = await target();
      const payment = await buy(
        { url, key },
        { product_id: productId, means: [random.pick(CARDS)] },
      );
      await until(
        'it is paid',
        async () => {
          const seller = { url: await target(), key };
          const { status } = await ask(seller, 'GET', `/payments/${payment}`).catch(() => ({}));
          if (status !== 'succeeded') await Bun.sleep(RETRY_MS);
          return status === 'succeeded';
        },
        STUCK_MS,
      );
      return payment;
    } catch {
      await this.#rest(RETRY_MS);
      return null;
    }
  }

  async #rest(ms: number): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      if (this.#stopping.signal.aborted) resolve();
      this.#stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([stopped, Bun.sleep(ms)]);
  }
}
