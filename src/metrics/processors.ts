// Accounts at payment processors, as this process sees them.
import type { Registry } from 'prom-client';
import { gauge } from './numbers.ts';

export function watchProcessors(registry: Registry, lines: { readonly silent: number }): void {
  gauge(registry, {
    name: 'tollhouse_processors_silent',
    help: 'Accounts at a payment processor that does not answer, and is only probed.',
    read: () => lines.silent,
  });
}
