// Reconciliation from the command line, and what an operator makes of its differences.
import type { Log } from '../../ledger/ports.ts';
import { clock } from '../platform/clock.ts';
import { loadSecretsKey, openSecrets } from '../platform/crypto/secrets.ts';
import { ids } from '../platform/ids.ts';
import { reconcileNow, type Reconciled } from '../reconciliation/on-demand.ts';
import { booksOpener } from '../reconciliation/open.ts';
import { acceptDifference } from '../records/reconciliation-differences.ts';
import {
  type Command,
  CommandRefused,
  idOf,
  type Options,
  type Run,
  UsageError,
} from './command.ts';

export const RECONCILE: Readonly<Record<string, Command>> = {
  reconcile: {
    usage: '[--since DATE] [--org ORG_ID]',
    options: ['since', 'org'],
    plan: planReconcile,
  },
  'differences accept': {
    usage: 'DIFFERENCE_ID',
    options: [],
    takesIds: true,
    plan: (_options, rest) => planAccept(rest),
  },
};

/** What it found is printed. */
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A difference, and an account that could not be read, are a failure. */
function planReconcile({ since, org }: Options): Run {
  const from = since === undefined ? null : dateOf(since);
  const organisationId = org === undefined ? null : idOf('--org', org);
  return async (sql, config) => {
    const secrets = openSecrets(loadSecretsKey(config));
    const booksOf = booksOpener({ secrets, apiUrl: config.stripeApiUrl ?? null });
    const reconciled = await reconcileNow(
      { sql, ids, log: SILENT, clock, booksOf, mend: null },
      { since: from, organisationId, now: clock.now() },
    );
    const failed =
      reconciled.differences.length > 0 ||
      reconciled.accounts.some(({ ended }) => ended === 'failed');
    return { value: shown(reconciled), failed };
  };
}

function shown({ accounts, differences }: Reconciled) {
  return {
    accounts: accounts.map((run) => ({
      organization_id: run.organisationId,
      mode: run.mode,
      processor: run.processor,
      ended: run.ended,
      since: run.since.toISOString(),
      until: run.until.toISOString(),
      compared: Number(run.compared),
      not_ours: Number(run.notOurs),
      error: run.error,
    })),
    differences: differences.map((one) => ({
      id: one.id,
      organization_id: one.organisationId,
      mode: one.mode,
      processor: one.processor,
      kind: one.kind,
      subject: one.subject,
      key: one.key,
      reference: one.reference,
      payment_id: one.paymentId,
      ours: one.ours,
      theirs: one.theirs,
      found_at: one.foundAt.toISOString(),
      seen_at: one.seenAt.toISOString(),
    })),
  };
}

function planAccept(rest: readonly string[]): Run {
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError('differences accept takes one DIFFERENCE_ID');
  const id = idOf('DIFFERENCE_ID', given);
  return async (sql) => {
    if (await acceptDifference(sql, id)) return { value: { accepted: id } };
    throw new CommandRefused(`no difference ${id} is open`);
  };
}

/** A day in UTC, or a time with its zone. */
function dateOf(text: string): Date {
  const isOne = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(
    text,
  );
  const at = isOne ? Date.parse(text) : Number.NaN;
  if (at >= 0 && at < clock.now()) return new Date(at);
  throw new UsageError('--since must be a day or a time that has passed, such as 2026-11-01');
}
