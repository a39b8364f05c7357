// Every bound between two nodes, in one place.
import { assert } from '../../../ledger/kernel/assert.ts';
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';

export type PeerLimits = {
  /**
   * Open requests to one peer, those that wait for its connection included: several of the ledger's
   * flushes.
   */
  readonly callsMax: number;
  /**
   * Bytes of frames to one peer with unanswered requests; also the bytes of our answers that a peer
   * may leave unread.
   */
  readonly bytesMax: number;
  /**
   * Bytes of one frame. The largest request is an ingest call. A structured clone makes it larger:
   * one character outside Latin-1 gives its whole text two bytes a character. A third of the bound
   * is for what is no text.
   */
  readonly frameBytesMax: number;
  /** Requests in one frame: more of them save nothing, and the first waits for the last. */
  readonly frameCallsMax: number;
  /** How long a request may wait for others to share its frame. */
  readonly gatherMs: number;
  /** Time to connect, until both sides have proven the secret. */
  readonly connectMs: number;
  /** After a failed connect, requests fail at once for this time. */
  readonly retryMs: number;
  readonly heartbeatMs: number;
  /**
   * A connection that is silent for this time is dead; with a heartbeat more, that is seen within
   * two seconds.
   */
  readonly silentMs: number;
  /** How long close() waits for open requests. */
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
