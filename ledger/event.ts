/** An entry of the outbox: written by the flush that made it true, delivered afterwards (contract, Events). */
export type LedgerEvent = {
  readonly id: string;
  readonly type: 'entitlement.granted' | 'entitlement.exhausted';
  readonly objectType: 'ENTITLEMENT';
  readonly objectId: string;
  /** The customer. */
  readonly accountId: string;
  /** Milliseconds, strictly increasing for each object (decisions 8). */
  readonly timestamp: number;
  /** 1, 2, 3 … for each object, without a gap. */
  readonly sequence: bigint;
  /** The type's own fields; what all events carry is added where the event is written. */
  readonly data: Readonly<Record<string, unknown>>;
};
