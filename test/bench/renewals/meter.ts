// What renewing costs: wall time, and processor time by process.
import { busySeconds, secondsOf, secondsOfTree } from '../probes/processor-time.ts';

export type Taken = {
  readonly seconds: number;
  readonly serverSeconds: number;
  readonly databaseSeconds: number;
  /** Processors that other programs kept busy. */
  readonly othersProcessors: number;
};

/**
 * From now until the returned function is called. The bench itself used `ownSeconds` of processor
 * time.
 */
export function metered(pids: {
  readonly server: number;
  readonly postmaster: number;
}): (ownSeconds: number) => Taken {
  const read = () => ({
    at: performance.now() / 1000,
    server: secondsOf(pids.server),
    database: secondsOfTree(pids.postmaster),
    busy: busySeconds(),
  });
  const before = read();
  return (ownSeconds) => {
    const now = read();
    const seconds = now.at - before.at;
    const serverSeconds = now.server - before.server;
    const databaseSeconds = now.database - before.database;
    const others = now.busy - before.busy - serverSeconds - databaseSeconds - ownSeconds;
    return {
      seconds,
      serverSeconds,
      databaseSeconds,
      othersProcessors: Math.max(others / seconds, 0),
    };
  };
}
