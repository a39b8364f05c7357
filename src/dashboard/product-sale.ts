// A product sold to somebody: a checkout of its own is opened.
import type { Product } from '../client/types.ts';
import { pick, textField } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { given } from './form/typed.ts';
import type { Place } from './parts/place.ts';
import { formPage } from './products.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { type Html, html } from '../pages/html.ts';

export const PRODUCT_SALE_PAGES: readonly DashboardPage[] = [
  {
    path: '/products/:id/buy',
    title: 'Sell a product',
    section: 'products',
    needs: ['getProduct', 'createCheckout'],
    show: async ({ api, place, params: { id = '' } }) =>
      buyForm(place, await api.products.retrieve(id)),
    act: { needs: ['createCheckout'], run: sell },
  },
];

async function sell(visit: Visit): Promise<Done> {
  const { api, params, key } = visit;
  const { id: productId = '' } = params;
  const asked = { productId, ...read(visit, SALE) };
  const { id } = await api.checkouts.create(asked, given({ idempotencyKey: key }));
  return { to: `/checkouts/${id}`, notice: 'created' };
}

const SALE = {
  customerEmail: textField({ label: 'E-mail of the buyer', type: 'email', isRequired: true }),
  customerName: textField({ label: 'Name of the buyer' }),
  externalCustomerId: textField({ label: 'Your customer id' }),
  currency: pick({ label: 'Currency' }),
  discountCode: textField({ label: 'Discount code', maxlength: 64 }),
};

/** Asks for whom a checkout is opened. */
function buyForm(place: Place, product: Product): Html {
  const active = product.prices.filter(({ status }) => status === 'active');
  const currencies = [...new Set(active.map(({ currency }) => currency))];
  const said = html`<p>The checkout gets its own URL. The buyer can pay there for 24 hours.</p>`;
  return formPage(place, `Sell ${product.name}`, {
    back: `/products/${product.id}`,
    form: drawForm(place, SALE, {
      submit: 'Create checkout',
      before: [said],
      options: { currency: currencies.map((value) => ({ value, label: value })) },
    }),
  });
}
