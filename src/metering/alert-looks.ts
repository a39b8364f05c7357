// Looks at customers for new alerts: those who are past one already. Every node runs one of these;
// one works at an alert at a time.
//
// An alert of one customer is looked at by the call that makes it, and here where that was cut off.
// One for each customer is looked at here: customers in batches, by what is written of them, and
// the actors of those who are past it.
//
// Holds: each step is one batch of one alert, in one transaction on a connection of its own. The
// alert that has waited longest is next, so no organisation waits for all customers of another one.
// A node that dies leaves the alert where its last step ended. What is looked at twice fires once.
// Between steps this rests for as long as a step took. After close() no step begins.
import { type Clock, LedgerUnavailable, type Timers } from '../../ledger/ports.ts';
import type { AlertLook } from '../../ledger/ledger.ts';
import { BackgroundWork, inSteps } from '../platform/background/background-work.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import {
  nextCustomers,
  noteLook,
  type OwedLook,
  postponeLook,
  takeOwedLook,
} from '../records/alert-looks.ts';

const EVERY_MS = 1000;
/** Actors that are asked at once. */
const AT_ONCE = 20;
/** A step that is under way when the service closes. */
const CLOSE_MS_MAX = 5000;

type AlertLooksDeps = {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timers: Timers;
  readonly log: { error(fields: object, message: string): void };
  /** Whether this node can ask actors: without a seat it would put off what another can do. */
  readonly isReady: () => boolean;
  readonly look: (customerId: string, look: AlertLook) => Promise<void>;
};

/** Not begun. */
export function alertLooks(deps: AlertLooksDeps): BackgroundWork {
  const { timers, log, isReady } = deps;
  return new BackgroundWork({
    timers,
    log,
    failed: 'customers are looked at later',
    everyMs: EVERY_MS,
    closeMsMax: CLOSE_MS_MAX,
    work: ({ isOver }) =>
      inSteps(
        deps,
        () => isOver() || !isReady(),
        () => step(deps),
      ),
  });
}

/** Whether there was something to do. */
function step(deps: AlertLooksDeps): Promise<boolean> {
  const { sql, log, look } = deps;
  return sql.begin(async (transaction) => {
    const owed = await takeOwedLook(transaction);
    if (owed === null) return false;
    const { id, customerId } = owed;
    const { past, last } =
      customerId === null
        ? await nextCustomers(transaction, owed)
        : { past: [customerId], last: null };
    try {
      await lookAll(look, past, owed);
      await noteLook(transaction, id, last);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable))
        log.error({ err: error }, 'an alert will be checked later');
      await postponeLook(transaction, id);
    }
    return true;
  });
}

async function lookAll(
  look: AlertLooksDeps['look'],
  customerIds: readonly string[],
  { id: alertId, meter, customerId }: OwedLook,
): Promise<void> {
  const waiting = [...customerIds];
  const next = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await look(id, { alertId, meter, isOwn: customerId !== null });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
