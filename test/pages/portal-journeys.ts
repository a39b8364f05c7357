// What a customer does in the portal.
import { expect } from 'bun:test';
import { CHALLENGED, DECLINED, GOOD, made, subscribe } from '../http/portal/customer.ts';
import { type Bed, enterCard } from './bed.ts';
import type { Journey } from './journeys.ts';
import { BrowserVisitor, type Visitor } from './visitor.ts';

type Place = { readonly bed: Bed };

/** The customer's portal, open. */
async function visit({ bed }: Place, visitor: Visitor, fields: object = {}) {
  const { id: customer } = await made(bed.server, '/customers', {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    ...fields,
  });
  const { url } = await made(bed.server, `/customers/${customer}/portal-tokens`, {});
  await visitor.open(url);
  return { customer, url };
}

async function saveCard(visitor: Visitor, number: string): Promise<void> {
  await visitor.follow(/^(Replace|Add a payment method)$/);
  await enterCard(visitor, number);
  await visitor.press('Save payment method');
}

const stateOf = async ({ bed }: Place, id: string) =>
  (await bed.server.call('GET', `/subscriptions/${id}`)).json;
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const INVOICE = /INV-\d{4}-\d{6}/;

export const PORTAL_JOURNEYS: readonly Journey<Place>[] = [
  {
    what: 'a customer adds a card, cancels, takes it back, pauses, resumes, and cancels at once',
    async go(place, { visitor }) {
      const { customer, url } = await visit(place, visitor);
      expect(await visitor.title()).toBe('Your account · One');
      await saveCard(visitor, GOOD);
      expect(await visitor.status()).toContain('The payment method was replaced.');
      const { id } = await subscribe(place.bed.server, customer);
      await visitor.open(url);
      expect(await visitor.body()).toContain('Atlas Pro Active €12.00 a month Next payment');

      await visitor.follow(/^Cancel/);
      const day = DAY.format(new Date((await stateOf(place, id)).current_period_end));
      expect(await visitor.body()).toContain(`Access until ${day}; no further charge.`);
      await visitor.press('Cancel subscription');
      expect(await visitor.status()).toContain('ends with its period');
      expect(await visitor.body()).toContain(`Ends soon €12.00 a month Access until ${day}`);
      expect((await stateOf(place, id)).cancel_at_period_end).toBe(true);

      await visitor.follow(/^Undo cancellation/);
      await visitor.press('Keep subscription');
      expect(await visitor.status()).toContain('continues as before');

      await visitor.follow(/^Pause/);
      const until = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
      await visitor.fill('resumes_at', until);
      await visitor.tick('Keep invoices');
      await visitor.press('Pause subscription');
      expect(await visitor.status()).toContain('is paused');
      expect(await stateOf(place, id)).toMatchObject({
        status: 'paused',
        resumes_at: `${until}T00:00:00.000Z`,
        keep_invoices: true,
      });

      await visitor.follow(/^Resume/);
      expect(await visitor.body()).toContain('is not charged again');
      await visitor.press('Resume subscription');
      expect(await visitor.status()).toContain('is active again');

      await visitor.follow(/^Cancel/);
      await visitor.tick('Now');
      await visitor.press('Cancel subscription');
      expect(await visitor.status()).toContain('has ended');
      expect(await visitor.body()).toContain('Atlas Pro Ended');
      expect(await visitor.count({ link: /^(Pause|Cancel|Resume)/ })).toBe(0);
    },
  },
  {
    what: 'looking and going back changes nothing',
    async go(place, { visitor }) {
      const { customer, url } = await visit(place, visitor);
      const { id } = await subscribe(place.bed.server, customer, { trial_days: 14 });
      await visitor.open(url);
      expect(await visitor.body()).toContain('Trial €12.00 a month Free until');
      const before = await stateOf(place, id);
      for (const action of [/^Cancel/, /^Pause/]) {
        await visitor.follow(action);
        await visitor.follow(/^Back, change nothing$/);
        await visitor.heading('Your account');
      }
      expect(await stateOf(place, id)).toEqual(before);
    },
  },
  {
    what: 'to load the page again after an action does nothing again',
    async go(place, { visitor }) {
      const { server } = place.bed;
      const { customer, url } = await visit(place, visitor);
      const { id } = await subscribe(server, customer, { amount: '0' });
      await visitor.open(url);
      await visitor.follow(/^Pause/);
      await visitor.press('Pause subscription');
      await visitor.status();
      await server.call('POST', `/subscriptions/${id}/resume`, { body: {} });
      await visitor.reload();
      expect((await stateOf(place, id)).status).toBe('active');
      expect(await visitor.body()).toContain('Atlas Pro Active');
    },
  },
  {
    what: 'a card that is declined, one whose bank asks, and what is overdue is paid',
    async go(place, { visitor }) {
      const { customer, url } = await visit(place, visitor);
      const { id } = await subscribe(place.bed.server, customer);
      await visitor.open(url);
      expect(await visitor.body()).toContain('Payment overdue');
      await saveCard(visitor, DECLINED);
      expect(await visitor.alert()).toContain('declined');
      expect(await visitor.valueOf('card_number')).toBe('');
      await enterCard(visitor, CHALLENGED);
      await visitor.press('Save payment method');
      await visitor.press('Complete');
      expect(await visitor.status()).toContain('The payment method was replaced.');
      expect(await visitor.body()).toContain('•••• 3184');
      await visitor.open(url);
      expect((await stateOf(place, id)).overdue_state).toBe('clear');
      expect(await visitor.body()).toContain('Atlas Pro Active');
    },
  },
  {
    what: 'after a failure at the bank the form is back, and nothing is saved',
    async go(place, { visitor }) {
      const { url } = await visit(place, visitor);
      await saveCard(visitor, CHALLENGED);
      await visitor.press('Fail');
      await visitor.alert();
      await visitor.open(url);
      expect(await visitor.body()).toContain('No payment method on file.');
    },
  },
  {
    what: 'an invoice is there to print',
    async go(place, { visitor }) {
      const { customer, url } = await visit(place, visitor);
      await saveCard(visitor, GOOD);
      await subscribe(place.bed.server, customer);
      await visitor.open(url);
      const [number = ''] = INVOICE.exec(await visitor.body()) ?? [];
      await visitor.follow(new RegExp(`^${number}$`));
      await visitor.heading('Invoice');
      expect(await visitor.body()).toContain(number);
    },
  },
];

/** The same in any way: it matters less in which. */
export const MORE_PORTAL_JOURNEYS: readonly Journey<Place>[] = [
  {
    what: 'names that are markup are text, on every page, on a phone',
    options: { width: 320 },
    async go(place, { visitor }) {
      const { server } = place.bed;
      const hostile = `<script>document.title='owned'</script>"><img src=x onerror=alert(1)>`;
      const { customer, url } = await visit(place, visitor, { name: hostile });
      await server.call('PATCH', '/organization', { body: { name: hostile } });
      const product = await made(server, '/products', {
        name: hostile,
        prices: [{ amount: '0', currency: 'EUR', interval: 'month' }],
      });
      const meter = { slug: 'hostile', name: hostile, unit: hostile.slice(0, 40) };
      await made(server, '/meters', meter);
      const feature = { feature_key: 'hostile', limit: 5 };
      await made(server, `/products/${product.id}/entitlements`, feature);
      await made(server, '/subscriptions', { customer_id: customer, product_id: product.id });
      await visitor.open(url);
      const hrefs = await visitor.buttonLinks();
      expect(hrefs.length).toBe(3);
      for (const href of ['', ...hrefs]) {
        await visitor.open(new URL(href, url).href);
        expect(await visitor.title()).not.toBe('owned');
        expect(await visitor.count({ tag: 'script' })).toBe(0);
        expect(await visitor.count({ tag: 'img' })).toBe(0);
        expect(await visitor.body()).toContain(hostile);
        if (visitor instanceof BrowserVisitor) {
          const width = await visitor.page.evaluate('document.documentElement.scrollWidth');
          expect(width).toBe(320);
        }
      }
      await server.call('PATCH', '/organization', { body: { name: 'One' } });
    },
  },
  {
    what: 'a link that has expired says so, and nothing else',
    async go(place, { visitor }) {
      const { url, customer } = await visit(place, visitor);
      await place.bed.server.sql`
        update portal_tokens set created_at = now() - interval '2 days', expires_at = now()
        where customer_id = ${customer}`;
      expect(await visitor.open(url)).toBe(401);
      expect(await visitor.title()).toBe('This link is invalid or has expired');
      expect(await visitor.body()).not.toContain('Ada');
    },
  },
];
