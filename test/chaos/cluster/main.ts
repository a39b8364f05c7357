// `bun run chaos`: see test/README.md. Exits with 1 on any violation.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChaosResult, runChaos } from './chaos.ts';
import { type ChaosOptions, parseOptions, USAGE } from './options.ts';

/** Kept for the search of the cause. */
function keepLogs({ logs }: ChaosResult): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollhouse-chaos-logs-'));
  for (const [name, lines] of logs) {
    writeFileSync(join(directory, `node-${name}.log`), `${lines.join('\n')}\n`);
  }
  return directory;
}

async function main(options: ChaosOptions): Promise<number> {
  const result = await runChaos(options);
  for (const line of result.lines) console.log(line);
  if (result.violations.length === 0) return 0;
  for (const line of result.violations) console.log(`VIOLATION ${line}`);
  console.log(`what the nodes logged is in ${keepLogs(result)}`);
  return 1;
}

function readOptions(): ChaosOptions | null {
  try {
    return parseOptions(process.argv.slice(2), (line) => console.log(line));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(USAGE);
    return null;
  }
}

const given = readOptions();
process.exit(given === null ? 1 : await main(given));
