// The command line of `bun run bench`.
import { parseArgs } from 'node:util';
import { CASES, type Case, USUAL } from './cases.ts';

const ALONE = [
  'memory',
  'webhooks',
  'renewals',
  'peers',
  'ledger',
  'bins',
  'dashboard',
  'cluster',
  'client',
] as const;

/**
 * Parts of the cluster bench: by number of nodes, forwarded against owned, beside a hot customer,
 * while a node leaves and joins, after a kill.
 */
export const PARTS = ['scaling', 'forwarded', 'hot', 'move', 'kill'] as const;
export type Part = (typeof PARTS)[number];

/** Parts of the client bench. */
export const CLIENT_PARTS = ['calls', 'batches', 'leases', 'memory', 'kills'] as const;
export type ClientPart = (typeof CLIENT_PARTS)[number];

export interface Options {
  readonly cases: readonly Case[];
  /**
   * A million customers, deliveries, renewals, messages between nodes, the ledger alone, usage
   * over time, the dashboard, many nodes, or the client; null for the cases.
   */
  readonly alone: (typeof ALONE)[number] | null;
  readonly parts: readonly Part[];
  readonly clientParts: readonly ClientPart[];
  /** A commit whose service is measured in turn with this one; null: none. */
  readonly against: string | null;
  /** A file with the JSON of an earlier run; null: none. */
  readonly compare: string | null;
  /** Whether the ways that the service is compared with are measured too. */
  readonly withPeers: boolean;
  readonly json: boolean;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** For webhooks: deliveries that are due at once. */
  readonly due: number;
  /** For renewals. */
  readonly subscriptions: number;
  /** Of the client: calls while its memory is watched, and kills of the service. */
  readonly calls: number;
  readonly kills: number;
  /** For the memory case, the webhooks and the dashboard. */
  readonly customers: number;
  readonly seconds: number;
}

export const USAGE = `bun run bench [--quick] [--only GROUP,...] [--against COMMIT | --compare FILE] [--no-peers] [--json] [--rounds N] [--seconds S]
  --quick    one short round: shows that all works, its numbers are rough
  --only     of check, track, hot, ingest (these four by default), open, refunds, checkouts, or all; or memory, webhooks, renewals, peers, ledger, bins, dashboard, cluster or client, which run alone
  --against  the service of another commit too, in turn with this one: what the change is
  --compare  the change since an earlier --json; --against is more exact
  --no-peers the service alone
  --parts    of the cluster: of scaling, forwarded, hot, move, kill; of the client: of calls, batches, leases, memory, kills
  --json     the result as JSON on stdout
  --rounds   how often each way is measured, in turn with the others (3)
  --seconds  how long each time (2; with memory, in all: 600; with webhooks, each pace: 10)
  --customers  of the memory case (1000000), of each organisation of the dashboard (100000; 2000 with --quick)
  --subscriptions  that renew (100000; 2000 with --quick)
  --calls    of the client while its memory is watched (10000000; 100000 with --quick)`;

/** @throws Error that says what is wrong with the arguments */
export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      against: { type: 'string' },
      compare: { type: 'string' },
      'no-peers': { type: 'boolean', default: false },
      parts: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      customers: { type: 'string' },
      subscriptions: { type: 'string' },
      calls: { type: 'string' },
    },
  });
  const groups = groupsOf(values.only);
  const alone = ALONE.find((group) => groups.includes(group)) ?? null;
  if (alone !== null && groups.length !== 1) throw new Error(`${alone} runs alone`);
  const { against = null, compare = null } = values;
  if (against !== null && compare !== null) {
    throw new Error('--against and --compare are two ways to the same table: choose one');
  }
  if (alone !== null && (against ?? compare) !== null) {
    throw new Error(`--against and --compare are of the cases, not of ${alone}`);
  }
  const seconds = positive('--seconds', values.seconds);
  return {
    cases: CASES.filter(({ group }) => groups.includes(group)),
    alone,
    against,
    compare,
    withPeers: !values['no-peers'],
    parts: alone === 'client' ? PARTS : partsOf(PARTS, values.parts),
    clientParts: alone === 'client' ? partsOf(CLIENT_PARTS, values.parts) : CLIENT_PARTS,
    due: values.quick ? 10_000 : 100_000,
    json: values.json,
    rounds: positive('--rounds', values.rounds) ?? (values.quick ? 1 : 3),
    warmUpMs: values.quick ? 300 : 500,
    measureMs: (seconds ?? (values.quick ? 0.6 : 2)) * 1000,
    customers:
      positive('--customers', values.customers) ??
      (alone === 'dashboard' ? (values.quick ? 2000 : 100_000) : 1_000_000),
    subscriptions:
      positive('--subscriptions', values.subscriptions) ?? (values.quick ? 2000 : 100_000),
    calls: positive('--calls', values.calls) ?? (values.quick ? 100_000 : 10_000_000),
    kills: values.quick ? 2 : 20,
    seconds: seconds ?? (alone === 'memory' ? 600 : values.quick ? 2 : 10),
  };
}

function groupsOf(text: string | undefined): readonly string[] {
  if (text === undefined) return USUAL;
  const all = CASES.map(({ group }) => group);
  if (text === 'all') return all;
  const groups = text.split(',');
  const known = new Set<string>([...ALONE, ...all]);
  const unknown = groups.find((group) => !known.has(group));
  if (unknown !== undefined) throw new Error(`--only does not know ${unknown}`);
  return groups;
}

function partsOf<T extends string>(all: readonly T[], text: string | undefined): readonly T[] {
  const wanted = text?.split(',') ?? all;
  const unknown = wanted.find((part) => !all.some((known) => known === part));
  if (unknown !== undefined) throw new Error(`--parts does not know ${unknown}`);
  return all.filter((part) => wanted.includes(part));
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} takes a number above 0`);
  return value;
}
