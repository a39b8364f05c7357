// Both sides prove that they hold the secret, and neither sends it.
//
//   asker    upgrade: its address, the one that it dialled, a nonce, proof('upgrade')     without it nobody gets a connection
//   answerer its own nonce, proof('answerer')                                             it is no stranger at this address
//   asker    proof('asker')                                                               it is not an upgrade that was recorded
//
// Each proof says which of the three it is, and is of both addresses; who answers takes only what
// was dialled by its own, the NODE_ADDRESS that the others know, wherever it listens. So a stranger
// at the address of a node that is gone (on one machine, whoever binds its port) cannot pass a
// handshake on to another node, and then speak for the asker: that node was not dialled. The last
// two are of both nonces. No clock is compared and no nonce remembered: each side has put in a
// number that it never used before. It does not encrypt, nor sign what follows: nodes talk over a
// network that is theirs. Whoever is on the way between two that live passes their proofs on
// unchanged, and from then on reads what they say and says anything.
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

  /** In a time that does not depend on how much of it is right. */
  holds(proof: string, of: ProofOf, said: readonly string[]): boolean {
    const given = Buffer.from(proof);
    const expected = Buffer.from(this.prove(of, said));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
