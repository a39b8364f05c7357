// When a mail that was not taken is tried again. Pure.
//
// Try n waits min(15 s x 2^(n-1), 15 min), less a little: over the day that a mail is tried, about 100 times.

const BASE_MS = 15_000;
const WAIT_MS_MAX = 900_000;
/** The part of a wait that jitter may take off. */
const JITTER = 0.2;
/** Doublings after which every wait is the longest one. */
const DOUBLINGS_MAX = 10;

/** `random` is 0 to 1. */
export function waitAfter(attempts: number, random: number): number {
  const wait = Math.min(BASE_MS * 2 ** Math.min(attempts - 1, DOUBLINGS_MAX), WAIT_MS_MAX);
  return Math.round(wait * (1 - JITTER * random));
}
