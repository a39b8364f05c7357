// What a customer used and was denied, for its page.
import { DeadlineError, type Tollhouse, UnavailableError } from '../client/index.ts';
import type { Balance, Decision, LiveGrant, Meter } from '../client/types.ts';
import {
  type CustomerUsage,
  type FeatureUsage,
  FEATURE_PARAMETER,
  RANGE_PARAMETER,
  USAGE_RANGES,
} from './views/customer-usage.ts';
import { choiceOf } from './serve/lists.ts';
import type { Visit } from './serve/page.ts';

/** As many charts as a page has. */
const CHARTS = 3;
const DENIALS = 10;
/** As long as it is tried again, where it cannot be read. */
const USAGE_MS = 4000;

type Feature = { readonly balance: Balance; readonly grants: readonly LiveGrant[] };

/** `features`: in the order of their keys. One that is only given or not given is not counted. */
export async function usageOf(
  { api, query, place }: Visit,
  customerId: string,
  features: readonly Feature[],
): Promise<CustomerUsage> {
  const range = choiceOf(query, RANGE_PARAMETER, USAGE_RANGES) ?? 'day';
  const after = query.get(FEATURE_PARAMETER) ?? '';
  const counted = features
    .filter(({ grants }) => grants.length === 0 || grants.some((grant) => !grant.boolean))
    .filter(({ balance }) => balance.featureKey > after);
  const read: FeatureUsage[] = [];
  // In turn: an organisation has few places in the lane of lists.
  for (const { balance } of counted.slice(0, CHARTS)) {
    const meter = await api.meters.retrieve(balance.meterId);
    const isLate = read.some(({ bins }) => bins === 'later');
    const of = { customerId, range, zone: place.zone };
    read.push({ meter, bins: isLate ? 'later' : await binsOf(api, meter, of) });
  }
  return { range, features: read, hasMore: counted.length > CHARTS };
}

async function binsOf(
  api: Tollhouse,
  { slug: featureKey, aggregation }: Meter,
  of: { readonly customerId: string; readonly range: 'day' | 'hour'; readonly zone: string },
): Promise<FeatureUsage['bins']> {
  if (aggregation !== 'sum' && aggregation !== 'count') return 'none';
  const { customerId, range: bin, zone: timezone } = of;
  const asked = { featureKey, customerId, bin, timezone };
  try {
    return (await api.usage.retrieve(asked, { timeoutMs: USAGE_MS })).data;
  } catch (error) {
    // The rest of the page is shown.
    if (error instanceof UnavailableError || error instanceof DeadlineError) return 'later';
    throw error;
  }
}

/** Newest first. */
export async function denialsOf(
  { api, place }: Visit,
  customerId: string,
): Promise<readonly Decision[]> {
  const at = new Date(place.now).toISOString();
  const { data } = await api.decisions.find({ customerId, at, only: 'denied', limit: DENIALS });
  return data.slice(0, DENIALS);
}
