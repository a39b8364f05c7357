// The wait before the next try: twice the last one, up to a bound, and shortened by jitter. Pure.

/** The part of a wait that jitter may take off. */
const JITTER = 0.2;
/** Doublings after which every wait is the longest one. */
const DOUBLINGS_MAX = 20;

export type Backoff = { readonly baseMs: number; readonly waitMsMax: number };

/** Milliseconds to wait after so many tries. `random` is 0 to 1. */
export function waitAfter({ baseMs, waitMsMax }: Backoff, tries: number, random: number): number {
  const wait = Math.min(baseMs * 2 ** Math.min(tries - 1, DOUBLINGS_MAX), waitMsMax);
  return Math.round(wait * (1 - JITTER * random));
}
