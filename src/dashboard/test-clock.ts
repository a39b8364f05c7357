// The test clock of an organisation. There is none in live mode.
import { TollhouseError } from '../client/index.ts';
import { testClockPage, type Timeline } from './views/test-clock.ts';
import { pageOf } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { Typed } from './serve/typed.ts';

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
  const { api, form } = visit;
  const typed = new Typed(visit);
  const { now: since } = await api.testClock.retrieve();
  const advance = form.get('advance');
  const target = advance === null ? { now: typed.time('now') ?? '' } : { advance };
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
