// What a customer was denied, each no with the way to its explanation.
import type { Decision } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { link, section } from '../parts/parts.ts';
import { table } from '../parts/tables.ts';
import { instant, quantity } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { explanationOf } from '../why.ts';

/** `denials`: newest first. */
export function denialsSection(place: Place, denials: readonly Decision[]): Html {
  return section(
    'Denials',
    html`<div id="denials" data-live>
      ${table({
        caption: 'Latest denials',
        columns: [
          'When',
          'Feature',
          { label: 'Requested', isNumber: true },
          { label: 'Left', isNumber: true },
          'Reason',
          { label: 'Count', isNumber: true },
        ],
        rows: denials.map((denial) => [
          link(place, explanationOf(denial), instant(place, denial.at)),
          denial.featureKey,
          quantity(denial.value),
          quantity(denial.balanceBefore.balance),
          denial.rule,
          String(denial.count),
        ]),
        empty: 'No recent denials.',
      })}
    </div>`,
  );
}
