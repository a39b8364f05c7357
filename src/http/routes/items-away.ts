// Items of a call that cannot be answered now, beside others that can: the node that owns their
// customer is lost or on its way.
import { isUnavailable, refuseItem, TRY_AGAIN, Unavailable } from '../edge/errors.ts';

export const AWAY = refuseItem('service_unavailable', TRY_AGAIN);

/** What is promised; `away` where it cannot be found out now. */
export function orAway<T>(promise: Promise<T>, away: T): Promise<T> {
  return promise.catch((error: unknown) => {
    if (isUnavailable(error)) return away;
    throw error;
  });
}

/** @throws Unavailable: a call of which nothing can be answered is a 503, as a single one is */
export function refuseIfAllAway<T>(results: readonly T[], away: T): void {
  if (results.length > 0 && results.every((result) => result === away)) {
    throw new Unavailable('no item of the call can be answered now');
  }
}
