// Upkeep of the database: tasks that fail, the audit, events, retention, seats.
import { DAY_MS } from '../../ledger/kernel/durations.ts';
import { must } from '../../ledger/kernel/assert.ts';
import { resumeSeats } from '../../ledger/store/nodes.ts';
import { audit } from '../database/audit.ts';
import { retain } from '../database/retention.ts';
import { clock, timers } from '../platform/clock.ts';
import { ids } from '../platform/ids.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { retryEvents } from '../records/event-faults.ts';
import { listFailing, retryFailing } from '../records/followups.ts';
import {
  type Command,
  CommandRefused,
  idOf,
  type Options,
  type Result,
  type Run,
  UsageError,
} from './command.ts';

export const UPKEEP: Readonly<Record<string, Command>> = {
  'followups list': { usage: '', options: [], onlyReads: () => true, plan: () => listFollowups },
  'followups retry': {
    usage: '[FOLLOWUP_ID]',
    options: [],
    takesIds: true,
    plan: (_options, rest) => planFollowupRetry(rest),
  },
  audit: { usage: '', options: [], onlyReads: () => true, plan: () => runAudit },
  'events retry': { usage: '', options: [], plan: () => runEventsRetry },
  retention: {
    usage: '[--dry-run]',
    options: ['dry-run'],
    onlyReads: (options) => options['dry-run'] === true,
    plan: planRetention,
  },
  resume: { usage: '', options: [], plan: () => runResume },
};

const FOLLOWUPS_LISTED_MAX = 1000;

async function listFollowups(sql: Sql): Promise<Result> {
  const failing = await listFailing(sql, FOLLOWUPS_LISTED_MAX);
  const data = failing.map(({ id, kind, tries, error, ...of }) => ({
    id,
    kind,
    status: of.deadAt === null ? 'failing' : 'dead',
    organization_id: of.organisationId,
    mode: of.mode,
    payment_id: of.paymentId,
    subscription_id: of.subscriptionId,
    tries,
    failing_since: of.failingSince.toISOString(),
    next_attempt_at: of.deadAt === null ? of.nextAt.toISOString() : null,
    error,
  }));
  return { value: { data } };
}

/** A server tries them with its next sweep. */
function planFollowupRetry(rest: readonly string[]): Run {
  if (rest.length > 1) throw new UsageError('followups retry takes one FOLLOWUP_ID');
  const id = rest[0] === undefined ? null : idOf('FOLLOWUP_ID', rest[0]);
  return async (sql) => {
    const retried = await retryFailing(sql, id);
    if (id !== null && retried === 0) throw new CommandRefused(`no follow-up ${id} fails`);
    return { value: { retried } };
  };
}

/** Derives every balance again; a difference is a failure. */
async function runAudit(sql: Sql): Promise<Result> {
  const findings = await audit(sql);
  return { value: { findings }, failed: findings.length > 0 };
}

/** What kept the relay from passing them on is mended. */
async function runEventsRetry(sql: Sql): Promise<Result> {
  return { value: { queued: await retryEvents(sql) } };
}

/**
 * A node had written what a promoted copy of the database lacks: that is accepted as lost, and
 * others may serve what was its own.
 */
async function runResume(sql: Sql): Promise<Result> {
  return { value: { resumed: await resumeSeats(sql) } };
}

/**
 * Lets go of what is older than the windows of the configuration, by the database's clock: a
 * machine with a wrong one must not forget keys. Another one at the same time is left to it, and is
 * no failure.
 */
function planRetention({ 'dry-run': dryRun = false }: Options): Run {
  return async (sql, { retention: { keysDays, eventsDays, denialsDays, usageMonths } }) => {
    const [found] = await sql<{ now: Date }[]>`select now()`;
    const now = must(found, 'a time').now.getTime();
    const retained = await retain(
      { sql, clock: { ...clock, now: () => now }, timers, ids, dryRun },
      {
        keysMs: keysDays * DAY_MS,
        eventsMs: eventsDays * DAY_MS,
        denialsMs: denialsDays * DAY_MS,
        usageMonths: usageMonths === 0 ? null : usageMonths,
      },
    );
    if (retained === null) return { value: { skipped: 'another one is at it' } };
    return { value: { dry_run: dryRun, ...retained } };
  };
}
