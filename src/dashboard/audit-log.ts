import { ACTOR_KINDS, auditLogPage } from './views/audit-log.ts';
import { instantOf } from './parts/local-time.ts';
import { choiceOf, filterOf, pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { given } from './serve/typed.ts';

export const AUDIT_LOG_PAGES: readonly DashboardPage[] = [
  {
    path: '/audit-log',
    title: 'Audit log',
    section: 'auditLog',
    needs: ['listAuditLog'],
    show: showAuditLog,
  },
  {
    path: '/audit-log.csv',
    title: 'Audit log',
    section: 'auditLog',
    needs: ['downloadAuditLog'],
    show: downloadAuditLog,
  },
];

async function showAuditLog(visit: Visit) {
  const { api, query } = visit;
  const { place, rows } = await searched(visit.place, () =>
    api.auditLog.list({ ...pageOf(query), ...filtersOf(visit) }),
  );
  return auditLogPage(place, rows);
}

function downloadAuditLog(visit: Visit): Promise<Response> {
  const { actorKind, objectId, ...same } = filtersOf(visit);
  const asked = given({ ...same, actor_kind: actorKind, object_id: objectId });
  return visit.download(`/audit-log.csv?${new URLSearchParams(asked).toString()}`);
}

function filtersOf({ query, place: { zone } }: Pick<Visit, 'query' | 'place'>) {
  const time = (name: string) => {
    const local = filterOf(query, name);
    return local === undefined ? undefined : instantOf(local, zone);
  };
  return given({
    operation: filterOf(query, 'operation'),
    actor: filterOf(query, 'actor'),
    actorKind: choiceOf(query, 'actor_kind', ACTOR_KINDS),
    objectId: filterOf(query, 'object_id'),
    from: time('from'),
    to: time('to'),
  });
}
