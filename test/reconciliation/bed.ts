// A shop whose payments a fake of Stripe takes, and its reconciliation, at any time.
import type Stripe from 'stripe';
import type { Clock } from '../../ledger/ports.ts';
import { clock, timers } from '../../src/platform/clock.ts';
import { openSecrets } from '../../src/platform/crypto/secrets.ts';
import { ids } from '../../src/platform/ids.ts';
import { openLog } from '../../src/platform/log.ts';
import { stripeClient } from '../../src/processors/stripe/client.ts';
import { booksOpener } from '../../src/reconciliation/open.ts';
import type { BackgroundWork } from '../../src/platform/background/background-work.ts';
import { reconciler } from '../../src/reconciliation/reconciler.ts';
import { mendBy } from '../../src/service/reconciliation.ts';
import type { Call } from '../support/server.ts';
import { until } from '../support/until.ts';
import { TEST_SECRETS_KEY } from '../support/settings.ts';
import { type Payment, Shop } from '../payments/shop.ts';
import {
  type AccountBooks,
  type FakeAccount,
  openStripeFake,
  type StripeFake,
} from '../processors/stripe/fake.ts';
import type { Session } from '../support/shop.ts';

/** Beyond the margin, so that a run sees what has just happened. */
const AHEAD_MS = 20 * 60_000;
const CARD = '4242424242424242';

/** What is open of an account, in the order in which it was found. */
export type Open = { readonly subject: string; readonly kind: string; readonly key: string };

export class Bed {
  readonly shop: Shop;
  readonly fake: StripeFake;
  readonly account: FakeAccount;
  /** What the reconciler logged. */
  readonly logged: string[] = [];

  private constructor(shop: Shop, fake: StripeFake, account: FakeAccount) {
    this.shop = shop;
    this.fake = fake;
    this.account = account;
  }

  static async open(): Promise<Bed> {
    const fake = await openStripeFake();
    const account = fake.newAccount();
    const shop = await Shop.open({ own: true, settings: { stripeApiUrl: new URL(fake.url) } });
    const bed = new Bed(shop, fake, account);
    await bed.connect(account);
    return bed;
  }

  async close(): Promise<void> {
    await this.shop.close();
    await this.fake.close();
  }

  /** As the organisation of `key`; without one, the shop's. */
  async connect({ testKey }: FakeAccount, key?: Call['key']): Promise<void> {
    const body = { type: 'stripe', secret_key: testKey };
    const { status, text } = await this.shop.server.call('PUT', '/organization/processor', {
      body,
      ...(key !== undefined && { key }),
    });
    if (status !== 200) throw new Error(`not connected: ${status} ${text}`);
  }

  get books(): AccountBooks {
    return this.fake.books(this.account.id, 'test');
  }

  /** The merchant's own program, or the merchant in the dashboard. */
  get stripe(): Stripe {
    return stripeClient({ key: this.account.testKey, apiUrl: new URL(this.fake.url) });
  }

  /** Charges that have nothing to do with us. */
  async sellElsewhere(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const price_data = { currency: 'usd', unit_amount: 700, product_data: { name: 'Hat' } };
      const { url } = await this.stripe.checkout.sessions.create({
        mode: 'payment',
        line_items: [{ quantity: 1, price_data }],
        success_url: 'https://hats.example',
      });
      await this.fake.buyer.pays(url ?? '', CARD);
    }
  }

  /** The payment's charge at Stripe. */
  chargeOf({ id }: Payment): Stripe.Charge {
    const charge = this.books.charges.find(({ metadata }) => metadata['key'] === id);
    if (charge === undefined) throw new Error(`no charge of ${id}`);
    return charge;
  }

  intentOf(payment: Payment): string {
    const { payment_intent: intent } = this.chargeOf(payment);
    if (typeof intent !== 'string') throw new Error('a charge without an intent');
    return intent;
  }

  /** A buyer pays at Stripe; nobody here hears of it. */
  async payThere(card = CARD): Promise<Session> {
    const session = await this.shop.checkout();
    const outcome = await this.shop.pay(session, { instrument: null });
    if (outcome.kind !== 'requires_action') throw new Error(`not led to Stripe: ${outcome.kind}`);
    await this.fake.buyer.pays(outcome.url, card);
    return session;
  }

  /** A buyer pays at Stripe, and comes back. */
  async buy(card = CARD): Promise<Payment> {
    const session = await this.payThere(card);
    const { id } = await this.shop.lastOf(session);
    await this.shop.server.payments.refresh(id);
    return this.shop.payment(id);
  }

  async refund({ id }: Payment, amount: string): Promise<Payment> {
    const { json } = await this.shop.server.call('POST', `/payments/${id}/refund`, {
      body: { amount },
    });
    return json;
  }

  /** A node's reconciler, by a clock that is ahead. */
  reconciler(aheadMs = AHEAD_MS): BackgroundWork {
    const { sql } = this.shop.server;
    return reconciler({
      sql,
      ids,
      timers,
      mend: mendBy(this.shop.server.payments),
      log: openLog('debug', (line) => this.logged.push(line)),
      clock: { ...clock, now: () => clock.now() + aheadMs } satisfies Clock,
      booksOf: booksOpener({
        secrets: openSecrets(TEST_SECRETS_KEY),
        apiUrl: new URL(this.fake.url),
      }),
    });
  }

  /** A night after the last one, in which each account is reconciled to its end. */
  async night(node = this.reconciler()): Promise<void> {
    await this.dayPasses();
    await this.untilReconciled(node);
  }

  /**
   * Accounts and runs are a day older: neither Stripe's clock nor ours can go on without the other.
   */
  async dayPasses(): Promise<void> {
    const { sql } = this.shop.server;
    await sql`update processor_accounts set connected_at = connected_at - interval '1 day'`;
    await sql`
      update reconciliation_runs set begun_at = begun_at - interval '1 day', since = since - interval '1 day',
        until = until - interval '1 day', ours_since = ours_since - interval '1 day', ours_until = ours_until - interval '1 day'`;
  }

  async untilReconciled(node: BackgroundWork): Promise<void> {
    await until('reconciled', async () => {
      await this.shop.server
        .sql`update reconciliation_runs set next_at = now() where finished_at is null`;
      await node.work();
      const open = await this.shop.server
        .sql`select from reconciliation_runs where finished_at is null`;
      return open.length === 0;
    });
  }

  open(): Promise<Open[]> {
    return this.shop.server.sql<Open[]>`
      select subject, kind, key from reconciliation_differences where resolved_at is null order by found_at, id`;
  }
}
