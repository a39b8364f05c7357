import type { Clock, Timers } from '../../ledger/ports.ts';

export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

export const timers: Timers = {
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
  soon(task) {
    setImmediate(task);
  },
};
