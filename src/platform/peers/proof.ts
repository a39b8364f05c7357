// Both sides prove that they hold the secret, and neither sends it.
//
//   asker    upgrade: its name, a nonce, proof('upgrade')     without it nobody gets a connection
//   answerer its own nonce, proof('answerer')                 of both nonces: it is no stranger at this address
//   asker    proof('asker')                                   of both nonces: it is not an upgrade that was recorded
//
// No clock is compared and no nonce remembered: each side has put in a number that it never used before.
// It does not encrypt, nor sign what follows: nodes talk over a network that is theirs.
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
