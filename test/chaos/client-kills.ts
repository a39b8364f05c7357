// Callers of the client while the service is killed: each `track` that resolved is stored once, and
// nothing else is, but what a call that failed may have left.
import type { Sql } from 'postgres';
import { Tollhouse } from '../../src/client/index.ts';
import { until } from '../support/until.ts';

const CALLERS = 64;
/** Between two kills, where the options do not say it. */
const RESOLVED_MAX = 2000;
/** A restart and a lease that must end are within it. */
const TIMEOUT_MS = 60_000;
const SHOWN = 5;

export type Kills = {
  readonly kills: number;
  readonly resolved: number;
  readonly rejected: number;
  /** How often a request was sent again. */
  readonly retries: number;
  readonly problems: readonly string[];
};

export type KillOptions = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly sql: Sql;
  readonly kills: number;
  readonly resolvedMax?: number;
  /** SIGKILL, and a start at the same address. */
  readonly killAndRestart: () => Promise<void>;
  /** The n-th use. */
  readonly use: (n: number) => Parameters<Tollhouse['track']>[0];
  readonly signal?: AbortSignal;
  /** Between 0 and 1. */
  readonly random?: () => number;
};

export async function killUnderClient(options: KillOptions): Promise<Kills> {
  const { sql, kills, resolvedMax = RESOLVED_MAX, random = Math.random } = options;
  const [{ now: since } = { now: '' }] = await sql<{ now: string }[]>`
    select date_trunc('milliseconds', now())::text as now`;
  const callers = new Callers(options);
  for (let kill = 0; kill < kills; kill += 1) {
    options.signal?.throwIfAborted();
    await callers.moreAnswers(1 + Math.floor(random() * resolvedMax));
    await options.killAndRestart();
  }
  await callers.moreAnswers(resolvedMax);
  await callers.stop();
  const { resolved, rejected, answered, retries } = callers;
  return {
    kills,
    resolved: answered,
    rejected: rejected.length,
    retries,
    problems: problemsOf({ resolved, rejected, added: await storedSince(sql, since) }),
  };
}

/** They track, each again when it has its answer. */
class Callers {
  /** How often an id was answered. */
  readonly resolved = new Map<string, number>();
  readonly rejected: unknown[] = [];
  answered = 0;
  retries = 0;
  readonly #tollhouse: Tollhouse;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;
  #begun = 0;

  constructor({ baseUrl, apiKey, use }: KillOptions) {
    this.#tollhouse = new Tollhouse({
      baseUrl,
      apiKey,
      timeoutMs: TIMEOUT_MS,
      hooks: { onRetry: () => void (this.retries += 1) },
    });
    this.#running = Promise.all(Array.from({ length: CALLERS }, () => this.#call(use)));
  }

  async moreAnswers(count: number): Promise<void> {
    const answers = this.answered + count;
    await until(`${count} more answers`, () => this.answered >= answers, TIMEOUT_MS);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#tollhouse.close();
  }

  async #call(use: KillOptions['use']): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#begun += 1;
      try {
        const { id } = await this.#tollhouse.track(use(this.#begun));
        this.resolved.set(id, (this.resolved.get(id) ?? 0) + 1);
        this.answered += 1;
      } catch (error) {
        this.rejected.push(error);
      }
    }
  }
}

function problemsOf({
  resolved,
  rejected,
  added,
}: {
  readonly resolved: ReadonlyMap<string, number>;
  readonly rejected: readonly unknown[];
  /** All uses are of the same value. */
  readonly added: ReadonlyMap<string, string>;
}): readonly string[] {
  const lost = [...resolved.keys()].filter((id) => !added.has(id));
  const twice = [...resolved].filter(([, times]) => times > 1).map(([id]) => id);
  const values = new Set(added.values());
  const untold = [...added.keys()].filter((id) => !resolved.has(id));
  return [
    ...rejected.map((error) => `a call was rejected: ${String(error)}`).slice(0, SHOWN),
    ...lost.map((id) => `${id} was answered and is not stored`).slice(0, SHOWN),
    ...twice.map((id) => `${id} was answered to two calls`).slice(0, SHOWN),
    ...(values.size > 1 ? [`values are stored that nobody sent: ${[...values].join(', ')}`] : []),
    ...(untold.length > rejected.length
      ? [`${untold.length} are stored that no call was told of, ${rejected.length} calls failed`]
      : []),
  ];
}

/** Values of usage, by id. */
async function storedSince(sql: Sql, since: string): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; value: string }[]>`
    select id, value::text from transfers
    where value is not null and kind <> 'refused' and at >= ${since}::timestamptz`;
  return new Map(rows.map(({ id, value }) => [id, value]));
}
