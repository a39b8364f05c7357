// What buyers do on the page of a checkout.
import { expect } from 'bun:test';
import { type Bed, enterCard, payBy, PAYS } from './bed.ts';
import { all, parse, textOf } from './document.ts';
import type { Journey } from './journeys.ts';
import type { Visitor } from './visitor.ts';

export const DECLINED = '4000 0000 0000 0002';
export const CHALLENGED = '4000 0027 6000 3184';
export const GOOD = '4242 4242 4242 4242';

type Place = { readonly bed: Bed };

export const paymentsOf = async ({ bed }: Place, checkoutId: string) =>
  (await bed.server.call('GET', `/payments?checkout_id=${checkoutId}`)).json.data;
const statusOf = async ({ bed }: Place, checkoutId: string) =>
  (await bed.server.call('GET', `/checkouts/${checkoutId}`)).json.status;
export const thanks = ({ bed }: Place) => `${bed.shopUrl}/thanks`;
const atShop = ({ bed }: Place) => `${bed.shopUrl}/**`;
const paidQuery = (id: string) => `status=paid&payment_link_id=${id}`;
const isPaid = (visitor: Visitor) => visitor.heading('Paid. Thank you!');

export const JOURNEYS: readonly Journey<Place>[] = [
  {
    what: 'a buyer pays and is sent on',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout({
        success_url: `${thanks(place)}?from={CHECKOUT_TOKEN}#top`,
      });
      await visitor.open(url);
      expect(await visitor.title()).toBe('Pay · Field guide · One');
      await payBy(visitor, GOOD);
      await visitor.arrive(atShop(place));
      const token = url.split('/').at(-1);
      expect(visitor.url()).toBe(`${thanks(place)}?from=${token}&${paidQuery(id)}#top`);
      expect(await statusOf(place, id)).toBe('paid');
    },
  },
  {
    what: 'without success_url the page is the receipt',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout();
      await visitor.open(url);
      await payBy(visitor, GOOD);
      await isPaid(visitor);
      const [payment] = await paymentsOf(place, id);
      const text = await visitor.body();
      for (const shown of [
        '€48.00',
        'Field guide',
        'ada@example.com',
        'Visa',
        '4242',
        payment.id,
      ]) {
        expect(text).toContain(shown);
      }
    },
  },
  {
    what: 'a declined buyer reads why, and pays with another card',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout({ success_url: thanks(place) });
      await visitor.open(url);
      await payBy(visitor, DECLINED);
      const alert = await visitor.alert();
      expect(alert).toContain('declined');
      expect(alert).toContain('You can try 2 more times.');
      expect(await visitor.valueOf('card_number')).toBe('');
      await payBy(visitor, GOOD);
      await visitor.arrive(atShop(place));
      const payments = await paymentsOf(place, id);
      expect(payments.map((payment: { status: string }) => payment.status)).toEqual([
        'succeeded',
        'failed',
      ]);
    },
  },
  {
    what: 'a buyer whom the bank asks confirms, and is sent on',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout({ success_url: thanks(place) });
      await visitor.open(url);
      await payBy(visitor, CHALLENGED);
      await visitor.press('Complete');
      await visitor.arrive(atShop(place));
      expect(visitor.url()).toBe(`${thanks(place)}?${paidQuery(id)}`);
      expect(await statusOf(place, id)).toBe('paid');
    },
  },
  {
    what: 'a buyer who fails at the bank is back at the form',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout({ success_url: thanks(place) });
      await visitor.open(url);
      await payBy(visitor, CHALLENGED);
      await visitor.press('Fail');
      expect(await visitor.alert()).toContain('The payment did not go through');
      expect(await statusOf(place, id)).toBe('active');
    },
  },
  {
    what: 'a bank debit is waited for',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout({ success_url: thanks(place) });
      await visitor.open(url);
      await visitor.tick('Bank debit');
      await visitor.fill('iban', 'DE89 3704 0044 0532 0130 00');
      await visitor.press(PAYS);
      await visitor.heading('Your bank is processing it');
      await place.bed.settle();
      await visitor.arrive(atShop(place));
      expect(await statusOf(place, id)).toBe('paid');
    },
  },
  {
    what: 'the currency is changed, a discount applied and removed',
    options: { locale: 'de-DE' },
    async go(place, { visitor }) {
      const { bed } = place;
      const { id: product_id } = await bed.product({
        prices: [
          { amount: '48', currency: 'EUR' },
          { amount: '50', currency: 'USD' },
          { amount: '7000', currency: 'JPY' },
        ],
      });
      const code = `HALF-${product_id.slice(-12)}`.toUpperCase();
      await bed.server.call('POST', '/discounts', { body: { code, percent_off: 50 } });
      const { id, url } = await bed.checkout({ product_id });
      await visitor.open(url);
      await visitor.button('Pay €48.00');
      await visitor.fill('name', 'Ada');
      await visitor.choose('currency', 'JPY');
      await visitor.press('Change');
      await visitor.button('Pay ¥7,000');
      expect(await visitor.valueOf('name')).toBe('Ada');
      await visitor.fill('discount_code', code.toLowerCase());
      await visitor.press('Apply');
      await visitor.button('Pay ¥3,500');
      await visitor.press('Remove discount');
      await visitor.button('Pay ¥7,000');
      await visitor.fill('discount_code', code);
      await visitor.pressEnter('discount_code');
      await visitor.button('Pay ¥3,500');
      await payBy(visitor, GOOD);
      await isPaid(visitor);
      const [payment] = await paymentsOf(place, id);
      expect(payment).toMatchObject({ amount: '3500', currency: 'JPY', status: 'succeeded' });
    },
  },
];

/** The same in any way: it matters less in which. */
export const MORE_JOURNEYS: readonly Journey<Place>[] = [
  {
    what: 'a price in the currency of the buyer is shown first, unless the merchant pinned one',
    options: { locale: 'en-US' },
    async go({ bed }, { visitor }) {
      const prices = [
        { amount: '48', currency: 'EUR' },
        { amount: '50', currency: 'USD' },
      ];
      const { id: product_id } = await bed.product({ prices });
      await visitor.open((await bed.checkout({ product_id })).url);
      expect(await visitor.valueOf('currency')).toBe('USD');
      await visitor.open((await bed.checkout({ product_id, currency: 'EUR' })).url);
      expect(await visitor.count({ tag: 'select' })).toBe(0);
      await visitor.button('Pay €48.00');
    },
  },
  {
    what: 'nothing is charged when another total is due than the page showed',
    async go(place, { visitor }) {
      const { server, ...bed } = place.bed;
      const { id: product_id } = await bed.product();
      const half = { code: 'SOON-GONE', percent_off: 50 };
      const discount = (await server.call('POST', '/discounts', { body: half })).json;
      const { id, url } = await bed.checkout({ product_id, discount_code: 'SOON-GONE' });
      await visitor.open(url);
      await visitor.button('Pay €24.00');
      await server.call('DELETE', `/discounts/${discount.id}`);
      await payBy(visitor, GOOD);
      await visitor.button('Pay €48.00');
      expect(await paymentsOf(place, id)).toEqual([]);
    },
  },
  {
    what: 'what is wrong is told at the top and beside its field, and no number comes back',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout();
      await visitor.open(url);
      await visitor.fill('card_number', '4242 4242 4242 4241');
      await visitor.fill('card_cvc', '987');
      await visitor.press(PAYS);
      await visitor.alert();
      expect(await visitor.title()).toStartWith('Error: ');
      const source = await visitor.markup();
      const page = parse(source);
      const [summary] = all(page, ({ attributes }) => attributes.get('role') === 'alert');
      const links = all(summary!, ({ tag }) => tag === 'a');
      expect(links.map((link) => [link.attributes.get('href'), textOf(link)])).toEqual([
        ['#card_number', 'Check the number of your card: a digit is wrong.'],
        ['#card_expiry', 'Enter the expiry date as month and year, MM / YY.'],
      ]);
      const byId = (wanted: string) =>
        all(page, ({ attributes: each }) => each.get('id') === wanted)[0]!;
      const { attributes } = byId('card_number');
      expect(attributes.get('aria-invalid')).toBe('true');
      const told = byId(attributes.get('aria-describedby') ?? '');
      expect(textOf(told)).toContain('a digit is wrong');
      expect(source).not.toContain('4242 4242 4242 4241');
      expect(source).not.toContain('987');
      expect(await paymentsOf(place, id)).toEqual([]);
    },
  },
  {
    what: 'a free order asks for no card',
    async go({ bed }, { visitor }) {
      await bed.server.call('POST', '/discounts', { body: { code: 'ALL', percent_off: 100 } });
      const { url } = await bed.checkout({ discount_code: 'ALL' });
      await visitor.open(url);
      expect(await visitor.count({ field: 'card_number' })).toBe(0);
      await visitor.press('Complete order');
      await isPaid(visitor);
    },
  },
  {
    what: 'a buy link asks who buys, and keeps it after a decline',
    async go(place, { visitor }) {
      const { bed } = place;
      const { id } = await bed.product();
      const link = (await bed.server.call('POST', `/buy-links/${id}/checkout`, { key: null })).json;
      await visitor.open(link.url);
      await payBy(visitor, DECLINED);
      await visitor.alert();
      expect(await visitor.count({ link: /e-mail address/ })).toBe(1);
      await visitor.fill('email', 'grace@example.com');
      await visitor.fill('name', 'Grace');
      await payBy(visitor, DECLINED);
      await visitor.reads('The payment did not go through');
      expect(await visitor.valueOf('email')).toBe('grace@example.com');
      expect(await visitor.valueOf('name')).toBe('Grace');
      await visitor.fill('email', 'hopper@example.com');
      await payBy(visitor, GOOD);
      await isPaid(visitor);
      const [payment] = await paymentsOf(place, link.id);
      expect(payment.customer_email).toBe('hopper@example.com');
    },
  },
  {
    what: 'after the last attempt it is locked, and a good card is not charged any more',
    async go(place, { visitor: late, another }) {
      const { bed } = place;
      const { id, url } = await bed.checkout({ cancel_url: `${bed.shopUrl}/cart` });
      await late.open(url);
      const visitor = await another();
      await visitor.open(url);
      for (const left of ['2 more times', 'one more time']) {
        await payBy(visitor, DECLINED);
        await visitor.reads(left);
      }
      await payBy(visitor, DECLINED);
      await visitor.heading('Too many attempts');
      await payBy(late, GOOD);
      await late.heading('Too many attempts');
      expect(await paymentsOf(place, id)).toHaveLength(3);
      await late.follow('Back to One');
      expect(late.url()).toBe(`${bed.shopUrl}/cart`);
    },
  },
  {
    what: 'an expired checkout says so, on a new page and on an open one',
    async go(place, { visitor }) {
      const { id, url } = await place.bed.checkout();
      await visitor.open(url);
      await enterCard(visitor, GOOD);
      await place.bed.server.call('POST', `/checkouts/${id}/expire`);
      await visitor.press(PAYS);
      await visitor.heading('This checkout has expired');
      expect(await paymentsOf(place, id)).toEqual([]);
      expect(await visitor.open(url)).toBe(200);
      await visitor.heading('This checkout has expired');
    },
  },
  {
    what: 'a paid checkout that is opened again says so, and leads on',
    async go(place, { visitor: stale, another }) {
      const { id, url } = await place.bed.checkout({ success_url: thanks(place) });
      await stale.open(url);
      const visitor = await another();
      await visitor.open(url);
      await payBy(visitor, GOOD);
      await visitor.arrive(atShop(place));
      await visitor.open(url);
      await isPaid(visitor);
      await visitor.follow('Continue to One');
      expect(visitor.url()).toBe(`${thanks(place)}?${paidQuery(id)}`);
      await payBy(stale, GOOD);
      await stale.arrive(atShop(place));
      expect(await paymentsOf(place, id)).toHaveLength(1);
    },
  },
  {
    what: 'a buyer who left the bank is led back to it, and sent on from there once',
    async go(place, { visitor }) {
      const { url } = await place.bed.checkout({ success_url: thanks(place) });
      await visitor.open(url);
      await payBy(visitor, CHALLENGED);
      await visitor.button('Complete');
      await visitor.open(url);
      await visitor.follow('Continue to your bank');
      await visitor.press('Complete');
      await visitor.arrive(atShop(place));
      await visitor.open(url);
      await isPaid(visitor);
    },
  },
  {
    what: 'an unknown token is a 404 page',
    async go({ bed }, { visitor }) {
      expect(await visitor.open(`${bed.server.url}/pay/${'a'.repeat(43)}`)).toBe(404);
      await visitor.heading('There is no such checkout');
    },
  },
  {
    what: 'whatever a merchant or a buyer writes is text, to the receipt',
    async go({ bed }, { visitor }) {
      const script = (name: string) => `${name}"'><script>document.title="owned"</script>`;
      const { organisation, sql } = bed.server;
      await sql`update organisations set name = ${script('org')} where id = ${organisation.id}`;
      const { id: product_id } = await bed.product({
        name: script('product'),
        description: script('description'),
      });
      const { url } = await bed.checkout({
        product_id,
        customer_name: script('customer'),
        success_url: `${bed.shopUrl}/thanks?"><script>alert(1)</script>`,
        cancel_url: `${bed.shopUrl}/cart?"><script>alert(2)</script>`,
      });
      const link = await bed.server.call('POST', `/buy-links/${product_id}/checkout`, {
        key: null,
      });
      const isPlain = async (...texts: string[]) => {
        expect(await visitor.count({ tag: 'script' })).toBe(0);
        expect(await visitor.title()).not.toBe('owned');
        const shown = await visitor.body();
        for (const text of texts) expect(shown).toContain(script(text));
      };
      await visitor.open(link.json.url);
      const fields = ['email', 'name', 'discount_code', 'card_number', 'card_expiry', 'card_cvc'];
      for (const field of fields) await visitor.force(field, script(field));
      await visitor.press(PAYS);
      await visitor.alert();
      await isPlain('org', 'product', 'description');
      for (const field of ['email', 'name', 'discount_code']) {
        expect(await visitor.valueOf(field)).toBe(script(field));
      }
      await visitor.open(`${link.json.url}?currency=${encodeURIComponent(script('currency'))}`);
      await isPlain('org');
      await visitor.open(url);
      await isPlain('org', 'product', 'description');
      expect(await visitor.valueOf('name')).toBe(script('customer'));
      await payBy(visitor, GOOD);
      await visitor.arrive(`${bed.shopUrl}/**`);
      await visitor.open(url);
      await isPaid(visitor);
      await isPlain('org', 'product', 'description');
      await sql`update organisations set name = 'One' where id = ${organisation.id}`;
    },
  },
];
