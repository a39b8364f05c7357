// Shows that the relay's random test can fail: each fault is planted in a function of the
// migrations, and a check must report it.
import { expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { seeded } from '../support/random.ts';
import { faultsOf } from './relay-world.ts';

const OLDEST_FIRST = `OVER (ORDER BY q.place) AS nth FROM event_queue q
          WHERE q.organisation_id = t.organisation_id ORDER BY q.place`;

/** The change in a function of the migration, and the expected report. */
// prettier-ignore
const FAULTS: [what: string, of: string, from: string, to: string, said: RegExp][] = [
  ['two at once',                      'relay_events', ' FOR UPDATE SKIP LOCKED', '',                    /set aside|positions|passed of/],
  ['an endpoint that came later',      'owed_to',      ' AND w.place < queued.place', '',                 /^owed: /],
  ['the other mode',                   'owed_to',      'w.mode = e.mode AND ', '',                        /^owed: /],
  ['a group that is not told',         'owed_to',      ' OR w.group_id = o.group_id', '',                 /^not owed: /],
  ['who only its group listens to',    'pass_events',  'w.group_id = o.group_id', 'false',                /^not owed: /],
  ['who only listens itself',          'pass_events',  'w.organisation_id = o.id', 'false',               /^not owed: /],
  ['newest first',                     'relay_events', OLDEST_FIRST, OLDEST_FIRST.replaceAll('q.place', 'q.place DESC'), /out of order/],
  ['an event that stays on the queue', 'pass_events',  'q.place = p.place', 'q.place = p.place AND p.nth = 1', /left|set aside|passed of/],
  ['a position that is skipped',       'pass_events',  'position + cardinality(chosen)', 'position + cardinality(chosen) + 1', /positions/],
];

/**
 * The seed does not fix what two relays do at once: where one world finds nothing, the next one
 * may.
 */
const WORLDS = 100;

test.each(FAULTS)(
  'the checks of the relay notice a planted fault: %s',
  async (_what, of, from, to, said) => {
    const plant = async (sql: Sql) => {
      const [row] = await sql<{ source: string }[]>`
        select pg_get_functiondef(oid) as source from pg_proc where proname = ${of}`;
      expect(row!.source).toContain(from);
      await sql.unsafe(row!.source.replace(from, to));
    };
    let isSeen = false;
    for (let seed = 1; seed <= WORLDS && !isSeen; seed += 1) {
      const faults = await faultsOf(seeded(seed), plant);
      isSeen = faults.some((fault) => said.test(fault));
    }
    expect(isSeen).toBe(true);
  },
  300_000,
);
