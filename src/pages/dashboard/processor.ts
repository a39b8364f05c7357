// The payment processor: what is connected, and the form that connects or replaces it.
import type { ProcessorAccount } from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { field, form } from './forms.ts';
import { button, facts, heading, section } from './parts.ts';
import { badge, code, instant } from './values.ts';
import type { Place } from './place.ts';

const SAYS: Readonly<Record<ProcessorAccount['status'], string>> = {
  active: 'Payments go there.',
  webhook_secret_required:
    'Payments go there; what changes at Stripe by itself is learned late. Make an endpoint at Stripe, and send its signing secret with the key.',
  failing: 'Stripe refuses the key: send another.',
};

export function processorPage(place: Place, account: ProcessorAccount | null): Html {
  const actions =
    account !== null && place.may('disconnectProcessor')
      ? [button(place, '/settings/processor/disconnect', 'Disconnect')]
      : [];
  const nobody =
    place.mode === 'test'
      ? 'None is connected: the sandbox takes the payments of the test mode.'
      : 'None is connected: nothing can be paid in live mode.';
  return html`${heading('Payment processor', { under: `Of the ${place.mode} mode.`, actions })}
  ${account === null ? html`<p class="empty">${nobody}</p>` : factsOf(place, account)}
  ${place.may('connectProcessor') ? connectSection(place, account) : null}`;
}

function factsOf(place: Place, account: ProcessorAccount): Html {
  return html`${facts([
      ['Account at Stripe', code(account.account)],
      ['State', badge(account.status)],
      ['Key ends in', code(account.last4)],
      ['Tried', instant(place, account.checkedAt)],
    ])}
    <p>${SAYS[account.status]}</p>`;
}

function connectSection(place: Place, account: ProcessorAccount | null): Html {
  return section(
    account === null ? 'Connect Stripe' : 'Replace the key',
    form(place, {
      to: '/settings/processor',
      submit: account === null ? 'Connect it' : 'Replace it',
      fields: [
        field(place, {
          name: 'secret_key',
          label: 'Secret key',
          type: 'password',
          isRequired: true,
          hint: `A secret or a restricted key of the ${place.mode} mode. It is tried at Stripe, stored encrypted, and never shown.`,
        }),
        field(place, {
          name: 'webhook_secret',
          label: 'Signing secret',
          type: 'password',
          hint: 'Of an endpoint that you made at Stripe. Empty: one is made there, where the key may.',
        }),
      ],
    }),
  );
}
