// Numbers that are somebody else's, read when Prometheus asks.
import { Counter, Gauge, type Registry } from 'prom-client';

export type Number = {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
};

export function gauge(registry: Registry, { name, help, read }: Number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** One that only grows, and begins again at 0 now and then: Prometheus knows that of counters. */
export function counter(registry: Registry, { name, help, read }: Number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
