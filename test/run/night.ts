// The night run: what takes hours, and is run by hand or on a schedule. Its files first (many
// seeds, soaks), then the commands below, each whether or not what came before has failed.

/** Many seeds, or hours. */
export const isNight = (file: string): boolean => file.endsWith('.night.test.ts');

/** Arguments of `bun`. The benchmark in its shortest form shows that all of it works. */
export const NIGHT_COMMANDS: readonly (readonly string[])[] = [
  ['run', 'mutate'],
  ['run', 'bench', '--quick'],
];

export interface Ran {
  readonly command: string;
  readonly code: number;
  readonly ms: number;
}

export async function runCommand(args: readonly string[], signal: AbortSignal): Promise<Ran> {
  const command = ['bun', ...args].join(' ');
  console.log(`\n=== ${command}`);
  const began = performance.now();
  const child = Bun.spawn([process.execPath, ...args], {
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  const onAbort = () => child.kill(signal.reason as NodeJS.Signals);
  signal.addEventListener('abort', onAbort);
  await child.exited;
  signal.removeEventListener('abort', onAbort);
  return { command, code: child.exitCode ?? 1, ms: performance.now() - began };
}
