// The processor time of a delivery, by the process that uses it.
import type { Sql } from 'postgres';
import type { Child } from '../bed/child.ts';
import type { Stores } from '../bed/service.ts';
import { postmasterOf } from '../probes/database.ts';
import { secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import { redisPid } from '../probes/redis.ts';

/** Microseconds for each delivery, or seconds so far. */
export type Processors = {
  readonly worker: number;
  readonly postgres: number;
  readonly receiver: number;
  readonly redis: number;
};

/** Reads the seconds that each has used so far. */
export async function watchProcessors(
  stores: Stores,
  { sql, service, sink }: { readonly sql: Sql; readonly service: Child; readonly sink: Child },
): Promise<() => Processors> {
  const [postmaster, redis] = [await postmasterOf(sql), await redisPid(stores.redisUrl)];
  return () => ({
    worker: secondsOf(service.pid),
    postgres: secondsOfTree(postmaster),
    receiver: secondsOf(sink.pid),
    redis: secondsOf(redis),
  });
}

export function microsOfEach(before: Processors, after: Processors, count: number): Processors {
  const of = (name: keyof Processors): number => ((after[name] - before[name]) * 1e6) / count;
  return {
    worker: of('worker'),
    postgres: of('postgres'),
    receiver: of('receiver'),
    redis: of('redis'),
  };
}
