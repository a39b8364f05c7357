import { unreachable } from '../../../ledger/kernel/assert.ts';
import { type Brand, BRAND_STYLE, brandLogo, NO_BRAND, supportLine } from '../brand.ts';
import { cancelButton, type Embed, embedData, FRAME_SCRIPT } from '../embed/frame.ts';
import { FORM_STYLE } from '../form-style.ts';
import { html, type Html } from '../html.ts';
import { layout, type Page } from '../layout.ts';
import { SOLD_STYLE } from '../sold-usage.ts';
import { stylesheet } from '../styles.ts';
import { checkoutForm } from './form.ts';
import { testBanner } from './sandbox.ts';
import { challenge, closed, elsewhere, notFound, paid, processing } from './states.ts';
import { STYLE } from './style.ts';
import type { CheckoutView } from './view.ts';

const STYLESHEET = stylesheet(FORM_STYLE + STYLE + SOLD_STYLE + BRAND_STYLE);

/** `embed`: set where the page is in a merchant's frame. */
export function checkoutPage(
  view: CheckoutView,
  embed: Embed | null = null,
  brand: Brand = NO_BRAND,
): Page {
  const banner = view.kind !== 'not_found' && view.sale.isTest ? testBanner(view) : null;
  const body = html`${banner}
    <main class="page ${view.kind}">${brandLogo(brand)} ${content(view, embed)}</main>
    <footer class="foot">${supportLine(brand)} Checkout by Tollhouse</footer>
    ${embed === null ? null : embedData(view.kind, embed)}`;
  const script = embed === null ? null : FRAME_SCRIPT;
  return layout({ title: titleOf(view), body, stylesheet: STYLESHEET, script, brand });
}

function content(view: CheckoutView, embed: Embed | null): Html {
  const cancel = embed === null ? null : cancelButton(embed);
  switch (view.kind) {
    case 'open':
      return checkoutForm(view, cancel);
    case 'challenge':
      return challenge(view);
    case 'elsewhere':
      return elsewhere(view, { isFramed: embed !== null, cancel });
    case 'processing':
      return processing(view);
    case 'paid':
      return paid(view, { isFramed: embed !== null });
    case 'expired':
    case 'canceled':
    case 'locked':
    case 'unavailable':
      return closed(view, cancel);
    case 'not_found':
      return notFound();
    default:
      return unreachable(view);
  }
}

const TITLES: Readonly<Record<CheckoutView['kind'], string>> = {
  open: 'Pay',
  challenge: 'Confirm with your bank',
  elsewhere: 'Continue to payment',
  processing: 'Payment under way',
  paid: 'Paid',
  expired: 'Expired',
  canceled: 'Canceled',
  locked: 'Too many attempts',
  unavailable: 'Not for sale',
  not_found: 'No such checkout',
};

/** Errors come first, because a screen reader starts with the title. */
function titleOf(view: CheckoutView): string {
  if (view.kind === 'not_found') return TITLES.not_found;
  const isWrong = view.kind === 'open' && view.errors.length > 0;
  const { product, merchant } = view.sale;
  return `${isWrong ? 'Error: ' : ''}${TITLES[view.kind]} · ${product.name} · ${merchant}`;
}
