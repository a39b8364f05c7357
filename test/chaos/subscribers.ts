// Buyers who sign up for a daily plan, and days that pass. A request may be lost: then the buyer
// checks the state and sends it again.
import type { Means } from '../support/means.ts';
import type { Random } from '../support/random.ts';
import { ask, type Session, sessionOf, submit } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { Persistent, type PersistentOptions } from './persistent.ts';

export const LIMIT = 100;

const RETRY_MS = 20;
/** A paid entitlement must be usable within this time (decisions 5). */
const SEEN_MS_MAX = 1000;
const DAY_MS = 86_400_000;
/** Cards that are not delayed come more often. */
const MEANS: readonly Means[] = ['good', 'good', 'good', 'answerLost', 'iban'];

export type SubscribersOptions = PersistentOptions & { readonly random: Random };

export class Subscribers {
  /** Violations. */
  readonly faults: string[] = [];
  /** Acknowledged payments. */
  paid = 0;
  begun = 0;
  readonly #options: SubscribersOptions;
  readonly #calls: Persistent;
  readonly #productId: string;
  readonly #signups: Promise<void>[] = [];

  private constructor(options: SubscribersOptions, productId: string) {
    this.#options = options;
    this.#calls = new Persistent(options);
    this.#productId = productId;
  }

  static async open(options: SubscribersOptions): Promise<Subscribers> {
    const seller = { url: await options.target(), key: options.key };
    await ask(seller, 'POST', '/meters', { slug: 'calls', scale: 0 });
    const prices = [{ currency: 'USD', amount: '10.00', type: 'recurring', interval: 'day' }];
    const { id } = await ask(seller, 'POST', '/products', { name: 'Daily', prices });
    const given = { feature_key: 'calls', limit: LIMIT };
    await ask(seller, 'POST', `/products/${id}/entitlements`, given);
    return new Subscribers(options, id);
  }

  /** Signs up this many more subscribers. */
  begin(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const signup = this.#signUp(`buyer-${(this.begun += 1)}`);
      this.#signups.push(signup.catch((error: unknown) => void this.faults.push(String(error))));
    }
  }

  /** Resolves when every subscriber who signed up has what they paid for. */
  async done(): Promise<void> {
    await Promise.all(this.#signups);
  }

  /** Moves the test clock; resolves when it is there. */
  pass(target: number): Promise<void> {
    return this.#calls.pass(target);
  }

  /** The time when every current period has ended. */
  async tomorrow(): Promise<number> {
    return (await this.#calls.now()) + DAY_MS;
  }

  async check(external_customer_id: string): Promise<ReturnType<typeof JSON.parse>> {
    const body = { external_customer_id, feature_key: 'calls' };
    return this.#calls.again((seller) => ask(seller, 'POST', '/check', body));
  }

  async #signUp(name: string): Promise<void> {
    const means = this.#options.random.pick(MEANS);
    const session = await this.#checkout(name);
    let status = 'active';
    await until(
      `${name} has paid`,
      async () => {
        if (status === 'active') await this.#try((url) => submit(url, session, means));
        else if (status === 'processing') await Bun.sleep(RETRY_MS);
        ({ status } = await this.#calls.again((one) =>
          ask(one, 'GET', `/checkouts/${session.id}`),
        ));
        return status === 'paid';
      },
      60_000,
    );
    this.paid += 1;
    await this.#seesAllowance(name);
  }

  /** Counted from the answer, or from when a node can be asked again. */
  async #seesAllowance(name: string): Promise<void> {
    for (;;) {
      const url = await this.#options.target();
      const since = performance.now();
      for (;;) {
        const { allowed, balance } = await this.check(name);
        if (allowed === true && balance === LIMIT) return;
        const isSame = url === (await this.#options.target());
        if (!isSame) break;
        const late = performance.now() - since;
        if (late > SEEN_MS_MAX)
          throw new Error(`${name} has paid and has ${balance} after ${late} ms`);
        await Bun.sleep(RETRY_MS);
      }
    }
  }

  async #checkout(name: string): Promise<Session> {
    const { key } = this.#options;
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    };
    const buyer = { customer_email: `${name}@example.com`, external_customer_id: name };
    const body = JSON.stringify({ product_id: this.#productId, currency: 'USD', ...buyer });
    return this.#calls.again(async ({ url }) => {
      const response = await fetch(`${url}/checkouts`, { method: 'POST', headers, body });
      return sessionOf(await response.json());
    });
  }

  async #try(send: (url: string) => Promise<unknown>): Promise<void> {
    try {
      await send(await this.#options.target());
    } catch {
      // The sender checks what became of it.
    }
  }
}
