import { NotOwner } from '../actor/own-slots.ts';
import { LedgerUnavailable, type SharedClock, TooSlow } from '../ports.ts';
import type { OpArguments, OpName } from './ops.ts';

/**
 * What one node asks of another. Each request begins with the sender's time (`SharedClock.wall`).
 */
export type Request = PeerRequest | PeerPublication | Look;

/** Run this op if you own the slot. */
export type PeerRequest<N extends OpName = OpName> = {
  readonly [K in N]: readonly [
    at: number,
    slot: number,
    name: K,
    args: OpArguments<K>,
    isRepeat: boolean,
  ];
}[N];
/** Something that every node must know (`Broadcast`). */
export type PeerPublication = readonly [at: number, 'told', what: unknown];
/** The owners of slots may have changed: read them again. */
export type Look = readonly [at: number, 'look'];

/** The value and the replier's time; why it cannot answer now; or an error, a bug or lost I/O. */
export type PeerReply = readonly [value: unknown, at: number] | string | Failed;
type Failed = { readonly message: string; readonly code: unknown };

const TOO_SLOW = 'too_slow';

/** On the wire: the node does not own the slot. */
export const MOVED = 0;

/** Synchronous where `run` is. */
export function replyTo(
  orgClock: SharedClock,
  run: () => unknown,
): PeerReply | typeof MOVED | Promise<PeerReply | typeof MOVED> {
  try {
    const result = run();
    return result instanceof Promise ? replyLater(orgClock, result) : [result, orgClock.wall()];
  } catch (error) {
    return failed(error);
  }
}

/** @throws LedgerUnavailable, TooSlow */
export function valueOf(reply: PeerReply, orgClock: SharedClock): unknown {
  if (typeof reply === 'string') throw new LedgerUnavailable(reply);
  if ('message' in reply && reply.code === TOO_SLOW) throw new TooSlow(reply.message);
  if ('message' in reply) throw Object.assign(new Error(reply.message), { code: reply.code });
  orgClock.observe(reply[1]);
  return reply[0];
}

async function replyLater(
  orgClock: SharedClock,
  result: Promise<unknown>,
): Promise<PeerReply | typeof MOVED> {
  try {
    return [await result, orgClock.wall()];
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): PeerReply | typeof MOVED {
  if (error instanceof NotOwner) return MOVED;
  if (error instanceof TooSlow) return { message: error.message, code: TOO_SLOW };
  if (error instanceof LedgerUnavailable) return error.message;
  const { message, code } = error as Failed;
  return { message, code: typeof code === 'string' ? code : null };
}
