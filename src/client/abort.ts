// What ends with a signal. A program gives one signal to many calls, so it gets one listener:
// each call's own would be a warning of Node from the eleventh on.

const ENDS = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `end` when the signal aborts. Returns what takes it back. */
export function onAbort(signal: AbortSignal, end: () => void): () => void {
  const ends = ENDS.get(signal) ?? listened(signal);
  ends.add(end);
  return () => void ends.delete(end);
}

function listened(signal: AbortSignal): Set<() => void> {
  const ends = new Set<() => void>();
  ENDS.set(signal, ends);
  const endAll = (): void => {
    for (const end of ends) end();
  };
  signal.addEventListener('abort', endAll, { once: true });
  return ends;
}
