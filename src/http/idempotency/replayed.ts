/** Marks an answer that was given before under the same key. */
export const REPLAYED = { headers: { 'idempotency-replayed': 'true' } };
