// `bun run worker` as a process: when it does not start, and when it ends.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKER_COMMAND, workerEnvironment } from '../../chaos/worker-process.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let dataDir: string;
beforeAll(async () => {
  server = await startServer();
  dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-worker-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function start(command: readonly string[], env: Record<string, string> = {}) {
  return Bun.spawn([...command], {
    env: { ...process.env, ...workerEnvironment(server.databaseUrl, dataDir), ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

/** Reads on until the output contains it. */
async function said(output: AsyncIterator<Uint8Array>, word: string): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(word)) {
    const { done, value } = await output.next();
    if (done === true) throw new Error(`it never said ${word}:\n${text}`);
    text += decoder.decode(value, { stream: true });
  }
}

test('a worker process whose parent is gone stops as if it were told to', async () => {
  // As npx does: the shell does not pass on the exit code.
  const runner = start(['sh', '-c', '"$@"; exit', 'sh', ...WORKER_COMMAND], {
    npm_command: 'exec',
  });
  const output = runner.stdout[Symbol.asyncIterator]();
  await said(output, 'delivering');
  runner.kill('SIGKILL');
  await said(output, 'stopped');
  expect([...(await server.sql`select from delivery_workers`)]).toEqual([]);
}, 60_000);

test('a worker process that could not sign says so and does not start', async () => {
  const body = { url: 'http://localhost:4000/', event_types: ['customer.created'] };
  expect((await server.call('POST', '/webhook-endpoints', { body })).status).toBe(201);
  const worker = start(WORKER_COMMAND, { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') });
  expect(await worker.exited).toBe(1);
  expect(await new Response(worker.stderr).text()).toBe(
    'the secrets in the database were encrypted with another key: set SECRETS_KEY to that one\n',
  );
}, 60_000);
