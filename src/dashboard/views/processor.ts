// The payment processor: what is connected, and the form that connects or replaces it.
import type { ProcessorAccount } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { field, form } from '../parts/forms.ts';
import { button, facts, heading, section } from '../parts/parts.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

const SAYS: Readonly<Record<ProcessorAccount['status'], string>> = {
  active: 'Payments go to this account.',
  webhook_secret_required:
    'Payments go to this account, but changes at Stripe are learned late. Create a webhook endpoint at Stripe, and enter its signing secret with the key.',
  failing: 'Stripe refuses the key. Enter another one.',
};

export function processorPage(place: Place, account: ProcessorAccount | null): Html {
  const actions =
    account !== null && place.may('disconnectProcessor')
      ? [button(place, '/settings/processor/disconnect', 'Disconnect')]
      : [];
  const nobody =
    place.mode === 'test'
      ? 'No account is connected. The sandbox takes payments in test mode.'
      : 'No account is connected. Nothing can be paid in live mode.';
  return html`${heading('Payment processor', { under: `For ${place.mode} mode.`, actions })}
  ${account === null ? html`<p class="empty">${nobody}</p>` : factsOf(place, account)}
  ${place.may('connectProcessor') ? connectSection(place, account) : null}`;
}

function factsOf(place: Place, account: ProcessorAccount): Html {
  return html`${facts([
      ['Stripe account', code(account.account)],
      ['State', badge(account.status)],
      ['Key', code(account.last4)],
      ['Last checked', instant(place, account.checkedAt)],
    ])}
    <p>${SAYS[account.status]}</p>`;
}

function connectSection(place: Place, account: ProcessorAccount | null): Html {
  return section(
    account === null ? 'Connect Stripe' : 'Replace key',
    form(place, {
      to: '/settings/processor',
      submit: account === null ? 'Connect' : 'Replace key',
      fields: [
        field(place, {
          name: 'secret_key',
          label: 'Secret key',
          type: 'password',
          isRequired: true,
          hint: `A secret or restricted key of ${place.mode} mode. It is checked with Stripe, stored encrypted, and never shown.`,
        }),
        field(place, {
          name: 'webhook_secret',
          label: 'Signing secret',
          type: 'password',
          hint: 'Of a webhook endpoint that you created at Stripe. Leave empty to have one created, if the key allows it.',
        }),
      ],
    }),
  );
}
