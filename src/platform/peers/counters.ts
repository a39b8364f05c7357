/** Counters since the start. */
export type PeerCounters = {
  /**
   * Our requests; and of these: refused at once because too many were open; never sent; sent and
   * lost.
   */
  asked: number;
  refused: number;
  unsent: number;
  lost: number;
  framesSent: number;
  connects: number;
  /** Requests of others; and of these: too late to begin. */
  answered: number;
  overdue: number;
  /** Malformed frames, and connections without the secret or for another node. */
  malformed: number;
  strangers: number;
};

export const newCounters = (): PeerCounters => ({
  asked: 0,
  refused: 0,
  unsent: 0,
  lost: 0,
  framesSent: 0,
  connects: 0,
  answered: 0,
  overdue: 0,
  malformed: 0,
  strangers: 0,
});
