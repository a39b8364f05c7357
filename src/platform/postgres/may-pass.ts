import { LedgerUnavailable } from '../../../ledger/ports.ts';
import { isOutage } from '../../../ledger/store/outages.ts';

/** Whether trying again may help: the ledger or the database could not answer. */
export function mayPass(error: unknown): boolean {
  return error instanceof LedgerUnavailable || isOutage(error);
}
