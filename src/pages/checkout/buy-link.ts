// The page of a buy link: what it sells, with a button that opens a checkout; or why it does not.
import { type Brand, BRAND_STYLE, brandLogo, NO_BRAND, supportLine } from '../brand.ts';
import { FORM_STYLE } from '../form-style.ts';
import { html, type Html } from '../html.ts';
import { layout, type Page } from '../layout.ts';
import { stylesheet } from '../styles.ts';
import { MARKS, state } from './states.ts';
import { STYLE } from './style.ts';
import { written } from './summary.ts';

const STYLESHEET = stylesheet(FORM_STYLE + STYLE + BRAND_STYLE);

type Offer = {
  readonly merchant: string;
  readonly product: { readonly name: string; readonly description: string };
};

export type BuyLinkView =
  | ({ readonly kind: 'offer' } & Offer)
  /** Unknown, archived or not published: nobody learns which. */
  | { readonly kind: 'not_found' }
  /** It has no price, its merchant no processor; or there are too many buyers for now. */
  | ({ readonly kind: 'unavailable' | 'full' } & Offer);

export function buyLinkPage(view: BuyLinkView, brand: Brand = NO_BRAND): Page {
  const title =
    view.kind === 'not_found' ? 'Not for sale' : `${view.product.name} · ${view.merchant}`;
  const body = html`<main class="page ${view.kind}">
      ${brandLogo(brand)}
      <div class="told">${content(view)}</div>
    </main>
    <footer class="foot">${supportLine(brand)} Checkout by Tollhouse</footer>`;
  return layout({ title, body, stylesheet: STYLESHEET, brand });
}

function content(view: BuyLinkView): Html {
  if (view.kind === 'offer') {
    const { merchant, product } = view;
    return state({
      mark: null,
      heading: product.name,
      text: html`<p class="hint">Sold by ${written(merchant)}</p>
        ${product.description === '' ? null : html`<p dir="auto">${product.description}</p>`}`,
      // To where the page is: whatever address a proxy shows it at.
      action: html`<form method="post" class="stack">
        <button class="button wide">Continue to payment</button>
      </form>`,
    });
  }
  return state({ mark: MARKS.closed, ...REFUSED[view.kind] });
}

const REFUSED: Readonly<
  Record<Exclude<BuyLinkView['kind'], 'offer'>, { readonly heading: string; readonly text: Html }>
> = {
  not_found: {
    heading: 'This is not for sale',
    text: html`<p>
      Nothing is sold at this address. Check that you copied the whole address, or ask the seller.
    </p>`,
  },
  unavailable: {
    heading: 'This cannot be bought now',
    text: html`<p>Nothing was charged. Ask the seller.</p>`,
  },
  full: {
    heading: 'Too many buyers at once',
    text: html`<p>Nothing was charged. Try again later.</p>`,
  },
};
