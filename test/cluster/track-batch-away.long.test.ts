// A batch of usages while an owner of a part is away, or falls silent while it records.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import type { TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { batch, consumed, customers, item, type Result, whatIsSaid } from './batches.ts';
import { type Nodes, startNodes } from './nodes.ts';

/** Longer than a call waits for an owner. */
const LEASE_MS = 5000;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(3, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls' } });
}, 60_000);
afterAll(() => nodes.stop());

const WHOLE = { 'idempotency-key': 'whole' };

test('track batch items of an owner that is away are unavailable by themselves, and count once later', async () => {
  const [steady] = nodes.all;
  const lost = await nodes.strangerTo((await ownedBy(steady!))[0]!);
  const [here, there] = [await ownedBy(steady!), await ownedBy(lost)];
  const both = [here[0]!, there[0]!, here[1]!, there[1]!];
  for (const id of both) expect(await consumed(steady!, id)).toBe(0);
  const keyed = (ids: readonly string[]) => ids.map((id) => item(id, { idempotency_key: 'away' }));
  // Its seat stays taken until its lease ends: nobody serves its customers meanwhile.
  lost.ledger.abandon();
  const checks = both.map((id) => item(id));
  const [part, asked, none] = await Promise.all([
    batch(steady!, keyed(both), WHOLE),
    steady!.call('POST', '/check/batch', { body: { checks } }),
    batch(steady!, keyed(there)),
  ]);
  const away = 'service_unavailable';
  expect([part.status, part.results.map(whatIsSaid)]).toEqual([200, [1, away, 1, away]]);
  const answers = asked.json.results as Result[];
  const isAway = answers.map(({ error }) => error?.type === away);
  expect([asked.status, isAway]).toEqual([200, [false, true, false, true]]);
  // Nothing of it can be answered: the call is refused as a single one is.
  expect(none).toEqual({ status: 503, results: [] });
  for (const id of both) await consumed(steady!, id);
  // Its first answer was not the last word, so it is not replayed.
  const again = await batch(steady!, keyed(both), WHOLE);
  expect(again.results.map(whatIsSaid)).toEqual([1, 1, 1, 1]);
  expect(again.results.map(({ duplicate }) => duplicate)).toEqual([true, false, true, false]);
  expect(await audit(steady!.sql)).toEqual([]);
}, 60_000);

/** Two customers of this node. */
async function ownedBy(node: TestServer): Promise<string[]> {
  const owned: string[] = [];
  while (owned.length < 2) {
    const [id] = await customers(nodes, 1);
    if ((await nodes.ownerOf(id!)) === node) owned.push(id!);
  }
  return owned;
}

test('track batch items that an owner recorded before it fell silent are found again', async () => {
  const [steady, ...others] = nodes.all;
  const silent = others.find(({ ledger }) => ledger.readiness().ready);
  const [id] = await ownedBy(silent!);
  const tracks = [item(id!, { idempotency_key: 'a' }), item(id!, { idempotency_key: 'b' })];
  const { journal } = silent!;
  // It records it, and does not learn that. Deaf at once, it might wait for another flush for ever.
  journal.deafenAfter(Buffer.from(id!.replaceAll('-', ''), 'hex'));
  const sent = batch(steady!, tracks);
  await until('it has sent it', () => journal.silenced > 0);
  journal.deafen();
  const first = await sent;
  expect([first.status, first.results.map(whatIsSaid)]).toEqual([503, []]);
  expect(await consumed(steady!, id!)).toBe(2);
  const again = await batch(steady!, tracks);
  expect(again.results.map(({ duplicate }) => duplicate)).toEqual([true, true]);
  journal.thaw();
  journal.cut();
  expect(await audit(steady!.sql)).toEqual([]);
}, 60_000);
