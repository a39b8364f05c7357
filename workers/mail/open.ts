// The start of the mailer: it opens its own connections and runs in this process.
//
// Who calls: the server beside its API, and main.ts in a process that only delivers.
import type { Clock, Log } from '../../ledger/ports.ts';
import type { Bounds } from '../../src/platform/bounds.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openInvoiceLinks } from '../../src/invoices/links.ts';
import { openPool } from '../../src/platform/postgres/postgres.ts';
import type { MailSettings } from '../../src/platform/smtp-settings.ts';
import { Mailer, type MailerDeps } from './mailer.ts';
import { openPortalLinks } from './portal-links.ts';
import { openSmtp } from './smtp.ts';

const POOL = 2;

export type OpenMailer = {
  /** Takes no more mails, and records the outcomes of those in flight. */
  close(): Promise<void>;
};

export async function openMailer(options: {
  readonly databaseUrl: string;
  /** Makes links to invoices and to the portal. */
  readonly secretsKey: Uint8Array;
  readonly clock: Clock;
  readonly bounds: Bounds;
  readonly mail: MailSettings;
  readonly appUrl: string;
  readonly log: Log;
  readonly onAttempt: MailerDeps['onAttempt'];
  /** The deadline of one attempt. */
  readonly deadlineMs?: number;
}): Promise<OpenMailer> {
  const { databaseUrl, secretsKey, clock, bounds, mail, deadlineMs, ...given } = options;
  const { appUrl } = given;
  const sql = openPool(databaseUrl, { max: POOL, applicationName: 'tollhouse mails' });
  const mailer = new Mailer({
    ...given,
    sql,
    ids,
    timers,
    smtp: openSmtp(mail, deadlineMs),
    links: openInvoiceLinks(secretsKey),
    portalLinks: openPortalLinks({ sql, secretsKey, bounds, clock, ids, appUrl }),
    random: Math.random,
  });
  await mailer.open();
  return {
    async close() {
      await mailer.close();
      await sql.end({ timeout: 2 });
    },
  };
}
