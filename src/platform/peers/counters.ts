/** Since the start. */
export type PeerCounters = {
  /**
   * What we asked, and of these: failed at once because too much was asked already; never sent;
   * sent, and lost.
   */
  asked: number;
  refused: number;
  unsent: number;
  lost: number;
  framesSent: number;
  connects: number;
  /** What others asked of us, and of these: what came too late to begin. */
  answered: number;
  overdue: number;
  /** Frames that made no sense, and connections without the secret, or meant for another node. */
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
