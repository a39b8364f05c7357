// How the checkout and the portal look with a brand: small, of the parts and the variables that
// they themselves are made of.
import { type Brand, brandLogo, supportLine } from '../../pages/brand.ts';
import { ticket } from '../../pages/checkout/summary.ts';
import type { Sale } from '../../pages/checkout/view.ts';
import { html, type Html } from '../../pages/html.ts';
import type { Place } from './place.ts';

const ID = 'brand-preview';
/** What has the look of the brand; around it stands the dashboard. */
export const PREVIEW = `#${ID}`;

/** What is sold there is made up, and nothing can be pressed but the links to the support. */
export function brandPreview({ organisation, mode }: Place, brand: Brand): Html {
  const merchant = organisation.name;
  const sale: Sale = {
    merchant,
    product: { name: 'Sample plan', description: '' },
    currency: 'USD',
    subtotal: 2900n,
    reduction: 0n,
    total: 2900n,
    recurs: { amount: 2900n, interval: 'month', count: 1, trialEnd: null, sold: [] },
    isTest: mode === 'test',
  };
  const checkout = html`${ticket(sale, { leads: false, below: null })}
    <span class="button wide">Subscribe and pay $29.00</span>`;
  const portal = html`<p><strong dir="auto">${merchant}</strong></p>
    <div class="card">
      <div class="lead"><strong>Sample plan</strong> <span class="badge">Active</span></div>
      <p class="muted">$29.00 a month</p>
    </div>
    <div class="notice"><p>The payment method was replaced.</p></div>
    <span class="button quiet">Change the plan</span>`;
  return html`<div id="${ID}" class="previews">
    ${sample('The checkout', checkout, brand)} ${sample('The portal', portal, brand)}
  </div>`;
}

function sample(name: string, content: Html, brand: Brand): Html {
  return html`<figure>
    <figcaption class="muted">${name}</figcaption>
    <div class="sample">${brandLogo(brand)} ${content} ${supportLine(brand)}</div>
  </figure>`;
}
