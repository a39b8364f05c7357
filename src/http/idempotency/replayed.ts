export const REPLAYED_HEADER = 'idempotency-replayed';

/** Marks an answer that was given before under the same key. */
export const REPLAYED = { headers: { [REPLAYED_HEADER]: 'true' } };
