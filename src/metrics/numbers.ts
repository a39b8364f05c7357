// Metrics whose values other modules hold, read when Prometheus scrapes.
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

/** A counter, which may start again at 0: Prometheus handles that. */
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
