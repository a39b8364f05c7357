// What people leave behind is removed when it has long ended, and nothing that is still open.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { newToken } from '../../src/platform/crypto/tokens.ts';
import { hashKey } from '../../src/platform/crypto/keys.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { aMember } from '../http/people/tab.ts';
import { DAY_MS, Keeping } from './keeping.ts';

setDefaultTimeout(60_000);

const EVENTS_MS = 90 * DAY_MS;

let keeping: Keeping;
beforeAll(async () => {
  keeping = await Keeping.open();
});
afterAll(() => keeping.stop());

const daysAgo = (days: number | null) =>
  days === null ? null : new Date(Date.now() - days * DAY_MS);

test('retention deletes links, sessions and invitations long after they have ended', async () => {
  const { server } = keeping.setting;
  const { sql, organisation } = server;
  const user = await aMember(server);
  const kept: string[] = [];
  const id = (isKept: boolean): string => {
    const made = ids.next();
    if (isKept) kept.push(made);
    return made;
  };
  const link = (isKept: boolean, ended: number, used: number | null = null) => sql`
    insert into sign_in_links (id, hash, user_id, created_at, expires_at, used_at)
    values (${id(isKept)}, ${hashKey(newToken())}, ${user.id}, ${daysAgo(ended)}, ${daysAgo(ended)},
      ${daysAgo(used)})`;
  await link(true, 0);
  await link(true, 89, 89);
  await link(false, 91);
  await link(false, 91, 91);
  const session = (isKept: boolean, seen: number, revoked: number | null = null) => sql`
    insert into sessions (id, hash, user_id, created_at, seen_at, revoked_at, address, user_agent)
    values (${id(isKept)}, ${hashKey(newToken())}, ${user.id}, ${daysAgo(seen)}, ${daysAgo(seen)},
      ${daysAgo(revoked)}, '', '')`;
  await session(true, 0);
  await session(true, 89, 89);
  await session(false, 91);
  await session(false, 91, 91);
  const invitation = (
    isKept: boolean,
    { over, accepted = null, revoked = null }: Record<'over', number> & Ended,
  ) => sql`
    insert into invitations (id, organisation_id, email, role, hash, created_at, expires_at,
      accepted_at, revoked_at)
    values (${id(isKept)}, ${organisation.id}, ${`${kept.length}.${ids.next()}@example.com`},
      'support', ${hashKey(newToken())}, ${daysAgo(100)}, ${daysAgo(over)}, ${daysAgo(accepted)},
      ${daysAgo(revoked)})`;
  await invitation(true, { over: -1 });
  await invitation(true, { over: 89 });
  await invitation(true, { over: 89, accepted: 89 });
  await invitation(false, { over: 91 });
  await invitation(false, { over: 89, accepted: 91 });
  await invitation(false, { over: 89, revoked: 91 });
  const { rows } = must(await keeping.retain({ eventsMs: EVENTS_MS }), 'what went');
  expect(rows).toMatchObject({ sign_in_links: 2, sessions: 2, invitations: 3 });
  const left = await sql<{ id: string }[]>`
    select id from sign_in_links union all select id from sessions
    union all select id from invitations`;
  expect(left.map((row) => row.id).toSorted()).toEqual(kept.toSorted());
});

type Ended = { readonly accepted?: number | null; readonly revoked?: number | null };
