// What another organisation notices of an attack: it tracks and checks all the time, at every node.
import { type Answered, call } from '../chaos/call.ts';
import type { Stand } from './stand.ts';

export type Noticed = {
  /** Answers of 200. */
  readonly answered: number;
  /** The longest that one call waited. */
  readonly longestMs: number;
  /** Other answers, by their text. */
  readonly refused: Readonly<Record<string, number>>;
};

const METER = 'calls';
const CUSTOMERS = 8;
const PAUSE_MS = 20;
/** Longer than a lease and a takeover. */
const ANSWER_MS_MAX = 60_000;

export async function moveIn({ neighbour }: Stand): Promise<void> {
  await neighbour.make('/meters', { slug: METER });
  for (let n = 0; n < CUSTOMERS; n += 1) {
    await neighbour.make('/customers', { external_customer_id: `neighbour-${n}` });
  }
}

/** Sends calls until `isOver` is settled; returns the outcome. */
export async function notice(stand: Stand, isOver: Promise<unknown>): Promise<Noticed> {
  const noticed = { answered: 0, longestMs: 0, refused: {} as Record<string, number> };
  const over = new AbortController();
  const ask = async (url: string, path: string): Promise<void> => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const body = { feature_key: METER, external_customer_id: `neighbour-${n % CUSTOMERS}` };
      const began = performance.now();
      const said = await call({ url, key: stand.neighbour.key }, path, body, ANSWER_MS_MAX).then(
        saidOf,
        (error: unknown) => String(error),
      );
      noticed.longestMs = Math.max(noticed.longestMs, performance.now() - began);
      if (said === null) noticed.answered += 1;
      else noticed.refused[said] = (noticed.refused[said] ?? 0) + 1;
      await Bun.sleep(PAUSE_MS);
    }
  };
  const asking = stand.urls.flatMap((url) => ['/track', '/check'].map((path) => ask(url, path)));
  await isOver.finally(() => over.abort());
  await Promise.all(asking);
  return noticed;
}

function saidOf({ status, json }: Answered): string | null {
  return status === 200 ? null : `${status} ${JSON.stringify(json)}`;
}
