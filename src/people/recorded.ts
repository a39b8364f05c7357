// What users do at the door, in the audit log: they sign in and out, end sessions, set up a second
// factor and give its codes, prove their address, accept invitations.
//
// Holds: the row is written in the transaction of what it tells of. It goes to each organisation of
// which the user is a member then, because whoever has signed in may enter any of them; of a user
// who is no member, to the installation. What was refused is told of a user who is known, and at
// most REFUSALS_MAX times an hour: nobody fills the log by guessing.
import { HOUR_MS } from '../../ledger/kernel/durations.ts';
import { differenceOf } from '../audit-log/difference.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';
import { countAuditRecordsOf, insertAuditRecord } from '../records/audit-log.ts';
import { listOrganisationsOf } from '../records/members.ts';
import { holdUser, type User } from '../records/users.ts';
import type { Origin, PeopleDeps } from './people.ts';

const REFUSALS_MAX = 10;

export type DoorOperation =
  | 'signIn'
  | 'signOut'
  | 'revokeSession'
  | 'revokeSessions'
  | 'enableSecondFactor'
  | 'disableSecondFactor'
  | 'giveSecondFactor'
  | 'useRecoveryCode'
  | 'renameUser'
  | 'proveAddress'
  | 'acceptInvitation';

/** What was refused, and why. */
export type Refusal = 'link_used' | 'link_over' | 'user_disabled' | 'wrong_code';

type Who = {
  readonly user: Pick<User, 'id' | 'email'>;
  readonly sessionId: string | null;
  readonly from: Origin;
};

export type UserAction = Who & {
  readonly operation: DoorOperation;
  readonly object: { readonly type: 'session' | 'user' | 'invitation'; readonly id: string };
  readonly before?: object;
  readonly after?: object;
  /** Of the answer; 303 where it is left out. */
  readonly status?: number;
  /** Where it concerns one organisation alone. */
  readonly organisationId?: string;
};

type Deps = Pick<PeopleDeps, 'clock' | 'ids'>;

export async function recordUserAction(
  deps: Deps,
  sql: Transaction,
  action: UserAction,
): Promise<void> {
  const { user, organisationId } = action;
  const concerned =
    organisationId === undefined ? await listOrganisationsOf(sql, user.id) : [organisationId];
  await insertInto(deps, sql, concerned, action);
}

/** Nothing where it was told of often enough. */
export async function recordRefusal(
  deps: Deps,
  sql: Transaction,
  refused: Who & { readonly why: Refusal; readonly status: number },
): Promise<void> {
  const { user, why, ...rest } = refused;
  // One at a time for each user.
  await holdUser(sql, user.id);
  const concerned = await listOrganisationsOf(sql, user.id);
  const told = await countAuditRecordsOf(sql, {
    organisationId: concerned[0] ?? null,
    actorId: user.id,
    operation: REFUSED,
    since: new Date(deps.clock.now() - HOUR_MS),
  });
  if (told >= REFUSALS_MAX) return;
  const object = { type: 'user', id: user.id } as const;
  const action = { ...rest, user, operation: REFUSED, object, after: { reason: why } } as const;
  await insertInto(deps, sql, concerned, action);
}

const REFUSED = 'refuseSignIn';

async function insertInto(
  { clock, ids }: Deps,
  sql: Executor,
  organisationIds: readonly string[],
  action: Omit<UserAction, 'operation'> & { readonly operation: string },
): Promise<void> {
  const { user, sessionId, from, operation, object, before, after, status = 303 } = action;
  for (const organisationId of organisationIds.length === 0 ? [null] : organisationIds) {
    await insertAuditRecord(sql, {
      id: ids.next(),
      otherId: null,
      organisationId,
      groupId: null,
      mode: null,
      at: new Date(clock.now()),
      actorKind: 'user',
      actorId: user.id,
      actorLabel: user.email,
      sessionId,
      address: from.address,
      userAgent: from.userAgent,
      requestId: from.requestId,
      operation,
      objectType: object.type,
      objectId: object.id,
      status,
      ...differenceOf(before ?? null, after ?? null),
    });
  }
}
