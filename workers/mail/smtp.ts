// One mail handed over to the SMTP server, on a connection of its own, and what the server made of it.
//
// Holds: an attempt ends at its deadline, whatever the server does, and its connection with it. It never throws for what a server does.
// A login goes over TLS only, but on this machine. What the server says is not kept: it repeats addresses.
import { createTransport } from 'nodemailer';
import type { MailSettings } from '../../src/platform/smtp-settings.ts';
import type { Letter } from '../../src/mail/letter.ts';

const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

export type Outgoing = Letter & {
  /** Names the mail: it follows from it, so that one that comes twice is seen to be the same. */
  readonly id: string;
  readonly to: string;
  /** Who sells: whom it is from, where MAIL_FROM has no name. */
  readonly fromName: string;
  readonly replyTo: { readonly name: string; readonly address: string } | null;
};

/** `refused`: the server says for good that it does not take this mail. Everything else may be different the next time. */
export type Handed =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused' | 'deferred'; readonly error: string };

export type Smtp = {
  hand(mail: Outgoing, signal: AbortSignal): Promise<Handed>;
};

export function openSmtp({ server, from }: MailSettings, deadlineMs: number = DEADLINE_MS): Smtp {
  const { host, port, secure, login } = server;
  const isLocal = LOOPBACK.test(host);
  const transport = createTransport({
    host,
    port,
    secure,
    ...(login !== null && { auth: login }),
    // A server on this machine rarely has a certificate that anybody signed.
    ...(isLocal ? { ignoreTLS: true } : { requireTLS: login !== null }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    // The deadline ends it.
    socketTimeout: 2 * deadlineMs,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    async hand({ id, to, subject, text, html, fromName, replyTo }, signal) {
      try {
        await transport.sendMail({
          messageId: `<${id}@${domain}>`,
          from: { name: from.name ?? fromName, address: from.address },
          to: { name: '', address: to },
          ...(replyTo !== null && { replyTo }),
          subject,
          text,
          html,
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
        });
        return { kind: 'sent' };
      } catch (error) {
        return judge(error);
      }
    },
  };
}

/** What nodemailer says of an error. */
type SmtpError = {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
};

/** Of this mail alone: a server that does not know us, or our sender, is put right by who runs this. */
const ABOUT_THE_MAIL = ['RCPT TO', 'DATA'];

function judge(thrown: unknown): Handed {
  if (!(thrown instanceof Error)) throw thrown;
  const { code, command, responseCode } = thrown as SmtpError;
  const error = [code, command, responseCode].filter((part) => part !== undefined).join(' ');
  const isOfMail = command !== undefined && ABOUT_THE_MAIL.includes(command);
  const isFinal = (responseCode ?? 0) >= 500 && isOfMail;
  const isUnfit = code === 'EENVELOPE' && command === 'API';
  return { kind: isFinal || isUnfit ? 'refused' : 'deferred', error: error || thrown.name };
}
