// A process that runs the embedded services on DATA_DIR (its argument) until it is killed: the
// tests kill it, and it holds DATA_DIR when they start a second one. Prints one line when it is
// ready.
import { openServices } from '../../src/platform/embedded/services.ts';

const log = { warn: () => undefined, error: () => undefined };
const dataDir = process.argv[2] ?? '';
try {
  await openServices({ databaseUrl: undefined, redisUrl: undefined, dataDir }, log);
  console.log('ready');
} catch (error) {
  console.log(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
