// The audit log as a download, newest first.
import {
  type AuditFilter,
  type AuditRecord,
  auditPlaceOf,
  listAuditRecords,
} from '../records/audit-log.ts';
import type { Cursor } from '../records/page.ts';
import { csvRow, csvText } from './csv.ts';
import type { OrganisationPrincipal } from './edge/auth.ts';
import type { FairSql } from './edge/fair-sql.ts';

/** A row may have 128 KiB. */
const ROWS_A_PAGE = 5;

const COLUMNS = [
  'id',
  'at',
  'mode',
  'actor_kind',
  'actor_id',
  'actor_label',
  'session_id',
  'address',
  'user_agent',
  'request_id',
  'operation',
  'object_type',
  'object_id',
  'status',
  'before',
  'after',
] as const;

export async function* auditPages(
  lists: FairSql,
  caller: OrganisationPrincipal,
  filter: AuditFilter,
): AsyncGenerator<string, undefined> {
  yield csvRow(COLUMNS);
  let after: Cursor | undefined;
  for (;;) {
    const page = { limit: ROWS_A_PAGE, offset: 0, after };
    const rows = await lists.run(caller, (sql) =>
      listAuditRecords(sql, caller, { ...filter, ...page }),
    );
    const shown = rows.slice(0, ROWS_A_PAGE);
    const last = shown.at(-1);
    if (last !== undefined) yield shown.map(rowOf).join('');
    if (last === undefined || rows.length <= ROWS_A_PAGE) return undefined;
    after = auditPlaceOf(last);
  }
}

function rowOf(row: AuditRecord): string {
  const json = (state: object | null) => (state === null ? '' : JSON.stringify(state));
  return csvRow([
    row.id,
    row.at.toISOString(),
    row.mode ?? '',
    row.actorKind,
    row.actorId ?? '',
    csvText(row.actorLabel),
    row.sessionId ?? '',
    csvText(row.address ?? ''),
    csvText(row.userAgent ?? ''),
    csvText(row.requestId ?? ''),
    csvText(row.operation),
    row.objectType,
    csvText(row.objectId ?? ''),
    row.status === null ? '' : String(row.status),
    csvText(json(row.before)),
    csvText(json(row.after)),
  ]);
}
