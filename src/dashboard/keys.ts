// API keys. Making, replacing and revoking one is risky: in live mode the member proves first who
// it is.
import type { ApiKeyScope } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { keysPage, madeKeyPage, nameOf, newKeyPage, overlapField } from './views/keys.ts';
import { PAGE_ROWS_MAX, pageOf, rowOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'keys';
const risk = () => ({ kind: 'api_key' }) as const;

export const KEY_PAGES: readonly DashboardPage[] = [
  { path: '/keys', title: 'API keys', section, needs: ['listApiKeys'], show: showAll },
  {
    path: '/keys/new',
    title: 'New API key',
    section,
    needs: ['createApiKey'],
    show: ({ place }) => Promise.resolve(newKeyPage(place)),
    act: { needs: ['createApiKey'], risk, run: make },
  },
  {
    path: '/keys/:id/rotate',
    title: 'Replace an API key',
    section,
    needs: ['listApiKeys', 'rotateApiKey'],
    show: askRotate,
    act: { needs: ['rotateApiKey'], risk, run: rotate },
  },
  {
    path: '/keys/:id/revoke',
    title: 'Revoke an API key',
    section,
    needs: ['listApiKeys', 'revokeApiKey'],
    show: askRevoke,
    act: { needs: ['revokeApiKey'], risk, run: revoke },
  },
];

const idOf = ({ params }: Visit): string => params['id'] ?? '';

const keyed = ({ key }: Visit) => given({ idempotencyKey: key });

async function showAll({ api, query, place }: Visit) {
  const page = await api.apiKeys.list(pageOf(query));
  return keysPage(place, { page, realNow: Date.now() });
}

const keyOf = (visit: Visit) =>
  rowOf(visit.api.apiKeys.list({ limit: PAGE_ROWS_MAX }), idOf(visit), 'API key');

async function make(visit: Visit) {
  const typed = new Typed(visit);
  const made = await visit.api.apiKeys.create(
    {
      // What is no scope is refused.
      scopes: [typed.required('scopes') as ApiKeyScope],
      ...given({ name: typed.text('name'), expiresAt: typed.time('expires_at') }),
    },
    keyed(visit),
  );
  return madeKeyPage(visit.place, made);
}

async function askRotate(visit: Visit) {
  const { place } = visit;
  const key = await keyOf(visit);
  return confirmPage(place, {
    title: 'Replace key',
    under: nameOf(key),
    text: 'A new key with the same name and scope is created. The old key expires after the overlap.',
    submit: 'Replace',
    to: `/keys/${key.id}/rotate`,
    back: '/keys',
    fields: [overlapField(place)],
  });
}

async function rotate(visit: Visit) {
  const overlapSeconds = new Typed(visit).number('overlap_seconds');
  const made = await visit.api.apiKeys.rotate(idOf(visit), given({ overlapSeconds }), keyed(visit));
  return madeKeyPage(visit.place, made);
}

async function askRevoke(visit: Visit) {
  const key = await keyOf(visit);
  return confirmPage(visit.place, {
    title: 'Revoke key',
    under: nameOf(key),
    text: 'The key stops working at once. Programs that still use it are refused.',
    submit: 'Revoke',
    isGrave: true,
    to: `/keys/${key.id}/revoke`,
    back: '/keys',
  });
}

async function revoke(visit: Visit) {
  await visit.api.apiKeys.revoke(idOf(visit));
  return { to: '/keys', notice: 'removed' } as const;
}
