// What a customer used, as a chart for each feature, over days or hours.
import type { Meter, UsageBin } from '../../client/types.ts';
import { showDecimal } from '../../pages/amount.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Bar, chart } from '../parts/chart.ts';
import { section } from '../parts/parts.ts';
import { pager } from '../parts/tables.ts';
import type { Place } from '../parts/place.ts';

export const USAGE_RANGES = ['day', 'hour'] as const;
type Range = (typeof USAGE_RANGES)[number];

/** In the address of the page: the range, and the feature behind which the charts go on. */
export const RANGE_PARAMETER = 'usage_by';
export const FEATURE_PARAMETER = 'usage_after';

/** `none`: its meter has no bins. `later`: usage from before an upgrade is still being added up. */
export type FeatureUsage = {
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
