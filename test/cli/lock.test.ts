// One run at a time has the lock, and one that was killed does not keep it.
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { lock } from '../../src/cli/ingest/lock.ts';

const LOCK = join(import.meta.dir, '../../src/cli/ingest/lock.ts');
const folder = mkdtempSync(join(tmpdir(), 'tollhouse-lock-'));
const started: Bun.Subprocess[] = [];
afterAll(() => {
  // Also where a test failed before it ended them.
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** A process that takes the lock, says whether it has it, and stays. */
function holder(directory: string) {
  const script = `const { lock } = await import(${JSON.stringify(LOCK)});
    console.log(await lock(${JSON.stringify(directory)}).then(() => 'has it', (e) => e.message));
    await new Promise(() => setInterval(() => {}, 1000));`;
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
  started.push(child);
  const reader = child.stdout.getReader();
  const said = reader.read().then(({ value }) => new TextDecoder().decode(value).trim());
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
  return { said, kill };
}

const place = (name: string) => join(folder, name);

test('a second lock on a file is refused until the first is released', async () => {
  const release = await lock(place('one'));
  const second = holder(place('one'));
  expect(await second.said).toStartWith(`another run has this file (process ${process.pid}); `);
  await second.kill();
  await release();
  expect(existsSync(place('one'))).toBe(false);
  await (
    await lock(place('one'))
  )();
});

test('a lock of a killed process is free', async () => {
  const first = holder(place('killed'));
  expect(await first.said).toBe('has it');
  expect(lock(place('killed'))).rejects.toThrow('another run has this file');
  await lock(place('killed')).catch(() => undefined);
  await first.kill();
  const release = await lock(place('killed'));
  expect(readdirSync(place('killed'))).toHaveLength(1);
  await release();
});

test('of many processes that find the lock of a killed one, one has it', async () => {
  const dead = holder(place('many'));
  await dead.said;
  await dead.kill();
  const all = Array.from({ length: 6 }, () => holder(place('many')));
  const said = await Promise.all(all.map((one) => one.said));
  await Promise.all(all.map((one) => one.kill()));
  expect(said.filter((text) => text === 'has it')).toHaveLength(1);
}, 30_000);

test('a lock entry of this process id from before is nobody’s', async () => {
  mkdirSync(place('container'));
  writeFileSync(join(place('container'), `${process.pid}.0123456789abcdef@${hostname()}`), '');
  await (
    await lock(place('container'))
  )();
});

test('a lock of another host is not broken, and the message says what to remove', async () => {
  mkdirSync(place('host'));
  const entry = join(place('host'), '1.0123456789abcdef@elsewhere');
  writeFileSync(entry, '');
  const refused: unknown = await lock(place('host')).catch((error: unknown) => error);
  expect(String(refused)).toContain(`(process 1 on elsewhere); if it has ended, remove ${entry}`);
  expect(readdirSync(place('host'))).toHaveLength(1);
  rmSync(entry);
  await (
    await lock(place('host'))
  )();
});
