import { NO_BRAND } from '../brand.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { frame } from './parts.ts';
import type { RefusedView } from './view.ts';

const TEXTS: Readonly<Record<RefusedView, readonly [heading: string, text: string]>> = {
  unauthorized: [
    'This link does not open anything',
    'It has expired, was withdrawn, or was not copied as a whole. Ask for a new one where you got it.',
  ],
  forbidden: [
    'This link opens one page',
    'It is for the payment method alone. Ask for a link to your account where you bought.',
  ],
  rate_limited: ['A moment, please', 'There were too many requests. Try again in a minute.'],
  downloading: [
    'A moment, please',
    'Too many downloads are under way: you can have one at a time. Try again when it has ended.',
  ],
  not_found: ['There is nothing here', 'Go back to your account and try again.'],
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
