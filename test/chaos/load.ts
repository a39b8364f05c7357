// Concurrent callers that behave as good clients do: a call of unknown outcome, or one that got a
// 503, is sent again with the same keys until it is answered.
import type { Random } from '../support/random.ts';
import { Book } from './book.ts';
import { call } from './call.ts';
import { CAPPED_METER, OPEN_METER, type Tenant } from './tenant.ts';
import { type Usage, counts, randomUsage, sendUsage } from './usage.ts';

const RETRY_MS = 20;
/** Calls that are sent twice at the same time, and answered calls that are sent again. */
const TWINS = 0.1;
const AGAIN = 0.1;
const REMEMBERED = 50;
/** Calls without a key, if any: they are sent once. */
const UNKEYED = 0.15;

export type Load = {
  readonly book: Book;
  /** Resolves when every call is answered. */
  stop(): Promise<void>;
};

export function startLoad(options: {
  tenant: Tenant;
  random: Random;
  callers: number;
  /** The node to call now; resolves when there is one. */
  target: () => Promise<string>;
  /** The timeout of a call. */
  withinMs?: number;
  /** How long a caller pauses between two calls. */
  restMs?: number;
  /** Whether some callers send no key. */
  unkeyed?: boolean;
  /** Called with each status; 0 is no answer. */
  onAnswer?: (kind: string, status: number) => void;
}): Load {
  const { tenant, random, target, withinMs, onAnswer } = options;
  const book = new Book(tenant);
  const answered: Usage[] = [];
  const stopping = new AbortController();
  let keys = 0;
  const newKey = (): string => `event-${(keys += 1)}`;

  async function untilAnswered(usage: Usage): Promise<void> {
    while (!(await attempt(usage, await target()))) await Bun.sleep(RETRY_MS);
  }

  /** Whether it is answered. */
  async function attempt(usage: Usage, url: string): Promise<boolean> {
    book.begin(usage);
    try {
      const answer = await sendUsage(url, tenant.key, usage, withinMs);
      onAnswer?.(usage.kind, answer.status);
      const countsNow = counts(usage, answer);
      if (countsNow !== null) {
        book.enter(usage, countsNow);
        return true;
      }
      book.unavailable += 1;
      book.miss(usage);
      if (answer.status !== 503) {
        book.faults.push(`${usage.kind}: ${answer.status} ${JSON.stringify(answer.json)}`);
        return true;
      }
    } catch {
      onAnswer?.(usage.kind, 0);
      book.miss(usage);
      book.unknown += 1;
    }
    return false;
  }

  async function once(): Promise<void> {
    const rejects = random.chance(0.5);
    const event = {
      key: '',
      customer: random.pick(tenant.customers),
      meter: rejects ? CAPPED_METER : OPEN_METER,
      value: random.integer(1, 9),
    };
    const { meter: feature_key, customer: customer_id, value } = event;
    book.beginUnkeyed(event);
    const sender = { url: await target(), key: tenant.key };
    try {
      const body = { feature_key, customer_id, value, ...(rejects && { overage: 'reject' }) };
      const { status, json } = await call(sender, '/track', body, withinMs);
      onAnswer?.('unkeyed', status);
      if (status === 200) book.enterUnkeyed(json.id, event);
      else if (rejects && status === 402) book.refuseUnkeyed(event);
      else book.lost.push(event);
    } catch {
      onAnswer?.('unkeyed', 0);
      book.lost.push(event);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (options.restMs !== undefined) await Bun.sleep(options.restMs);
      if (options.unkeyed === true && random.chance(UNKEYED)) {
        await once();
        continue;
      }
      const usage =
        answered.length > 0 && random.chance(AGAIN)
          ? random.pick(answered)
          : randomUsage(random, tenant, newKey);
      const times = random.chance(TWINS) ? 2 : 1;
      await Promise.all(Array.from({ length: times }, () => untilAnswered(usage)));
      answered.push(usage);
      if (answered.length > REMEMBERED) answered.shift();
    }
  }

  const running = Promise.all(Array.from({ length: options.callers }, run));
  return {
    book,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
