import { NO_BRAND } from '../brand.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { frame } from './parts.ts';
import type { RefusedView } from './view.ts';

const TEXTS: Readonly<Record<RefusedView, readonly [heading: string, text: string]>> = {
  unauthorized: [
    'This link is invalid or has expired',
    'It may have expired, been withdrawn, or not been copied completely. Ask for a new link where you got this one.',
  ],
  forbidden: [
    'This link opens one page only',
    'It is only for your payment method. Ask the seller for a link to your account.',
  ],
  rate_limited: ['Too many requests', 'Try again in a minute.'],
  downloading: [
    'Too many downloads',
    'You can have one download at a time. Try again when it has ended.',
  ],
  not_found: ['Page not found', 'Go back to your account and try again.'],
};

/** The page does not say whose portal it was. */
export function refusedPage(kind: RefusedView): Page {
  const [title, text] = TEXTS[kind];
  const content = html`<section class="state stack">
    <h1>${title}</h1>
    <p>${text}</p>
  </section>`;
  return frame({ merchant: '', brand: NO_BRAND, isTest: false }, { title, content });
}
