// The first start on an empty DATA_DIR, where another program has its port.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bind, unbind } from '../../src/platform/net/listen.ts';
import { temporaryDataDir } from './fixture.ts';

const MAIN = join(import.meta.dir, '../../src/main.ts');
const HOST = '127.0.0.1';

let data: ReturnType<typeof temporaryDataDir>;
beforeAll(() => {
  data = temporaryDataDir(0o755);
});
afterAll(() => data.remove());

function start(port: number) {
  const { DATABASE_URL: _, REDIS_URL: __, METRICS_PORT: ___, ...env } = process.env;
  return Bun.spawn([process.execPath, MAIN], {
    env: { ...env, HOST, PORT: String(port), DATA_DIR: data.dataDir },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

test('a first start on a taken port makes nothing, and the next one shows the key', async () => {
  const other = await bind({ port: 0, host: HOST });
  const { port } = other.address() as AddressInfo;
  const refused = start(port);
  const [said, printed] = await Promise.all([refused.stderr.text(), refused.stdout.text()]);
  expect(await refused.exited).toBe(1);
  expect(printed).not.toContain('svc_test_');
  const lines = said.trim().split('\n');
  expect(lines.at(-1)).toMatch(new RegExp(`^cannot listen on port ${port}: .*PORT=`));

  await unbind(other);
  const started = start(port);
  let shown = '';
  for await (const bytes of started.stdout) {
    shown += new TextDecoder().decode(bytes);
    if (shown.includes('/docs')) break;
  }
  const key = /svc_test_[0-9A-Za-z]{43}/.exec(shown)?.[0];
  const reply = await fetch(`http://${HOST}:${port}/organization`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(reply.status).toBe(200);
  started.kill('SIGTERM');
  expect(await started.exited).toBe(0);
}, 180_000);
