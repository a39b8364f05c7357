// The connection is lost during a flush: the node finds the outcome by the flush's number, and
// callers get their answer.
import { until } from '../../support/until.ts';
import type { Point } from '../gate.ts';
import { type GatedNode, differs, withGatedNode } from './gated-node.ts';

const FIRST = 'held';
const QUEUED = Array.from({ length: 20 }, (_, index) => `queued-${index}`);
const KEYS = [FIRST, ...QUEUED];
const ALL_OK = KEYS.map(() => 200);

/**
 * Begins a flush of one call, holds it at `point`, queues more calls behind it, and loses the
 * connection with `lose`.
 */
async function lose(
  point: Point,
  how: 'cut' | 'cut the client',
  prepare: (node: GatedNode) => Promise<unknown>,
): Promise<string[]> {
  return withGatedNode(async (node) => {
    await prepare(node);
    const holding = node.gate.hold(point);
    const first = node.track(FIRST);
    const held = await holding;
    const queued = QUEUED.map((key) => node.track(key));
    await seenByNode(node);
    if (how === 'cut') held.cut();
    else held.cutClient();
    const statuses = await Promise.all([first, ...queued]);
    // What was held arrives at last, long after the node has continued.
    if (how !== 'cut') held.release();
    const wrong = [
      ...differs('answers', statuses, ALL_OK),
      ...differs('the flush had landed', landed(node), point === 'reply'),
    ];
    return wrong.length > 0 ? [...wrong, ...(await node.lost())] : node.violations(KEYS);
  });
}

/** An answer to a later request: everything sent before it has been read. */
async function seenByNode(node: GatedNode): Promise<void> {
  await node.check();
}

/** The node's own log of it. */
function landed({ logged }: GatedNode): boolean | undefined {
  const line = logged.find((text) => text.includes('recovered an unknown flush'));
  return line === undefined ? undefined : (JSON.parse(line) as { landed: boolean }).landed;
}

/**
 * The customer's first flush opens accounts with the long statement; later ones use the short one.
 */
const cold = async (): Promise<void> => undefined;
const warm = (node: GatedNode): Promise<number> => node.track('warm');

/**
 * Between two flushes the node gets another backend than the one with which it claimed its seat.
 */
async function onAnotherBackend(node: GatedNode): Promise<void> {
  await warm(node);
  const before = await journalBackend(node);
  node.gate.cutAll();
  await until('the backend is gone', async () => (await journalBackend(node)) === undefined);
  await node.track('reconnected');
  await until('another backend', async () => (await journalBackend(node)) !== before);
}

async function journalBackend({ sql }: GatedNode): Promise<number | undefined> {
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name like 'tollhouse journal%'`;
  return rows[0]?.pid;
}

export const lostAfterCommit = () => lose('reply', 'cut', cold);
export const lostAfterLeanCommit = () => lose('reply', 'cut', warm);
export const lostBeforeArrival = () => lose('before', 'cut', warm);
export const lostAndArrivesLate = () => lose('before', 'cut the client', warm);
export const lostWithOpenTransaction = () => lose('sync', 'cut the client', warm);
export const lostWithOpenTransactionElsewhere = () =>
  lose('sync', 'cut the client', onAnotherBackend);
