// The ledger alone: no HTTP, and a storage that answers at once. Each case is a process of its own.
import { LEDGER_CASES } from './cases.ts';

const ALONE = Bun.fileURLToPath(import.meta.resolve('./alone.ts'));
/** Until the code is compiled. */
const WARM_UP_MS = 3000;
/** Memory grows with each event while nothing is collected. */
const COUNTED_EVENTS = 50_000;
const WARM_UP_EVENTS = 150_000;

export type LedgerCost = {
  readonly name: string;
  /** Processor time of one event or check, of all threads, in microseconds: one for each round. */
  readonly us: readonly number[];
  /** What one of them allocates. */
  readonly bytes: number;
};

export async function runLedger(options: {
  readonly rounds: number;
  readonly measureMs: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}): Promise<LedgerCost[]> {
  const { rounds, measureMs, signal, say } = options;
  const costs: LedgerCost[] = [];
  for (const { name } of LEDGER_CASES) {
    say(`ledger: ${name}`);
    const us: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      us.push((await runAlone([name, 'ms', WARM_UP_MS, measureMs], {}, signal)).us);
    }
    const counting = [name, 'events', WARM_UP_EVENTS, COUNTED_EVENTS];
    const { bytes } = await runAlone(counting, { BUN_JSC_useGC: '0' }, signal);
    costs.push({ name, us, bytes });
  }
  return costs;
}

async function runAlone(
  args: readonly (string | number)[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly us: number; readonly bytes: number }> {
  const child = Bun.spawn([process.execPath, ALONE, ...args.map(String)], {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
    signal,
  });
  const said = await child.stdout.text();
  signal.throwIfAborted();
  if ((await child.exited) !== 0) throw new Error('the ledger alone failed');
  return JSON.parse(said) as { us: number; bytes: number };
}
