// What a customer used, as a chart for each feature, over days or hours; and what it was denied.
import { DeadlineError, type Tollhouse, UnavailableError } from '../client/index.ts';
import type { Balance, Decision, LiveGrant, Meter, UsageBin } from '../client/types.ts';
import { type Bar, chart } from './parts/chart.ts';
import { section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager } from './parts/tables.ts';
import { choiceOf } from './serve/lists.ts';
import type { Visit } from './serve/page.ts';
import { showDecimal } from '../pages/amount.ts';
import { type Html, html } from '../pages/html.ts';

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

const USAGE_RANGES = ['day', 'hour'] as const;
type Range = (typeof USAGE_RANGES)[number];

/** In the address of the page: the range, and the feature behind which the charts go on. */
const RANGE_PARAMETER = 'usage_by';
const FEATURE_PARAMETER = 'usage_after';

/** `none`: its meter has no bins. `later`: usage from before an upgrade is still being added up. */
type FeatureUsage = {
  readonly meter: Meter;
  readonly bins: readonly UsageBin[] | 'none' | 'later';
};

export type CustomerUsage = {
  readonly range: Range;
  /** A few of its features. */
  readonly features: readonly FeatureUsage[];
  readonly hasMore: boolean;
};

export function usageSection(place: Place, usage: CustomerUsage): Html {
  const { range, features, hasMore } = usage;
  return section(
    'Usage',
    html`<div class="stack" id="usage" data-live>
      ${features.length === 0 ? html`<p class="empty">No metered features.</p>` : null}
      ${features.map((feature) => drawn(place, range, feature))}
      ${pager(place, { hasMore, last: features.at(-1)?.meter.slug }, FEATURE_PARAMETER)}
    </div>`,
    USAGE_RANGES.map((each) => rangeLink(place, each, each === range)),
  );
}

const RANGES: Readonly<
  Record<Range, { readonly label: string; readonly title: string; readonly format: object }>
> = {
  day: {
    label: 'By day',
    title: 'by day, the last 30 days',
    format: { dateStyle: 'medium' },
  },
  hour: {
    label: 'By hour',
    title: 'by hour, the last 24 hours',
    format: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  },
};

function rangeLink(place: Place, range: Range, isCurrent: boolean): Html {
  const query = new URLSearchParams(place.query);
  query.set(RANGE_PARAMETER, range);
  return html`<a
    class="button quiet"
    href="?${query.toString()}"
    ${isCurrent ? html`aria-current="true"` : null}
    >${RANGES[range].label}</a
  >`;
}

function drawn(place: Place, range: Range, { meter, bins }: FeatureUsage): Html {
  const { slug, unit, aggregation } = meter;
  if (bins === 'none') {
    return html`<p class="empty">
      No chart of ${slug}: its aggregation is ${aggregation}, which is not a sum over time.
    </p>`;
  }
  if (bins === 'later') {
    return html`<p class="empty">
      Usage of ${slug} is not available yet: usage from before this release is still being added up.
    </p>`;
  }
  const { title, format } = RANGES[range];
  const clock = new Intl.DateTimeFormat('en-GB', { ...format, timeZone: place.zone });
  return chart({
    id: `usage-${slug}`,
    title: `Usage of ${slug} ${title}`,
    unit: unit ?? 'Used',
    bars: bins.map((bin) => barOf(clock.format(new Date(bin.start)), bin)),
  });
}

/** Of more digits than the API tells. */
const TOO_MANY_DIGITS = 1e15;

function barOf(label: string, { value }: UsageBin): Bar {
  if (value === null) return { label, height: TOO_MANY_DIGITS, text: 'more than 15 digits' };
  return { label, height: Math.max(0, value), text: showDecimal(String(value)) };
}
