import { Type } from '@sinclair/typebox';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { listAuditRecords } from '../../records/audit-log.ts';
import type { Whose } from '../../records/page.ts';
import { auditPages } from '../audit-csv.ts';
import type { CsvDownloads } from '../csv-downloads.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import type { FairSql } from '../edge/fair-sql.ts';
import { answerList } from '../list.ts';
import {
  AuditLogEntry,
  AuditLogFilter,
  AuditLogQuery,
  fromAuditRecord,
  toAuditFilter,
} from '../wire/audit-log.ts';
import { fromTo } from '../wire/from-to.ts';
import { ListOf } from '../wire/values.ts';

export type AuditLogRoutesDeps = {
  readonly edge: Edge;
  readonly lists: FairSql;
  readonly downloads: CsvDownloads;
};

const tag = 'Audit log';

const LIST = {
  operationId: 'listAuditLog',
  method: 'GET',
  path: '/audit-log',
  client: 'auditLog.list',
  summary: 'List the audit log, newest first',
  description: [
    'What users did, including signing in and out; what keys did, except routine calls (usage, ' +
      'customers, checkouts, portal links, tags and custom fields); what customers did in the ' +
      'portal; and what an operator did on the command line. An entry is written before the call ' +
      'is answered, and is kept forever.',
    '`before` and `after` have the fields that changed. Secrets and long values are left out. ' +
      'An entry of both modes is in the list of each. Owners and admins may read it.',
  ].join('\n\n'),
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: AuditLogQuery,
  answers: { 200: ListOf(AuditLogEntry) },
} as const;

const DOWNLOAD = {
  operationId: 'downloadAuditLog',
  method: 'GET',
  path: '/audit-log.csv',
  client: 'auditLog.download',
  summary: 'Download the audit log',
  description:
    'The same as CSV (RFC 4180, UTF-8), newest first, with `before` and `after` as JSON. Text ' +
    'that a spreadsheet would read as a formula is prefixed with an apostrophe. An organization ' +
    'may have 4 downloads at a time in a mode on a node (429), and a download may take 10 ' +
    'minutes. A download that is cut off fails: it never looks complete.',
  tag,
  roles: ['owner', 'admin'],
  scopes: ['all', 'read'],
  audit: 'nothing',
  query: AuditLogFilter,
  answers: { 200: Type.String() },
  mediaType: 'text/csv',
  refusals: ['rate_limited'],
} as const;

export function auditLogRoutes(deps: AuditLogRoutesDeps): Route[] {
  return [readAuditLog(deps), downloadAuditLog(deps)];
}

function readAuditLog({ edge, lists }: AuditLogRoutesDeps): Route {
  return edge.organisation(LIST, ({ principal, query }) => {
    const times = fromTo(query);
    if ('length' in times) return refuseInvalid(times);
    const filter = toAuditFilter(query, times);
    return answerList(
      lists,
      { principal, query },
      {
        name: 'auditLog',
        whose: seenBy(principal),
        rows: (sql, page) => listAuditRecords(sql, principal, { ...page, ...filter }),
        show: fromAuditRecord,
      },
    );
  });
}

function downloadAuditLog({ edge, lists, downloads }: AuditLogRoutesDeps): Route {
  return edge.organisation(DOWNLOAD, ({ principal, query, request }) => {
    const times = fromTo(query);
    if ('length' in times) return refuseInvalid(times);
    const pages = auditPages(lists, principal, toAuditFilter(query, times));
    return downloads.send({ caller: principal, request }, { name: 'audit-log.csv', pages });
  });
}

/** Rows of its mode, and of both. */
function seenBy({ organisationId, mode }: Tenant): Whose {
  return { organisation_id: organisationId, mode: { isNot: mode === 'test' ? 'live' : 'test' } };
}
