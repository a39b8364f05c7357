// Mails that go at once: links to sign in, and invitations. Their text has a token of which only
// the hash is stored, so they are in memory alone.
//
// How it works: a task finds out whom to write what, and the mail is sent after it. The caller does
// not wait for either, so how long an answer takes says nothing of who is known.
// Holds: at most UNDER_WAY_MAX at a time; a mail that the server does not take now is tried again
// for half a minute.
// Does not: survive the process. Whoever waits for the mail asks again.
import type { Log, Timers } from '../../ledger/ports.ts';
import type { Letter } from '../mail/render.ts';

const UNDER_WAY_MAX = 100;
const TRY_AGAIN_MS = [1000, 5000, 20_000];

export type UserMail = Letter & { readonly id: string; readonly to: string };

/** `deferred`: another time it may be taken. */
export type SendMail = (
  mail: UserMail,
  signal: AbortSignal,
) => Promise<'sent' | 'refused' | 'deferred'>;

export type UserMailerDeps = {
  /** null: no mail is sent here. */
  readonly send: SendMail | null;
  readonly timers: Timers;
  readonly log: Pick<Log, 'warn'>;
};

export class UserMailer {
  readonly #deps: UserMailerDeps;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(deps: UserMailerDeps) {
    this.#deps = deps;
  }

  /** Whether mails are sent here. */
  get isOpen(): boolean {
    return this.#deps.send !== null;
  }

  /** Sends what `write` gives; null for nothing. */
  later(write: () => Promise<UserMail | null>): void {
    const { send, log } = this.#deps;
    if (send === null) return;
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      log.warn({}, 'a mail was not written: too many are under way');
      return;
    }
    const work = this.#deliver(send, write)
      .catch((error: unknown) => log.warn({ error: String(error) }, 'a mail was not written'))
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Gives up those under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#underWay);
  }

  async #deliver(send: SendMail, write: () => Promise<UserMail | null>): Promise<void> {
    const mail = await write();
    if (mail === null) return;
    const { log } = this.#deps;
    const { signal } = this.#stop;
    for (const waitMs of [...TRY_AGAIN_MS, null]) {
      const result = await send(mail, signal);
      if (result === 'sent') return;
      if (result === 'refused' || waitMs === null || signal.aborted) break;
      await this.#pause(waitMs);
    }
    log.warn({ id: mail.id }, 'the mail server did not accept a mail to a user');
  }

  /** Until the time is over, or no more is tried. */
  #pause(ms: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const cancel = this.#deps.timers.after(ms, resolve);
      const end = (): void => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', end, { once: true });
    });
  }
}
