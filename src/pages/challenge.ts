// The page of a bank that authenticates its customer (3-D Secure), as the sandbox plays it.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { showAmount } from './amount.ts';
import { html, type Html } from './html.ts';
import { layout, type Page } from './layout.ts';
import { stylesheet } from './styles.ts';

export type ChallengeView =
  | {
      readonly kind: 'open';
      readonly amount: bigint;
      readonly currency: string;
      readonly last4: string;
    }
  | { readonly kind: 'answered'; readonly returnUrl: string }
  | { readonly kind: 'not_found' };

const STYLESHEET = stylesheet(`
  .page { padding-top: 2.5rem; }
  .bank { padding: 1.75rem 1.5rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
    box-shadow: var(--shadow); }
  .bank .facts { padding: 1rem 0; border-block: 1px solid var(--line); }
  .bank .facts .money { font-weight: 650; font-size: 1.15rem; }
  .answers { display: grid; gap: .75rem; }
  .answers > * + * { margin-top: 0; }
`);

const TITLES: Readonly<Record<ChallengeView['kind'], string>> = {
  open: 'Confirm your payment',
  answered: 'This was answered before',
  not_found: 'There is nothing to confirm here',
};

export function challengePage(view: ChallengeView): Page {
  const title = TITLES[view.kind];
  const body = html`<aside class="banner" aria-label="Test mode">
      <p><strong>Test mode.</strong> No money moves.</p>
    </aside>
    <main class="page">
      <section class="bank stack">
        <h1>${title}</h1>
        ${content(view)}
      </section>
    </main>
    <footer class="foot">Sandbox bank by Tollhouse</footer>`;
  return layout({ title: `${title} · Sandbox bank`, body, stylesheet: STYLESHEET });
}

function content(view: ChallengeView): Html {
  switch (view.kind) {
    case 'open':
      return html`<p>
          A real bank would ask for a code or a fingerprint here. You choose the result.
        </p>
        <dl class="facts">
          <dt>Amount</dt>
          <dd class="money">${showAmount(view.amount, view.currency)}</dd>
          <dt>Card</dt>
          <dd class="code">•••• ${view.last4}</dd>
        </dl>
        <form method="post" class="answers stack">
          <button class="button wide" name="answer" value="complete">Complete</button>
          <button class="button wide quiet" name="answer" value="fail">Fail</button>
        </form>`;
    case 'answered':
      return html`<p>The first answer counts. The checkout shows the result.</p>
        <p><a class="button wide" href="${view.returnUrl}">Back to the checkout</a></p>`;
    case 'not_found':
      return html`<p>Check that you copied the whole address, or start the payment again.</p>`;
    default:
      return unreachable(view);
  }
}
