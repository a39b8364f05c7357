// How much time has passed in this process. `performance.now` does not go back, but on some systems
// it stands still while the machine sleeps; the time of the day goes on then, and may be set at any
// moment. So each step that the time of the day is ahead of the other counts as time that has
// passed: what this says is never less than either of them.

/** The time of the day may be set back by this much without being taken for set. */
const JITTER_MS = 1000;

export function elapsedBy(now: () => number, timeOfDay: () => number): () => number {
  let slept = 0;
  let ahead = timeOfDay() - now();
  return () => {
    const ticks = now();
    const aheadNow = timeOfDay() - ticks;
    if (aheadNow > ahead) {
      slept += aheadNow - ahead;
      ahead = aheadNow;
    } else if (aheadNow < ahead - JITTER_MS) {
      ahead = aheadNow;
    }
    return ticks + slept;
  };
}
