// Sends one mail to the SMTP server, on a connection of its own, and judges the answer.
//
// Holds: an attempt and its connection end at the deadline. It never throws for a failure of the
// server. A login goes over TLS only, except on this machine. The server's words are not kept: they
// repeat addresses.
import { createTransport } from 'nodemailer';
import type { MailSettings } from '../../src/platform/smtp-settings.ts';
import type { Letter } from '../../src/mail/render.ts';

const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

export type Outgoing = Letter & {
  /** The Message-ID: it follows from the mail, so a repeated mail is seen to be the same. */
  readonly id: string;
  readonly to: string;
  /** The seller: the sender's name where MAIL_FROM has none. */
  readonly fromName: string;
  readonly replyTo: { readonly name: string; readonly address: string } | null;
};

/**
 * `refused`: the server will never take this mail. Any other failure may be different the next
 * time.
 */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused' | 'deferred'; readonly error: string };

export type Smtp = {
  send(mail: Outgoing, signal: AbortSignal): Promise<SendResult>;
};

export function openSmtp({ server, from }: MailSettings, deadlineMs: number = DEADLINE_MS): Smtp {
  const { host, port, secure, login } = server;
  const isLocal = LOOPBACK.test(host);
  const transport = createTransport({
    host,
    port,
    secure,
    ...(login !== null && { auth: login }),
    // A server on this machine rarely has a certificate of a known authority.
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
    async send({ id, to, subject, text, html, fromName, replyTo }, signal) {
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

/**
 * Whether it is about this mail alone. The operator can mend a server that does not accept us, or
 * our sender.
 */
const ABOUT_THE_MAIL = ['RCPT TO', 'DATA'];

function judge(thrown: unknown): SendResult {
  if (!(thrown instanceof Error)) throw thrown;
  const { code, command, responseCode } = thrown as SmtpError;
  const error = [code, command, responseCode].filter((part) => part !== undefined).join(' ');
  const isOfMail = command !== undefined && ABOUT_THE_MAIL.includes(command);
  const isFinal = (responseCode ?? 0) >= 500 && isOfMail;
  const isUnfit = code === 'EENVELOPE' && command === 'API';
  return { kind: isFinal || isUnfit ? 'refused' : 'deferred', error: error || thrown.name };
}
