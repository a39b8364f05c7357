// The SMTP server and the sender of mails, from the environment.

export type SmtpServer = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on (smtps). */
  readonly secure: boolean;
  /** null: without a login. */
  readonly login: { readonly user: string; readonly pass: string } | null;
};

export type Mailbox = { readonly name: string | null; readonly address: string };

export type MailSettings = { readonly server: SmtpServer; readonly from: Mailbox };

const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };
/** A path, a query and a fragment have no meaning here, so they are refused. */
const NOTHING_MORE = /^\/?$/;
const ADDRESS = /^[^\s@<>()",;:\\[\]]{1,64}@[^\s@<>()",;:\\[\]]{1,255}$/u;
const CONTROL = /\p{Cc}/u;
const MAILBOX_LENGTH_MAX = 320;

/** smtp://user:password@host:port or smtps://...; null for anything else. */
export function parseSmtpUrl(text: string): SmtpServer | null {
  const url = URL.parse(text);
  const standard = url === null ? undefined : PORTS[url.protocol];
  if (url === null || standard === undefined || url.hostname === '') return null;
  if (!NOTHING_MORE.test(url.pathname) || /[?#]/.test(text)) return null;
  if (url.username === '' && url.password !== '') return null;
  const user = decoded(url.username);
  const pass = decoded(url.password);
  if (user === null || pass === null) return null;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? standard : Number(url.port),
    secure: url.protocol === 'smtps:',
    login: user === '' ? null : { user, pass },
  };
}

/** An address, or `Name <address>`, the name in quotes or not; null for anything else. */
export function parseMailbox(text: string): Mailbox | null {
  if (text.length > MAILBOX_LENGTH_MAX || CONTROL.test(text)) return null;
  const begin = text.endsWith('>') ? text.lastIndexOf('<') : -1;
  const address = begin < 0 ? text : text.slice(begin + 1, -1);
  const name = begin < 0 ? '' : nameOf(text.slice(0, begin).trim());
  if (name === null || !isMailAddress(address)) return null;
  return { name: name === '' ? null : name, address };
}

function nameOf(text: string): string | null {
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  if (!isQuoted) return /["<>]/.test(text) ? null : text;
  return text.slice(1, -1).replaceAll(/\\(.)/g, '$1').trim();
}

/** Whether a mail can be addressed to it. Names of mailboxes and of hosts may be of any script. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text) && !CONTROL.test(text);
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
