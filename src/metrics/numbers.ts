// Numbers that are somebody else's, read when Prometheus asks.
import { Counter, Gauge, type Registry } from 'prom-client';

type About = { readonly name: string; readonly help: string };

export function gauge(
  registry: Registry,
  { read, ...about }: About & { readonly read: () => number | Promise<number> },
): void {
  registry.registerMetric(
    new Gauge({
      ...about,
      registers: [],
      async collect() {
        this.set(await read());
      },
    }),
  );
}

/** One that only grows, and begins again at 0 now and then: Prometheus knows that of counters. */
export function counter(
  registry: Registry,
  { read, ...about }: About & { readonly read: () => number },
): void {
  registry.registerMetric(
    new Counter({
      ...about,
      registers: [],
      collect() {
        this.reset();
        this.inc(read());
      },
    }),
  );
}
