import type { Meter } from '../metering/meter.ts';
import { decideLook } from '../metering/alert-look.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { OwnershipSession } from './ownership-session.ts';

/** An alert that was made or deleted, and the meter that it is on. */
export type AlertLook = {
  readonly alertId: string;
  readonly meter: Meter;
  /** Whether it is this customer's own: then its actor reads its alerts again. */
  readonly isOwn: boolean;
};

/**
 * Looks at a customer once for an alert, on its actor: what it is past already fires. Later usage
 * fires by itself. It may be repeated: what has fired does not fire again.
 */
export async function lookAtAlert(
  session: OwnershipSession,
  customerId: string,
  { alertId, meter: sent, isOwn }: AlertLook,
): Promise<null> {
  const { executor, contexts, deps } = session;
  const meter = contexts.meter(sent);
  if (isOwn) await readAgain(session, customerId);
  else if (!deps.alertsOf(meter).some(({ id }) => id === alertId)) {
    throw new LedgerUnavailable('this node does not know the alert yet');
  }
  return executor.decideOnMeter(customerId, meter, (context, state) => ({
    outcome: null,
    effects: decideLook(context, state),
  }));
}

/** One at a time: of two reads, the later one counts. */
function readAgain({ mutex, store, deps }: OwnershipSession, customerId: string): Promise<void> {
  return mutex.alone([`alerts ${customerId}`], async () => {
    const alerts = await deps.storage.loadAlerts(customerId);
    const actor = await store.actorOf(customerId);
    actor.learnAlerts(alerts);
  });
}
