// `tollhouse ingest` into the real service. As a process, and killed: ingest.long.test.ts, and once
// in program.test.ts. Of two runs at once one has the file: lock.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type InProcess, openInProcess } from './in-process.ts';
import { event, ingestsFiles, newCustomer, prepare, rowsOf, stateOf } from './ingest.ts';

let server: TestServer;
let runner: InProcess;
beforeAll(async () => {
  server = await startServer();
  runner = openInProcess(server);
  await prepare(server);
});
afterAll(async () => {
  runner.close();
  await server.stop();
});

ingestsFiles(() => ({ server, runner }), 'here');

/** Good lines, and one bad one in a hundred. */
const linesOf = (customer: string, count: number) =>
  Array.from({ length: count }, (_, at) => event(customer, at % 100 === 0 ? 'much' : 1));

test('tollhouse ingest resumes from any state on disk: nothing is counted or rejected twice', async () => {
  const used = await newCustomer(server, 'kept');
  const path = runner.path('kept.ndjson');
  const lines = linesOf('kept', 6000);
  writeFileSync(path, `${lines.slice(0, 3000).join('\n')}\n`);
  await runner.run(['ingest', path]);
  const early = readFileSync(`${path}.tollhouse`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  await runner.run(['ingest', path]);
  // As it is where the run was killed before it wrote the later state.
  writeFileSync(`${path}.tollhouse`, early);
  const again = await runner.run(['ingest', path, '--json']);
  expect(again.json()).toMatchObject({ lines: 6000, inserted: 2970, duplicates: 2970 });
  expect(rowsOf(`${path}.rejected.ndjson`)).toHaveLength(60);
  expect(await used()).toEqual({ units: 5940, calls: 5940 });
});

test('tollhouse ingest ends in good order at Ctrl-C, and goes on in the next run', async () => {
  const used = await newCustomer(server, 'stopped');
  const path = runner.path('stopped.ndjson');
  writeFileSync(path, `${event('stopped')}\n`.repeat(10_000));
  const running = runner.start(['ingest', path]);
  await until('it began', async () => (await used()).calls > 0);
  running.interrupt();
  const stopped = await running.ended;
  expect(stopped.exitCode).toBe(1);
  expect(stopped.stderr).toMatch(/^stopped behind line [\d,]+; run it again to go on\n$/);
  expect(stateOf(path)!.lines).toBeLessThan(10_000);
  expect((await runner.run(['ingest', path])).exitCode).toBe(0);
  expect(await used()).toEqual({ units: 10_000, calls: 10_000 });
});

test('tollhouse ingest draws a bar on a terminal of how far it is', async () => {
  await newCustomer(server, 'shown');
  const path = runner.path('shown.ndjson');
  writeFileSync(path, `${event('shown')}\n`.repeat(3000));
  const { stdout, stderr } = await runner.run(['ingest', path], { isTerminal: true });
  expect(stderr).toMatch(/[█░]{24} {2} *\d+ % {2}[\d,]+ lines {2}[\d,]+\/s/);
  expect(stdout).toContain('3,000 lines: 3,000 recorded');
});
