// The test clock: what it says, how it is moved, and what happened meanwhile.
import type { Event, TestClock } from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { eventTable } from './events.ts';
import { localTime } from './local-time.ts';
import { field, form } from './forms.ts';
import { facts, heading, live, section } from './parts.ts';
import { pager } from './tables.ts';
import { badge, instant } from './values.ts';
import type { Place } from './place.ts';

/** By the duration that moves it so far. */
const STEPS: readonly { readonly advance: string; readonly label: string }[] = [
  { advance: 'PT1H', label: 'An hour on' },
  { advance: 'P1D', label: 'A day on' },
  { advance: 'P1M', label: 'A month on' },
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
    under: 'What time it is for what this organization has in test mode.',
  })}
  ${live(
    'clock',
    facts([
      ['It says', instant(place, clock.now)],
      ['State', badge(clock.status)],
    ]),
  )}
  ${place.may('moveTestClock') ? moveSection(place, clock) : null}
  ${timeline === null ? null : timelineOf(place, timeline)}`;
}

function moveSection(place: Place, clock: TestClock): Html {
  const to = '/test-clock';
  return section('Move it forward', [
    html`<p>All that is due by then is done, each at its own time. It never goes back.</p>
      <div class="actions">
        ${STEPS.map(({ advance, label }) =>
          form(place, { to, submit: label, hidden: { advance }, isQuiet: true }),
        )}
      </div>`,
    form(place, {
      to,
      submit: 'Move it there',
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
