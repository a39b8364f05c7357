// The failures that the database gets under load. Each ends when callers are answered again; the
// repair comes after.
import { must } from '../../ledger/kernel/assert.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import type { Book } from '../chaos/book.ts';
import type { Member } from './patroni.ts';
import type { Stand } from './stand.ts';

export type Blow = {
  readonly name: string;
  /** Resolves when callers are answered again, with the function that repairs the damage. */
  strike(stand: Stand, book: Book): Promise<() => Promise<void>>;
};

const BACK_MS_MAX = 120_000;
/** Enough that every caller has had several. */
const ANSWERS_AFTER = 200;
/** Longer than the lease of the primary. */
const ETCD_AWAY_MS = 40_000;

const answered = (book: Book): Promise<void> => book.moreAnswers(ANSWERS_AFTER, BACK_MS_MAX);

export const BLOWS: readonly Blow[] = [
  {
    name: 'kill -9 of the primary and its Patroni',
    async strike(stand, book) {
      const primary = await stand.primary();
      await primary.kill();
      await answered(book);
      return () => Promise.resolve(primary.start());
    },
  },
  {
    name: 'kill -9 of the primary alone',
    async strike(stand, book) {
      (await stand.primary()).signalPostgres('SIGKILL');
      await answered(book);
      return () => Promise.resolve();
    },
  },
  {
    name: 'planned switchover',
    async strike(stand, book) {
      await stand.switchover();
      await answered(book);
      return () => Promise.resolve();
    },
  },
  {
    name: 'the primary frozen, and awake when another one is the primary',
    async strike(stand, book) {
      const primary = await stand.primary();
      const cutOff = await openCutOff(primary);
      primary.freeze();
      const id = ids.next();
      const writing = cutOff.write(id);
      await answered(book);
      return async () => {
        primary.thaw();
        const acknowledged = await writing;
        await stand.whole();
        if (acknowledged && !(await has(await stand.primary(), id))) {
          book.faults.push('the frozen primary acknowledged what the next one does not have');
        }
      };
    },
  },
  {
    name: 'a standby frozen',
    async strike(stand, book) {
      const standby = must((await stand.standbys())[0], 'a standby');
      standby.freeze();
      await answered(book);
      return () => Promise.resolve(standby.thaw());
    },
  },
  {
    name: 'two of three etcd frozen for 40 s',
    async strike({ etcd }, book) {
      const most = etcd.nodes.slice(1);
      for (const node of most) node.signal('SIGSTOP');
      await Bun.sleep(ETCD_AWAY_MS);
      await answered(book);
      return async () => {
        for (const node of most) node.signal('SIGCONT');
      };
    },
  },
];

/**
 * A client is connected to the primary directly, past HAProxy, and writes while the primary is
 * frozen. When the primary wakes, it reads this write before it knows that it was replaced. It must
 * not acknowledge a write that the next primary lacks.
 */
async function openCutOff({ url }: Member): Promise<CutOff> {
  const sql = openPool(url, { max: 1, applicationName: 'cut off' });
  await sql`create table if not exists cut_off (id uuid)`;
  return {
    async write(id) {
      try {
        await sql`insert into cut_off values (${id})`;
        return true;
      } catch {
        return false;
      } finally {
        sql.end({ timeout: 1 }).catch(() => undefined);
      }
    },
  };
}

type CutOff = {
  /** Whether it was acknowledged. */
  write(id: string): Promise<boolean>;
};

async function has({ url }: Member, id: string): Promise<boolean> {
  const sql = openPool(url, { max: 1, applicationName: 'failover' });
  try {
    return (await sql`select 1 from cut_off where id = ${id}`).length > 0;
  } finally {
    await sql.end();
  }
}
