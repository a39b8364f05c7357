// A handshake in which both sides prove that they hold the secret without sending it.
//
//     asker    upgrade: its address, the one it dialled, a nonce, proof('upgrade')
//              without it there is no connection
//     answerer its own nonce, proof('answerer')
//              no stranger answers at this address
//     asker    proof('asker')
//              the upgrade is no recording
//
// How: each proof names its step and covers both addresses; the last two cover both nonces. The
// answerer accepts only what dialled its own address, the NODE_ADDRESS that the others know.
// Holds: a stranger at the address of a node that is gone (on one machine, any process that binds
// its port) cannot relay a handshake to another node and then speak for the asker: the asker did
// not dial that node. No clock is compared and no nonce is remembered: each side contributed a
// number that it never used before.
// Does not: encrypt or sign what follows, so nodes need a network of their own. A man in the middle
// of two live nodes can pass their proofs on, and from then on read and forge.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type ProofOf = 'upgrade' | 'answerer' | 'asker';

export const newNonce = (): string => randomBytes(16).toString('base64url');

export class Prover {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `said`: what both sides know of this connection. */
  prove(of: ProofOf, said: readonly string[]): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([of, ...said]))
      .digest('base64url');
  }

  /** Constant-time comparison. */
  holds(proof: string, of: ProofOf, said: readonly string[]): boolean {
    const given = Buffer.from(proof);
    const expected = Buffer.from(this.prove(of, said));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
