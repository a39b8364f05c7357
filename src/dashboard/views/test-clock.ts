// The test clock: what it says, how it is moved, and what happened meanwhile.
import type { Event, TestClock } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { eventTable } from './events.ts';
import { localTime } from '../parts/local-time.ts';
import { field, form } from '../parts/forms.ts';
import { facts, heading, live, section } from '../parts/parts.ts';
import { pager } from '../parts/tables.ts';
import { badge, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** By the duration that moves it so far. */
const STEPS: readonly { readonly advance: string; readonly label: string }[] = [
  { advance: 'PT1H', label: '1 hour forward' },
  { advance: 'P1D', label: '1 day forward' },
  { advance: 'P1M', label: '1 month forward' },
];

/** Events since the clock was moved from there; null before it was moved. */
export type Timeline = {
  readonly since: string;
  readonly events: { readonly data: readonly Event[]; readonly hasMore: boolean };
};

export function testClockPage(
  place: Place,
  { clock, timeline }: { readonly clock: TestClock; readonly timeline: Timeline | null },
): Html {
  return html`${heading('Test clock', {
    under: 'The time of this organization in test mode.',
  })}
  ${live(
    'clock',
    facts([
      ['Time', instant(place, clock.now)],
      ['State', badge(clock.status)],
    ]),
  )}
  ${place.may('moveTestClock') ? moveSection(place, clock) : null}
  ${timeline === null ? null : timelineOf(place, timeline)}`;
}

function moveSection(place: Place, clock: TestClock): Html {
  const to = '/test-clock';
  return section('Move forward', [
    html`<p>
        Everything that is due by then is done, each at its own time. The clock never goes back.
      </p>
      <div class="actions">
        ${STEPS.map(({ advance, label }) =>
          form(place, { to, submit: label, hidden: { advance }, isQuiet: true }),
        )}
      </div>`,
    form(place, {
      to,
      submit: 'Move clock',
      fields: [
        field(place, {
          name: 'now',
          label: `To (${place.zone})`,
          type: 'datetime-local',
          isRequired: true,
          value: localTime(clock.now, place.zone),
        }),
      ],
    }),
  ]);
}

function timelineOf(place: Place, { since, events }: Timeline): Html {
  return section(
    'What happened',
    html`<p class="muted">Since the clock was moved from ${instant(place, since)}, newest first.</p>
      ${eventTable(place, events.data)}
      ${pager(place, { hasMore: events.hasMore, last: events.data.at(-1)?.id })}`,
  );
}
