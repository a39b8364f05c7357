// Two organisations, each with a hundred thousand customers and what they did in a month, from one
// of each thing that was made over the API.
//
// Holds: usage of the first feature is in events and in the bins that they come to; that of the
// others is in bins alone. The first customer is the one that the pages are about, and has the most
// of everything.
// Does not: keep the books. `admin audit` would find that nobody paid for any of this.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import { Copier } from './copier.ts';
import { catalogue, customers } from './fill-catalogue.ts';
import { events, people } from './fill-events.ts';
import { payments, subscriptions } from './fill-sales.ts';
import { balances, denials, usage } from './fill-usage.ts';
import { Filling, type Originals, type Sizes } from './filling.ts';

/** In their order: later ones name what earlier ones made. */
const STEPS = {
  catalogue,
  customers,
  payments,
  subscriptions,
  balances,
  usage,
  denials,
  events,
  people,
} as const;

export async function fill(
  sql: Sql,
  options: {
    readonly originals: Originals;
    readonly neighbourId: string;
    readonly sizes: Sizes;
    readonly now: number;
    readonly say: (line: string) => void;
  },
): Promise<void> {
  const { originals, neighbourId, sizes, now, say } = options;
  const copier = await Copier.on(sql);
  const owners = [
    { id: neighbourId, mark: 'b', isFirst: false },
    { id: originals.organisationId, mark: 'a', isFirst: true },
  ];
  for (const owner of owners) {
    const filling = new Filling(copier, { owner, originals, sizes, now });
    for (const [name, step] of Object.entries(STEPS)) {
      const began = performance.now();
      await step(filling);
      say(`dashboard: ${owner.mark} ${name}, ${Math.round((performance.now() - began) / 1000)} s`);
    }
  }
  await copier.run('vacuum analyze');
}
