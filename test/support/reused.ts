// What the files of a worker use one after the other, because it is dear to open: servers,
// browsers.
//
// Nothing is closed at the end of a run: the worker exits, and its services are thrown away.

/** Set where a worker loads the program once for all its files (test/run/suite.ts). */
export const IS_SHARED = process.env['TEST_SHARED'] === '1';

/** What was opened, by its kind and settings; the one that was used last is at the end. */
const kept = new Map<string, Kept>();
/** More would hold connections that the files under way need. */
const KEPT_MAX = 3;

type Kept = { readonly opened: Promise<Stoppable>; users: number };
type Stoppable = { stop(): Promise<void> };

type Way<T> = {
  readonly open: () => Promise<T>;
  /** The part of it that is for this user alone. */
  readonly enter: (opened: T) => Promise<T>;
};

/** Its `stop` leaves it open for the next user. */
export async function reuse<T extends Stoppable>(key: string, { open, enter }: Way<T>): Promise<T> {
  let found = kept.get(key) as (Kept & { readonly opened: Promise<T> }) | undefined;
  if (found === undefined) {
    await makeRoom();
    found = { opened: open(), users: 0 };
    // What does not open fails the file that asks for it, and no other.
    found.opened.catch(() => kept.delete(key));
  }
  kept.delete(key);
  kept.set(key, found);
  const place = found;
  place.users += 1;
  const mine = await enter(await place.opened);
  return {
    ...mine,
    stop() {
      place.users -= 1;
      return Promise.resolve();
    },
  };
}

async function makeRoom(): Promise<void> {
  for (const [key, { opened, users }] of kept) {
    if (kept.size < KEPT_MAX) return;
    if (users > 0) continue;
    kept.delete(key);
    await (await opened).stop();
  }
}
