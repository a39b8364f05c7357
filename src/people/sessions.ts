// Ending sessions: one's own, another of one's own, all of them.
import { revokeSession, revokeSessions } from '../records/sessions.ts';
import type { User } from '../records/users.ts';
import type { Origin, PeopleDeps } from './people.ts';
import { recordUserAction } from './recorded.ts';

type Who = {
  readonly user: Pick<User, 'id' | 'email'>;
  readonly sessionId: string;
  readonly from: Origin;
};

type Deps = Pick<PeopleDeps, 'sql' | 'clock' | 'ids'>;

/** Where it is not the user's, or has ended, nothing happens. */
export async function endSession(deps: Deps, who: Who, id: string): Promise<void> {
  const now = deps.clock.now();
  await deps.sql.begin(async (sql) => {
    if (!(await revokeSession(sql, { userId: who.user.id, id, now }))) return;
    const operation = id === who.sessionId ? 'signOut' : 'revokeSession';
    await recordUserAction(deps, sql, { ...who, operation, object: { type: 'session', id } });
  });
}

export async function endAllSessions(deps: Deps, who: Who): Promise<void> {
  const now = deps.clock.now();
  const { user } = who;
  await deps.sql.begin(async (sql) => {
    const ended = await revokeSessions(sql, { userId: user.id, now });
    const object = { type: 'user', id: user.id } as const;
    const after = { sessions_ended: ended };
    await recordUserAction(deps, sql, { ...who, operation: 'revokeSessions', object, after });
  });
}
