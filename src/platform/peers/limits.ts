// Every bound between two nodes, in one place.
import { assert } from '../../../ledger/kernel/assert.ts';
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';

export type PeerLimits = {
  /**
   * Asked of one peer and not answered, those that wait for its connection included: several of the
   * ledger's flushes.
   */
  readonly callsMax: number;
  /**
   * Of frames sent to one peer whose calls it has not answered; also what one peer may leave unread
   * of our answers.
   */
  readonly bytesMax: number;
  /**
   * One frame; it takes what fits. The largest ask is an ingest call, of which a structured clone
   * makes more: one character that is not Latin-1 gives all of its text two bytes a character. A
   * third of it is room for what is no text.
   */
  readonly frameBytesMax: number;
  /** In one frame: past this, more of them save nothing and the first waits for the last. */
  readonly frameCallsMax: number;
  /** How long an ask may wait for others to share its frame, while there are any. */
  readonly gatherMs: number;
  /** From the attempt to connect until both sides have proven that they hold the secret. */
  readonly connectMs: number;
  /** After a failed attempt to connect, asks fail at once for so long. */
  readonly retryMs: number;
  readonly heartbeatMs: number;
  /**
   * A connection that says nothing for so long is dead; with a heartbeat more it is seen within two
   * seconds.
   */
  readonly silentMs: number;
  /** What is under way when we close may take so long. */
  readonly closeMs: number;
};

export const PEER_LIMITS: PeerLimits = {
  callsMax: 10_000,
  bytesMax: 64 << 20,
  frameBytesMax: 3 * INGEST_BYTES_MAX,
  frameCallsMax: 256,
  gatherMs: 1,
  connectMs: 1500,
  retryMs: 100,
  heartbeatMs: 400,
  silentMs: 1500,
  closeMs: 5000,
};

assert(
  PEER_LIMITS.bytesMax >= PEER_LIMITS.frameBytesMax,
  'the largest frame must fit what may be left unread',
);
