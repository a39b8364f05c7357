// What a user is called.
import { renameUser, type User } from '../records/users.ts';
import type { Origin, PeopleDeps } from './people.ts';
import { recordUserAction } from './recorded.ts';

export async function rename(
  deps: Pick<PeopleDeps, 'sql' | 'clock' | 'ids'>,
  who: { readonly user: User; readonly sessionId: string; readonly from: Origin },
  name: string,
): Promise<void> {
  const { user } = who;
  await deps.sql.begin(async (sql) => {
    await renameUser(sql, { id: user.id, name });
    const object = { type: 'user', id: user.id } as const;
    const change = { before: { name: user.name }, after: { name } };
    await recordUserAction(deps, sql, { ...who, operation: 'renameUser', object, ...change });
  });
}
