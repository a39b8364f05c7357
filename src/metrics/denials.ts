// The record of denials of this process.
import type { Registry } from 'prom-client';
import { counter, gauge } from './numbers.ts';

type Stats = { readonly waiting: number; readonly lost: number };

export function watchDenials(registry: Registry, denials: { readonly stats: Stats }): void {
  gauge(registry, {
    name: 'tollhouse_denials_waiting',
    help: 'Rows of the record of denials that are not written yet.',
    read: () => denials.stats.waiting,
  });
  counter(registry, {
    name: 'tollhouse_denials_lost_total',
    help: 'Denials that were neither written nor counted: too many features of a second, or a database that was away too long.',
    read: () => denials.stats.lost,
  });
}
