// Subscribers that act at once, by every means of payment: what they may do, and when all is
// decided.
import type { Means } from '../../support/means.ts';
import type { Random } from '../../support/random.ts';
import type { Reply } from '../../support/server.ts';
import { settle } from '../../support/settling.ts';
import { until } from '../../support/until.ts';
import { FAILS_LATER, GOOD, type Portal, portalOf } from '../portal/customer.ts';
import { Club, type Plan } from './subscribing.ts';

/** The most that lies between actions that are sent at once. */
const APART_MS_MAX = 60;

export type Member = { readonly id: string; readonly portal: Portal };
export type Move = { readonly name: string; readonly run: (one: Member) => Promise<Reply> };

export class Racing {
  readonly club: Club;
  readonly #plan: Plan;
  readonly #dearer: string;

  private constructor(club: Club, { plan, dearer }: { plan: Plan; dearer: string }) {
    this.club = club;
    this.#plan = plan;
    this.#dearer = dearer;
  }

  static async open(): Promise<Racing> {
    const club = await Club.open();
    const plan = await club.plan();
    const dearer = await club.price(plan, { amount: '50.00', interval: 'week' });
    return new Racing(club, { plan, dearer });
  }

  close(): Promise<void> {
    return this.club.close();
  }

  async member(means: Means): Promise<Member> {
    const { club } = this;
    const session = await club.checkout(this.#plan);
    const { id, subscription_id } = await club.pay(session, means);
    if (means === 'answerLost' || means === 'iban') await club.advance('PT1M');
    const { customer_id } = await club.shop.paymentThatIs('succeeded', id);
    return { id: subscription_id, portal: await portalOf(club.shop.server, customer_id) };
  }

  async members(count: number, means: Means): Promise<Member[]> {
    const all: Member[] = [];
    for (let left = count; left > 0; left -= 1) all.push(await this.member(means));
    return all;
  }

  readonly api = (action: string, body?: object): Move => ({
    name: action,
    run: ({ id }) => this.club.post(`/subscriptions/${id}/${action}`, body),
  });

  readonly byPortal = (action: string, body: object = {}): Move => ({
    name: `portal ${action}`,
    run: ({ id, portal }) => portal.post(action, { subscription_id: id, ...body }),
  });

  readonly lastInvoice = (action: string): Move => ({
    name: `invoice ${action}`,
    run: async ({ id }) => {
      const invoice = (await this.club.invoices(id)).at(-1);
      return this.club.post(`/invoices/${invoice.id}/${action}`);
    },
  });

  readonly card = (number: string): Move => ({
    name: `card ${number}`,
    run: ({ portal }) => portal.saveCard(number),
  });

  moves(): readonly Move[] {
    const { api, byPortal, lastInvoice, card } = this;
    return [
      api('cancel'),
      api('cancel', { mode: 'immediate' }),
      api('uncancel'),
      api('pause'),
      api('pause', { keep_invoices: true }),
      api('resume'),
      api('change', { quantity: 2 }),
      api('change', { quantity: 1 }),
      api('change', { price_id: this.#dearer }),
      api('change', { price_id: this.#plan.priceId }),
      byPortal('cancel'),
      byPortal('uncancel'),
      byPortal('pause'),
      byPortal('resume'),
      lastInvoice('pay'),
      lastInvoice('void'),
      lastInvoice('finalize'),
      card(GOOD),
      card(FAILS_LATER),
    ];
  }

  /**
   * Moves the test clock while a bank has not answered: a renewal may be the last thing that it
   * reached.
   */
  async untilDecided(ids: readonly string[]): Promise<void> {
    const { server } = this.club.shop;
    await until('all is decided', async () => {
      await settle(server);
      const [row] = await server.sql<{ open: number }[]>`
        select (select count(*) from payments where status = 'processing' and subscription_id = any(${ids}::uuid[]))::int
          + (select count(*) from followups f left join payments p on p.id = f.payment_id
              where f.subscription_id = any(${ids}::uuid[]) or p.subscription_id = any(${ids}::uuid[]))::int as open`;
      return row!.open === 0;
    });
  }
}

/** Of several that act at once, the moment of one. */
export const aMoment = (random: Random): Promise<void> =>
  Bun.sleep(random.integer(0, APART_MS_MAX));
