// The processor of payments. To connect, replace or disconnect it is risky: it decides where money
// goes.
import { TollhouseError } from '../client/index.ts';
import { confirmPage } from './parts/confirm.ts';
import { processorPage } from './views/processor.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'settings';
const risk = () => ({ kind: 'processor' }) as const;

export const PROCESSOR_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/processor',
    title: 'Payment processor',
    section,
    needs: ['getProcessor'],
    show: showProcessor,
    act: { needs: ['connectProcessor'], risk, run: connect },
  },
  {
    path: '/settings/processor/disconnect',
    title: 'Disconnect processor',
    section,
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
  const typed = new Typed(visit);
  await visit.api.organization.connectProcessor({
    type: 'stripe',
    secretKey: typed.required('secret_key'),
    ...given({ webhookSecret: typed.text('webhook_secret') }),
  });
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
