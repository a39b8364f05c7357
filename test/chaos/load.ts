// Concurrent callers that behave as well-made clients do: a call whose outcome is not known, or that was refused as
// unavailable, is sent again with the same keys until it is answered.
import { Book } from './book.ts';
import type { Random } from './random.ts';
import type { Tenant } from './tenant.ts';
import { type Usage, counts, randomUsage, sendUsage } from './usage.ts';

const RETRY_MS = 20;
/** Calls that are sent twice at the same time, and answered calls that are sent again. */
const TWINS = 0.1;
const AGAIN = 0.1;
const REMEMBERED = 50;

export type Load = {
  readonly book: Book;
  /** Resolves when every call that was begun is answered. */
  stop(): Promise<void>;
};

export function startLoad(options: {
  tenant: Tenant;
  random: Random;
  callers: number;
  /** Where to send to now; resolves when there is such a place. */
  target: () => Promise<string>;
}): Load {
  const { tenant, random, target } = options;
  const book = new Book();
  const answered: Usage[] = [];
  const stopping = new AbortController();
  let keys = 0;
  const newKey = (): string => `event-${(keys += 1)}`;

  async function untilAnswered(usage: Usage): Promise<void> {
    while (!(await attempt(usage, await target()))) await Bun.sleep(RETRY_MS);
  }

  async function attempt(usage: Usage, url: string): Promise<boolean> {
    try {
      const answer = await sendUsage(url, tenant.key, usage);
      if (answer.status === 200) {
        book.enter(usage, counts(usage, answer));
        return true;
      }
      book.unavailable += 1;
      if (answer.status !== 503) {
        book.faults.push(`${usage.kind}: ${answer.status} ${JSON.stringify(answer.json)}`);
        return true;
      }
    } catch {
      book.unknown += 1;
    }
    return false;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
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
