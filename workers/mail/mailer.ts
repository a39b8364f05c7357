// The mailer: claims mails, writes the letters, sends them, and records the outcomes.
//
// How it works: whoever owes mails tells, and the mailer also looks every second.
// Holds: PostgreSQL is the truth; Redis has no part in it. A mail is sent at least once. It is sent
// twice only where a process died, or lost the database for minutes, between the server's answer
// and its row: then with the same Message-ID. Only a few mails of one organisation are in flight,
// so that a slow one does not hold up the others, and a few more of a process.
// Does not: keep an order between mails.
import { type Ids, type Log, pause, type Timers } from '../../ledger/ports.ts';
import { Tally } from '../../ledger/kernel/tally.ts';
import { asksForPayment, isOutOfDate, letterOf, sellerOf } from '../../src/mail/letter.ts';
import { oneLine } from '../../src/mail/render.ts';
import type { InvoiceLinks } from '../../src/invoices/links.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import type { Channel } from '../../src/platform/postgres/tell.ts';
import { isMailAddress } from '../../src/platform/smtp-settings.ts';
import { Sweep } from '../../src/platform/background/sweep.ts';
import { findInvoice } from '../../src/records/invoices.ts';
import {
  claimMails,
  type DueMail,
  giveUpMails,
  type MailVerdict,
  settleMail,
} from '../../src/records/mails.ts';
import { findOrganisation } from '../../src/records/organisations.ts';
import { tenantOf } from '../../ledger/kernel/tenant.ts';
import { type Backoff, waitAfter } from '../backoff.ts';
import type { PortalLinks } from './portal-links.ts';
import type { Outgoing, Smtp } from './smtp.ts';

/** Over the day in which a mail is tried, these are about 100 tries. */
const BACKOFF: Backoff = { baseMs: 15_000, waitMsMax: 900_000 };
const CHANNEL: Channel = 'tollhouse_mails';
const SWEEP_MS = 1000;
/** In flight, of this process. */
const IN_FLIGHT_MAX = 16;
const IN_FLIGHT_OF_ONE_MAX = 4;
/**
 * How long the SMTP server's answer is kept while the database does not take it: the claim lasts no
 * longer.
 */
const SETTLE_TRIES_MAX = 60;
const SETTLE_AGAIN_MS = 1000;
/** Mails given up in one look, and how many of them the log names. */
const GIVEN_UP_STATEMENTS_MAX = 20;
const NAMED_MAX = 20;
/** Mails in flight may be sent while we stop; the others are due again. */
const DRAIN_MS_MAX = 5000;

export type MailerDeps = {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly timers: Timers;
  readonly log: Log;
  readonly smtp: Smtp;
  readonly links: InvoiceLinks;
  readonly portalLinks: PortalLinks;
  readonly appUrl: string;
  /** 0 to 1. */
  readonly random: () => number;
  readonly onAttempt: (result: 'sent' | 'refused' | 'deferred' | 'given_up', count: number) => void;
};

export class Mailer {
  readonly #deps: MailerDeps;
  readonly #sweep: Sweep;
  /** Organisations of the mails in flight. */
  readonly #inFlight = new Tally();
  readonly #sending = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  /** The organisation that had the last turn. */
  #last: string | null = null;
  #filling: Promise<void> | null = null;
  /** Told of mails while it was claiming: that claim may have missed them. */
  #isAsked = false;
  #unlisten: () => Promise<void> = () => Promise.resolve();
  /** Whether the last mail has to be tried again. */
  #isDeferring = false;
  #closed = false;

  constructor(deps: MailerDeps) {
    this.#deps = deps;
    this.#sweep = new Sweep({
      timers: deps.timers,
      everyMs: SWEEP_MS,
      work: () => this.#look(),
      failed: (error) => deps.log.warn({ err: error }, 'due mails could not be looked up'),
    });
  }

  async open(): Promise<void> {
    const listening = await this.#deps.sql.listen(CHANNEL, () => {
      this.#isAsked = true;
      // Where it fails, the sweep looks again.
      this.#fill().catch(() => undefined);
    });
    this.#unlisten = () => listening.unlisten();
    this.#sweep.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    const cancel = this.#deps.timers.after(DRAIN_MS_MAX, () => this.#abort.abort());
    await this.#filling;
    await Promise.all(this.#sending);
    await this.#unlisten().catch(() => undefined);
    cancel();
  }

  async #look(): Promise<void> {
    for (let left = GIVEN_UP_STATEMENTS_MAX; left > 0; left -= 1) {
      if ((await this.#giveUp()) === 0) break;
    }
    await this.#fill();
  }

  async #giveUp(): Promise<number> {
    const { sql, log, onAttempt } = this.#deps;
    const late = await giveUpMails(sql);
    if (late.length > 0) {
      log.warn(
        { count: late.length, mails: late.slice(0, NAMED_MAX) },
        'mails failed after all retries',
      );
      onAttempt('given_up', late.length);
    }
    return late.length;
  }

  /**
   * Claims until nothing is due, or the bound in flight is reached. One claim at a time: each
   * starts after the last one's organisations.
   */
  #fill(): Promise<void> {
    return (this.#filling ??= this.#claimWhileAsked().finally(() => (this.#filling = null)));
  }

  async #claimWhileAsked(): Promise<void> {
    do {
      this.#isAsked = false;
      await this.#claimAll();
    } while (this.#isAsked && !this.#closed);
  }

  async #claimAll(): Promise<void> {
    const { sql, ids } = this.#deps;
    for (;;) {
      const free = IN_FLIGHT_MAX - this.#sending.size;
      if (this.#closed || free <= 0) return;
      const busy = this.#inFlight.atLeast(IN_FLIGHT_OF_ONE_MAX);
      const claim = ids.next();
      const mails = await claimMails(sql, { claim, atMost: free, busy, after: this.#last });
      for (const mail of mails) this.#take(mail, claim);
      if (mails.length === 0 && this.#last === null) return;
      const furthest = mails
        .map(({ organisationId }) => organisationId)
        .toSorted()
        .at(-1);
      // At the end it begins again.
      this.#last = mails.length < free ? null : (furthest ?? null);
    }
  }

  #take(mail: DueMail, claim: string): void {
    const { organisationId: whose } = mail;
    this.#inFlight.add(whose);
    const sending = this.#send(mail, claim)
      .catch((error: unknown) => this.#deps.log.error({ err: error, mail: mail.id }, 'a mail'))
      .finally(() => {
        this.#inFlight.remove(whose);
        this.#sending.delete(sending);
        // There may be more. Where this fails, the sweep looks again.
        this.#fill().catch(() => undefined);
      });
    this.#sending.add(sending);
  }

  async #send(mail: DueMail, claim: string): Promise<void> {
    const { smtp, random, log, onAttempt } = this.#deps;
    const { id, kind, attempts } = mail;
    const outgoing = await this.#write(mail);
    if (outgoing === null) return this.#settle(mail, claim, { kind: 'dropped' });
    const outcome = isMailAddress(mail.recipient)
      ? await smtp.send(outgoing, this.#abort.signal)
      : ({ kind: 'refused', error: 'no address' } as const);
    const isDeferred = outcome.kind === 'deferred';
    // Logs the first failure of an outage, and not every mail.
    if (outcome.kind === 'refused' || (isDeferred && !this.#isDeferring)) {
      const { error } = outcome;
      log.warn({ mail: id, about: kind, attempts, error }, `a mail is ${outcome.kind}`);
    }
    this.#isDeferring = isDeferred;
    onAttempt(outcome.kind, 1);
    const waitMs = this.#closed ? 0 : waitAfter(BACKOFF, attempts, random());
    const { kind: result } = outcome;
    const verdict = result === 'deferred' ? { kind: result, waitMs } : { kind: result };
    await this.#settle(mail, claim, verdict);
  }

  async #write(mail: DueMail): Promise<Outgoing | null> {
    const { sql, links, portalLinks, appUrl } = this.#deps;
    const { invoiceId } = mail;
    const organisation = await findOrganisation(sql, tenantOf(mail));
    const invoice = invoiceId === null ? null : await findInvoice(sql, tenantOf(mail), invoiceId);
    if (isOutOfDate(mail, invoice)) return null;
    const customerId = asksForPayment(mail) ? (invoice?.customerId ?? null) : null;
    const portal = customerId === null ? null : await portalLinks.linkOf(mail, customerId);
    const link =
      invoiceId === null ? null : `${appUrl}/api/invoices/links/open/${links.tokenOf(invoiceId)}`;
    const letter = letterOf({ mail, organisation, invoice, link, portal, appUrl });
    const { name, email } = sellerOf({ invoice, organisation });
    const fromName = oneLine(name);
    const answers = organisation.branding.supportEmail ?? email;
    const replyTo = answers && isMailAddress(answers) ? { name: fromName, address: answers } : null;
    return { ...letter, id: mail.id, to: mail.recipient, fromName, replyTo };
  }

  async #settle(mail: DueMail, claim: string, verdict: MailVerdict): Promise<void> {
    const { sql, timers } = this.#deps;
    for (let tries = 1; ; tries += 1) {
      try {
        await settleMail(sql, { id: mail.id, claim }, verdict);
        return;
      } catch (error) {
        if (this.#closed || tries >= SETTLE_TRIES_MAX) throw error;
        await pause(timers, SETTLE_AGAIN_MS);
      }
    }
  }
}
