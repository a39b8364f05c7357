// The payment processor: what is connected; connecting, replacing or disconnecting it is risky: it
// decides where money goes.
import { TollhouseError } from '../client/index.ts';
import type { ProcessorAccount } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { textField } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { button, facts, heading, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { badge, code, instant } from './parts/values.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { type Html, html } from '../pages/html.ts';

const risk = () => ({ kind: 'processor' }) as const;

export const PROCESSOR_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/processor',
    title: 'Payment processor',
    section: 'settings',
    needs: ['getProcessor'],
    show: showProcessor,
    act: { needs: ['connectProcessor'], risk, run: connect },
  },
  {
    path: '/settings/processor/disconnect',
    title: 'Disconnect processor',
    section: 'settings',
    needs: ['getProcessor', 'disconnectProcessor'],
    show: askDisconnect,
    act: { needs: ['disconnectProcessor'], risk, run: disconnect },
  },
];

async function showProcessor({ api, place }: Visit) {
  try {
    return processorPage(place, await api.organization.retrieveProcessor());
  } catch (error) {
    if (error instanceof TollhouseError && error.status === 404) return processorPage(place, null);
    throw error;
  }
}

async function connect(visit: Visit) {
  const account = read(visit, STRIPE);
  await visit.api.organization.connectProcessor({ type: 'stripe', ...account });
  return { to: '/settings/processor', notice: 'changed' } as const;
}

async function askDisconnect({ api, place }: Visit) {
  const { account } = await api.organization.retrieveProcessor();
  return confirmPage(place, {
    title: 'Disconnect processor',
    under: account,
    text: 'New payments no longer go there. Refunds, disputes and renewals of earlier payments stay with it.',
    submit: 'Disconnect',
    isGrave: true,
    to: '/settings/processor/disconnect',
    back: '/settings/processor',
  });
}

async function disconnect({ api }: Visit) {
  await api.organization.disconnectProcessor();
  return { to: '/settings/processor', notice: 'removed' } as const;
}

const SAYS: Readonly<Record<ProcessorAccount['status'], string>> = {
  active: 'Payments go to this account.',
  webhook_secret_required:
    'Payments go to this account, but changes at Stripe are learned late. Create a webhook endpoint at Stripe, and enter its signing secret with the key.',
  failing: 'Stripe refuses the key. Enter another one.',
};

function processorPage(place: Place, account: ProcessorAccount | null): Html {
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

const STRIPE = {
  secretKey: textField({
    label: 'Secret key',
    type: 'password',
    isRequired: true,
    hint: ({ mode }) =>
      `A secret or restricted key of ${mode} mode. It is checked with Stripe, stored encrypted, and never shown.`,
  }),
  webhookSecret: textField({
    label: 'Signing secret',
    type: 'password',
    hint: 'Of a webhook endpoint that you created at Stripe. Leave empty to have one created, if the key allows it.',
  }),
};

function connectSection(place: Place, account: ProcessorAccount | null): Html {
  return section(
    account === null ? 'Connect Stripe' : 'Replace key',
    drawForm(place, STRIPE, {
      to: '/settings/processor',
      submit: account === null ? 'Connect' : 'Replace key',
    }),
  );
}
