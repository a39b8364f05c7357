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

/** A gauge with a value for each of the label's. */
export function gaugeBy<V extends string>(
  registry: Registry,
  {
    label,
    values,
    read,
    ...about
  }: About & {
    readonly label: string;
    readonly values: readonly V[];
    readonly read: (value: V) => Promise<number>;
  },
): void {
  registry.registerMetric(
    new Gauge({
      ...about,
      labelNames: [label],
      registers: [],
      async collect() {
        // At once: what is read for several of them is read once.
        const set = async (value: V) => this.set({ [label]: value }, await read(value));
        await Promise.all(values.map(set));
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
