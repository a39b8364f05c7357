import { NotOwner } from '../actor/own-slots.ts';
import { LedgerUnavailable, type SharedClock, TooSlow } from '../ports.ts';
import type { OpName } from './ops.ts';

/** What nodes ask of each other. All of it begins with the asker's time (`SharedClock.wall`). */
export type Request = PeerRequest | PeerPublication | Look;

/** Run this op, if the slot is yours. */
export type PeerRequest = readonly [
  at: number,
  slot: number,
  name: OpName,
  args: readonly unknown[],
  isRepeat: boolean,
];
/** Something that all nodes must know (`Others`). */
export type PeerPublication = readonly [at: number, 'told', what: unknown];
/** Look again who owns what. */
export type Look = readonly [at: number, 'look'];

/** The value, and the time of whoever answers; why it cannot answer now; or what went wrong there, a bug or lost I/O. */
export type PeerReply = readonly [value: unknown, at: number] | string | Failed;
type Failed = { readonly message: string; readonly code: unknown };

const TOO_SLOW = 'too_slow';

/** The slot is not that node's. */
export const MOVED = 0;

/** Without a promise where the result has none. */
export function answering(
  orgClock: SharedClock,
  run: () => unknown,
): PeerReply | typeof MOVED | Promise<PeerReply | typeof MOVED> {
  try {
    const result = run();
    return result instanceof Promise ? later(orgClock, result) : [result, orgClock.wall()];
  } catch (error) {
    return refused(error);
  }
}

/** @throws LedgerUnavailable, TooSlow */
export function answerOf(answer: PeerReply, orgClock: SharedClock): unknown {
  if (typeof answer === 'string') throw new LedgerUnavailable(answer);
  if ('message' in answer && answer.code === TOO_SLOW) throw new TooSlow(answer.message);
  if ('message' in answer) throw Object.assign(new Error(answer.message), { code: answer.code });
  orgClock.observe(answer[1]);
  return answer[0];
}

async function later(
  orgClock: SharedClock,
  result: Promise<unknown>,
): Promise<PeerReply | typeof MOVED> {
  try {
    return [await result, orgClock.wall()];
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): PeerReply | typeof MOVED {
  if (error instanceof NotOwner) return MOVED;
  if (error instanceof TooSlow) return { message: error.message, code: TOO_SLOW };
  if (error instanceof LedgerUnavailable) return error.message;
  const { message, code } = error as Failed;
  return { message, code: typeof code === 'string' ? code : null };
}
