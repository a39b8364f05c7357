// Hints for a merchant in test mode: nothing costs money, and which card numbers do what.
import { type Html, html } from '../html.ts';
import type { CheckoutView } from './view.ts';

const CARDS: readonly (readonly [number: string, what: string])[] = [
  ['4242 4242 4242 4242', 'Pays'],
  ['4000 0027 6000 3184', 'Asks the bank first'],
  ['4000 0000 0000 0002', 'Is declined'],
  ['4000 0000 0000 9995', 'Has insufficient funds'],
  ['4000 0000 0000 0119', 'Meets an error of the processor'],
  ['4000 0000 0000 0341', 'Pays once; renewals fail'],
  ['4000 0000 0000 7726', 'Pays; a refund is pending first'],
  ['4000 0000 0000 5126', 'Pays; a refund fails later'],
  ['4000 0000 0000 0259', 'Pays; is disputed, and lost'],
  ['4000 0000 0000 2685', 'Pays; is disputed, and won'],
  ['4000 0000 0000 1000', 'Pays, but the answer is lost'],
  ['4000 0000 0000 1018', 'Does not pay, and the answer is lost'],
];

const ACCOUNTS: readonly (readonly [iban: string, what: string])[] = [
  ['DE89 3704 0044 0532 0130 00', 'Pays after a moment'],
  ['DE62 3704 0044 0532 0130 01', 'Fails after a moment'],
];

/** `view`: what is asked here; on the page of another its own test cards count. */
export function testBanner(view: Exclude<CheckoutView, { kind: 'not_found' }>): Html {
  return html`<aside class="banner" aria-label="Test mode">${saidOf(view)}</aside>`;
}

function saidOf(view: Exclude<CheckoutView, { kind: 'not_found' }>): Html {
  if (view.kind === 'open' && view.asks === 'instrument') return withNumbers();
  const owner = view.kind === 'open' || view.kind === 'elsewhere' ? view.owner : null;
  const there =
    owner === null
      ? null
      : html`Pay there with <span class="code">4242 4242 4242 4242</span>, or another test card of
          ${owner}.`;
  return html`<p><strong>Test mode.</strong> No money moves. ${there}</p>`;
}

function withNumbers(): Html {
  return html`<details>
    <summary>
      <strong>Test mode.</strong> No money moves. Pay with
      <span class="code">4242 4242 4242 4242</span>, or see all test numbers.
    </summary>
    <div class="numbers">
      ${numbers('Cards: any future expiry date, any CVC', CARDS)} ${numbers('Bank debit', ACCOUNTS)}
    </div>
  </details>`;
}

function numbers(caption: string, rows: typeof CARDS): Html {
  return html`<table>
    <caption>
      ${caption}
    </caption>
    ${rows.map(
      ([number, what]) =>
        html`<tr>
          <th scope="row" class="code">${number}</th>
          <td>${what}</td>
        </tr>`,
    )}
  </table>`;
}
