import postgres from 'postgres';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { peerSettings } from './door.ts';
import { serveLimiter, WINDOW } from './limiter.ts';

const settings = peerSettings();
// As in plain.ts.
const pool = { max: settings.pool, max_pipeline: 1 };
const sql = postgres(settings.databaseUrl, pool);
/** What the library asks of a pool, in the words of `pg`. */
const storeClient = {
  async query({ text, values = [] }: { text: string; values?: (string | number)[] }) {
    const rows = await sql.unsafe(text, values, { prepare: true });
    return { rows, rowCount: rows.count };
  },
};
const ready = Promise.withResolvers<void>();
const options = { ...WINDOW, storeClient, storeType: 'pool', tableName: 'limits' };
const limiter = new RateLimiterPostgres(options, (error) => {
  if (error === undefined) ready.resolve();
  else ready.reject(error);
});
await ready.promise;
await serveLimiter(settings, limiter);
