// What buyers and customers do where they are led to Stripe's page and back.
import { expect } from 'bun:test';
import { made, subscribe } from '../http/portal/customer.ts';
import { openStripeFake, type StripeFake } from '../processors/stripe/fake.ts';
import { NUMBERS } from '../support/means.ts';
import { type Bed, openBed } from './bed.ts';
import type { Journey } from './journeys.ts';
import type { Visitor } from './visitor.ts';

export const GOOD = NUMBERS.good;
const { declined: DECLINED, challenge: CHALLENGED, iban: IBAN } = NUMBERS;

/** A shop that has connected Stripe. */
export type StripeBed = { readonly bed: Bed; readonly fake: StripeFake; close(): Promise<void> };

export async function openStripeBed(): Promise<StripeBed> {
  const fake = await openStripeFake();
  fake.webhooks.mode = 'off';
  const bed = await openBed({ stripeApiUrl: new URL(fake.url) });
  const body = { type: 'stripe', secret_key: fake.newAccount().testKey };
  expect((await bed.server.call('PUT', '/organization/processor', { body })).status).toBe(200);
  return {
    bed,
    fake,
    async close() {
      await bed.close();
      await fake.close();
    },
  };
}

const thanks = ({ bed }: StripeBed, id: string) =>
  `${bed.shopUrl}/thanks?status=paid&payment_link_id=${id}`;
export const statusOf = async ({ bed }: StripeBed, id: string) =>
  (await bed.server.call('GET', `/checkouts/${id}`)).json.status;

async function opened({ bed }: StripeBed, visitor: Visitor): Promise<{ id: string }> {
  const { id, url } = await bed.checkout({ success_url: `${bed.shopUrl}/thanks` });
  await visitor.open(url);
  return { id };
}

/** On the form that leads there. */
async function goOn({ fake }: StripeBed, visitor: Visitor): Promise<void> {
  await visitor.press('Continue to payment');
  await visitor.arrive(`${fake.url}/c/pay/**`);
}

export async function enter(visitor: Visitor, number: string): Promise<void> {
  await visitor.fill('number', number);
  await visitor.fill('expiry', '12 / 34');
  await visitor.fill('cvc', '123');
  await visitor.press('Pay');
}

export const STRIPE_JOURNEYS: readonly Journey<StripeBed>[] = [
  {
    what: 'a buyer pays there, and is sent on',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      expect(await visitor.body()).toContain('on the next page, at Stripe.');
      expect(await visitor.count({ field: 'card_number' })).toBe(0);
      await goOn(place, visitor);
      await enter(visitor, GOOD);
      await visitor.arrive(thanks(place, id));
      expect(await statusOf(place, id)).toBe('paid');
    },
  },
  {
    what: 'the bank asks: a buyer who agrees is sent on, one who does not tries again there',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      await enter(visitor, CHALLENGED);
      await visitor.arrive(`${place.fake.url}/3ds/**`);
      await visitor.press('Fail');
      await visitor.arrive(`${place.fake.url}/c/pay/**`);
      await visitor.alert();
      await enter(visitor, CHALLENGED);
      await visitor.arrive(`${place.fake.url}/3ds/**`);
      await visitor.press('Complete');
      await visitor.arrive(thanks(place, id));
    },
  },
  {
    what: 'declined, then another card, on the page of Stripe',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      await enter(visitor, DECLINED);
      await visitor.alert();
      await enter(visitor, GOOD);
      await visitor.arrive(thanks(place, id));
    },
  },
  {
    what: 'a buyer comes back, goes on, comes back, changes the order, and pays',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      const first = visitor.url();
      await visitor.follow('Back');
      await visitor.heading('Your payment is not finished');
      await visitor.follow('Continue to payment');
      await visitor.arrive(first);
      await visitor.follow('Back');
      await visitor.press('Change the order');
      await visitor.button('Continue to payment');
      expect(await visitor.count({ role: 'alert' })).toBe(0);
      await goOn(place, visitor);
      expect(visitor.url()).not.toBe(first);
      await enter(visitor, GOOD);
      await visitor.arrive(thanks(place, id));
    },
  },
  {
    what: 'declined there, and back: the form says why, and pays with another card',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      await enter(visitor, DECLINED);
      await visitor.alert();
      await visitor.follow('Back');
      await visitor.press('Change the order');
      expect(await visitor.alert()).toContain('Your card was declined.');
      await goOn(place, visitor);
      await enter(visitor, GOOD);
      await visitor.arrive(thanks(place, id));
    },
  },
  {
    what: 'paid in one tab, and given up in another that has not heard of it: sent on',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      const session = visitor.url();
      await visitor.follow('Back');
      await visitor.heading('Your payment is not finished');
      expect(await place.fake.buyer.pays(session, GOOD)).toBe('paid');
      // The page may have noticed by itself.
      await visitor.press('Change the order').catch(() => null);
      await visitor.arrive(thanks(place, id));
      expect(await statusOf(place, id)).toBe('paid');
    },
  },
  {
    what: 'a bank debit is waited for',
    async go(place, { visitor }) {
      const { id } = await opened(place, visitor);
      await goOn(place, visitor);
      await visitor.fill('iban', IBAN);
      await visitor.press('Pay');
      await visitor.heading('Your bank is processing it');
      place.fake.settle();
      await visitor.arrive(thanks(place, id));
    },
  },
  {
    what: 'a customer saves a card in the portal',
    async go({ bed, fake }, { visitor }) {
      const { id: customer } = await made(bed.server, '/customers', { name: 'Ada Lovelace' });
      const { url } = await made(bed.server, `/customers/${customer}/portal-tokens`, {});
      await subscribe(bed.server, customer);
      await visitor.open(url);
      await visitor.follow('Add a payment method');
      await visitor.press('Continue to Stripe');
      await visitor.arrive(`${fake.url}/c/pay/**`);
      await enter(visitor, DECLINED);
      await visitor.alert();
      await visitor.follow('Back');
      expect(await visitor.body()).toContain(
        'You have not finished at Stripe. Nothing has changed yet.',
      );
      await visitor.follow('Continue to Stripe');
      await enter(visitor, CHALLENGED);
      await visitor.press('Complete');
      expect(await visitor.status()).toContain('The payment method was replaced.');
      expect(await visitor.body()).toContain('Visa •••• 3184');
    },
  },
];
