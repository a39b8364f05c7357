// What an operator changes on the command line, in the audit log.
import { hostname, userInfo } from 'node:os';
import { differenceOf } from '../audit-log/difference.ts';
import { clock } from '../platform/clock.ts';
import { ServiceFailure } from '../platform/failure.ts';
import { ids } from '../platform/ids.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { safeError } from '../platform/postgres/safe-error.ts';
import { findOwner, insertAuditRecord } from '../records/audit-log.ts';
import { isUuid } from '../records/uuid.ts';
import { modeOf, type Options } from './command.ts';

export type Executed = {
  /** `key create` */
  readonly name: string;
  readonly options: Options;
  /** What stood behind the name. */
  readonly rest: readonly string[];
  /** What is printed. */
  readonly value: unknown;
};

const OBJECTS: Readonly<Record<string, string>> = {
  org: 'organization',
  key: 'api_key',
  followups: 'followup',
  differences: 'difference',
};

/** @throws ServiceFailure: the command is done, and nobody can tell from the log */
export async function recordCommand(sql: Sql, executed: Executed): Promise<void> {
  const { name, options, rest } = executed;
  const [noun = ''] = name.split(' ');
  const value = (executed.value ?? {}) as Readonly<Record<string, unknown>>;
  const known = [value['id'], value['organization_id'], value['group_id'], rest[0]];
  const objectId = known.find((id): id is string => typeof id === 'string') ?? null;
  try {
    const found = objectId !== null && isUuid(objectId) ? await findOwner(sql, objectId) : null;
    const { org, mode } = options;
    const named = {
      organisationId: org !== undefined && isUuid(org) ? org : null,
      groupId: null,
      mode: mode !== undefined || noun === 'processor' ? modeOf(mode) : null,
    };
    await insertAuditRecord(sql, {
      id: ids.next(),
      otherId: null,
      ...(found ?? named),
      at: new Date(clock.now()),
      actorKind: 'command_line',
      actorId: null,
      actorLabel: `${accountName()}@${hostname()}`,
      sessionId: null,
      address: null,
      userAgent: null,
      requestId: null,
      operation: name,
      objectType: OBJECTS[noun] ?? noun.replaceAll('-', '_'),
      objectId,
      status: null,
      ...differenceOf(null, value),
    });
  } catch (error) {
    const why = safeError(error).message;
    throw new ServiceFailure(`${name} is done, but the audit log was not written: ${why}`);
  }
}

/** Of the operating system. A container may run as one that has no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
