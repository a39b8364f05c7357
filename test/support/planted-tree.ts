// A copy of the program with one planted fault, and its output.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');
const COPIED = [
  'src',
  'ledger',
  'workers',
  'test/support',
  'test/ledger',
  'test/chaos',
  'test/simulation',
  'test/processors',
  'package.json',
  'tsconfig.json',
];
const RUN_MS_MAX = 30_000;

export type Fault = {
  readonly file: string;
  /** Each text must occur there exactly once, and is replaced by the other. */
  readonly replace: readonly (readonly [is: string, becomes: string])[];
};

/** A copy of the program, in a folder of its own. */
export function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-planted-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The output of a file of the program, run on a copy with the fault. */
export async function printedWith(
  fault: Fault,
  {
    main,
    args,
    msMax = RUN_MS_MAX,
  }: { readonly main: string; readonly args: readonly string[]; readonly msMax?: number },
): Promise<string> {
  const folder = copyTree();
  try {
    await plant(join(folder, fault.file), fault);
    const child = Bun.spawn([process.execPath, join(folder, main), ...args], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: msMax,
      killSignal: 'SIGKILL',
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`it did not end: ${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function plant(path: string, fault: Fault): Promise<void> {
  await Bun.write(path, withFault(await Bun.file(path).text(), fault));
}

/** The text with the fault. Throws where the code that it removes is not in it once. */
export function withFault(text: string, { file, replace }: Fault): string {
  return replace.reduce((sofar, [is, becomes]) => {
    if (sofar.split(is).length !== 2) throw new Error(`not once in ${file}: ${is}`);
    return sofar.replace(is, () => becomes);
  }, text);
}
