// Many readers of streams of events, in a process of their own: `bun stream-crowd.ts URL KEY...`.
// It says `{"open": n}` once all have begun. For each line that it reads it says what came so far.
import { createHash, type Hash } from 'node:crypto';
import { createInterface } from 'node:readline';

export type CrowdSays = {
  /** The fewest and the most events that one of them has. */
  readonly least: number;
  readonly most: number;
  /** Of the ids that each has, in order: how many different ones there are. */
  readonly orders: number;
  readonly over: number;
  /** From the time in an event until a reader has it, in ms: of every 50th reader. */
  readonly p50: number;
  readonly p99: number;
};

const SAMPLED = 50;
const OPENED_AT_ONCE = 100;

type One = { count: number; readonly ids: Hash; isOver: boolean; isOpen: boolean };

const [url = '', ...keys] = process.argv.slice(2);
const decoder = new TextDecoder();
const crowd: One[] = [];
const waits: number[] = [];

async function follow(key: string, n: number): Promise<void> {
  const one = { count: 0, ids: createHash('sha1'), isOver: false, isOpen: false };
  crowd.push(one);
  const response = await fetch(`${url}/events/stream`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  one.isOpen = true;
  const end = (): void => {
    one.isOver = true;
  };
  read(response.body, one, n % SAMPLED === 0).then(end, end);
}

async function read(body: AsyncIterable<Uint8Array>, one: One, isSampled: boolean): Promise<void> {
  let rest = '';
  for await (const bytes of body) {
    const messages = (rest + decoder.decode(bytes)).split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const [id = '', data] = message.split('\n');
      if (data?.startsWith('data: ') !== true) continue;
      one.count += 1;
      one.ids.update(id);
      if (!isSampled) continue;
      const at = /"timestamp":"([^"]+)"/.exec(data)?.[1] ?? '';
      waits.push(Date.now() - Date.parse(at));
    }
  }
}

function said(): CrowdSays {
  const counts = crowd.map(({ count }) => count);
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return {
    least: Math.min(...counts),
    most: Math.max(...counts),
    orders: new Set(crowd.map(({ ids }) => ids.copy().digest('hex'))).size,
    over: crowd.filter(({ isOver }) => isOver).length,
    p50: at(0.5),
    p99: at(0.99),
  };
}

for (let from = 0; from < keys.length; from += OPENED_AT_ONCE) {
  const some = keys.slice(from, from + OPENED_AT_ONCE);
  await Promise.all(some.map((key, n) => follow(key, from + n)));
}
console.log(JSON.stringify({ open: crowd.filter(({ isOpen }) => isOpen).length }));
for await (const _line of createInterface(process.stdin)) console.log(JSON.stringify(said()));
