// The test clock of an organisation: what it says, how it is moved, what happened meanwhile. There
// is none in live mode.
import { TollhouseError } from '../client/index.ts';
import type { Event, TestClock } from '../client/types.ts';
import { eventTable } from './events.ts';
import { form } from './parts/forms.ts';
import { time } from './form/field.ts';
import { drawForm, read } from './form/form.ts';
import { facts, heading, live, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager } from './parts/tables.ts';
import { badge, instant } from './parts/values.ts';
import { pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { type Html, html } from '../pages/html.ts';

/** A page does not wait longer for the clock: it is moved on without it. */
const WAIT_MS = 8000;

export const TEST_CLOCK_PAGES: readonly DashboardPage[] = [
  {
    path: '/test-clock',
    title: 'Test clock',
    section: 'testClock',
    needs: ['getTestClock', 'listEvents'],
    show: showClock,
    act: { needs: ['getTestClock', 'moveTestClock'], run: move },
  },
];

async function showClock({ api, query, place }: Visit) {
  const clock = await api.testClock.retrieve();
  const since = query.get('since');
  return testClockPage(place, { clock, timeline: since === null ? null : await timeline() });

  async function timeline(): Promise<Timeline> {
    const from = since ?? '';
    return {
      since: from,
      events: await api.events.list({ since: from, ...pageOf(query) }),
    };
  }
}

async function move(visit: Visit) {
  const { api } = visit;
  const { now: since } = await api.testClock.retrieve();
  const advance = visit.form.get('advance');
  const target = advance === null ? read(visit, MOVE) : { advance };
  const to = `/test-clock?since=${encodeURIComponent(since)}`;
  try {
    await api.testClock.advance(target, { timeoutMs: WAIT_MS });
  } catch (error) {
    const isOnItsWay = error instanceof TollhouseError && error.status === null;
    if (!isOnItsWay) throw error;
    return { to, notice: 'moving' } as const;
  }
  return { to, notice: 'moved' } as const;
}

/** By the duration that moves it so far. */
const STEPS: readonly { readonly advance: string; readonly label: string }[] = [
  { advance: 'PT1H', label: '1 hour forward' },
  { advance: 'P1D', label: '1 day forward' },
  { advance: 'P1M', label: '1 month forward' },
];

/** Events since the clock was moved from there; null before it was moved. */
type Timeline = {
  readonly since: string;
  readonly events: { readonly data: readonly Event[]; readonly hasMore: boolean };
};

const MOVE = { now: time({ label: ({ zone }) => `To (${zone})`, isRequired: true }) };

function testClockPage(
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
    drawForm(place, MOVE, { to, submit: 'Move clock', values: clock }),
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
