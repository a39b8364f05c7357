// Why a customer was denied: by whatever is at hand, an id, a key, or a customer and a time.
import type { Decisions } from '../client/types.ts';
import { instantOf } from './parts/local-time.ts';
import { whyPage, type WhyView } from './views/why.ts';
import { isUuid } from '../records/uuid.ts';
import { customerNamed, faultOf, filterOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { orNone } from './serve/refusals.ts';
import { given } from './serve/typed.ts';

export const WHY_PAGES: readonly DashboardPage[] = [
  { path: '/why', title: 'Why', section: 'why', needs: ['listDecisions'], show: showWhy },
];

/** `2026-11-23T14:03`: a field has no seconds where they are 0. */
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

async function showWhy(visit: Visit) {
  const { place } = visit;
  try {
    return whyPage(place, await told(visit));
  } catch (error) {
    return whyPage({ ...place, fault: faultOf(error) }, { kind: 'asking' });
  }
}

async function told(visit: Visit): Promise<WhyView> {
  const { api, query } = visit;
  const search = filterOf(query, 'search');
  const asked = filterOf(query, 'customer');
  const customer = asked === undefined ? undefined : await customerNamed(api, asked);
  if (customer === null) return { kind: 'nobody' };
  if (search !== undefined) {
    const found = await bySearch(visit, search, customer);
    return found === null ? { kind: 'nobody' } : shownOf(visit, found);
  }
  if (customer === undefined) return { kind: 'asking' };
  const at = atOf(visit);
  const featureKey = filterOf(query, 'feature_key');
  const found = await orNone(api.decisions.find({ at, ...customer, ...given({ featureKey }) }));
  return found === null ? { kind: 'nobody' } : shownOf(visit, found);
}

type Named = NonNullable<Awaited<ReturnType<typeof customerNamed>>>;

/** By the id of an event or of anything else, then by that of a request, then by a key. */
async function bySearch(
  { api }: Visit,
  search: string,
  customer: Named | undefined,
): Promise<Decisions | null> {
  const looks = [
    ...(isUuid(search) ? [() => api.decisions.find({ eventId: search })] : []),
    ...(search.length <= 128 ? [() => api.decisions.find({ requestId: search })] : []),
    ...(customer === undefined
      ? []
      : [() => orNone(api.decisions.find({ idempotencyKey: search, ...customer }))]),
  ];
  let found: Decisions | null = { data: [], state: null, object: null };
  for (const look of looks) {
    found = await look();
    if (found !== null && (found.data.length > 0 || found.object !== null)) break;
  }
  return found;
}

/** Now where none was given; the middle of a minute that was given without seconds. */
function atOf({ query, place }: Visit): string {
  const exact = filterOf(query, 'instant');
  if (exact !== undefined) return exact;
  const local = filterOf(query, 'at');
  if (local === undefined) return new Date(place.now).toISOString();
  return instantOf(MINUTE.test(local) ? `${local}:30` : local, place.zone);
}

/** With what the links need: a refund is shown on the page of its payment. */
async function shownOf({ api, place }: Visit, found: Decisions): Promise<WhyView> {
  const { object } = found;
  const isRefund = object?.type === 'refund' && place.may('getRefund');
  const refund = isRefund ? await orNone(api.refunds.retrieve(object.id)) : null;
  return { kind: 'found', found, paymentId: refund?.paymentId ?? null };
}
