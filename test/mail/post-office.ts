// A mail server on this machine that answers as it is told, and reads the mails that it takes.
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { MailSettings } from '../../src/platform/smtp-settings.ts';
import { until } from '../support/until.ts';

/** The code of an answer; `hang` never answers; `drop` closes the connection. */
type Answer = 250 | 421 | 450 | 550 | 554 | 'hang' | 'drop';

export type PostOffice = {
  readonly url: string;
  /** All accepted mails, the oldest first. */
  readonly taken: Taken[];
  /** The named recipients in order, accepted or not. */
  readonly named: string[];
  /** Recipients whose data is in flight without an answer. */
  readonly pending: string[];
  /** Its answer to a recipient, and to the end of a mail. */
  rcpt: (to: string) => Answer;
  data: (to: string) => Answer;
  /** The mails to this address, once there are this many. */
  to(address: string, count?: number): Promise<Taken[]>;
  /** Every mail that it has accepted is in `taken`. */
  read(): Promise<void>;
  stop(): Promise<void>;
};

export type Taken = ParsedMail & { readonly recipient: string; readonly raw: string };

export const FROM = 'billing@tollhouse.example';

export function mailSettings({ url }: PostOffice): MailSettings {
  const port = Number(new URL(url).port);
  const server = { host: '127.0.0.1', port, secure: false, login: null };
  return { server, from: { name: null, address: FROM } };
}

export async function openPostOffice(port = 0): Promise<PostOffice> {
  const taken: Taken[] = [];
  const named: string[] = [];
  const pending: string[] = [];
  const reading: Promise<void>[] = [];
  const parse = async (raw: Buffer, recipient: string): Promise<void> => {
    const mail = await simpleParser(raw);
    taken.push({ ...mail, recipient, raw: raw.toString() });
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onRcptTo({ address }, session, callback) {
      named.push(address);
      answer(office.rcpt(address), { callback, end: () => endOf(session.id) });
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const recipient = session.envelope.rcptTo[0]?.address ?? '';
        const raw = Buffer.concat(chunks);
        pending.push(recipient);
        const code = office.data(recipient);
        if (code !== 'hang') pending.splice(pending.indexOf(recipient), 1);
        if (code === 250) reading.push(parse(raw, recipient));
        answer(code, { callback, end: () => endOf(session.id) });
      });
    },
  });
  // A client that disconnects is no error here.
  server.on('error', () => undefined);
  const endOf = (id: string): void => {
    for (const connection of server.connections) {
      if ((connection as unknown as { id: string }).id === id) connection.close();
    }
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, '127.0.0.1', resolve);
  await promise;
  const office: PostOffice = {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    taken,
    named,
    pending,
    rcpt: () => 250,
    data: () => 250,
    async to(address, count = 1) {
      const of = (): Taken[] => taken.filter(({ recipient }) => recipient === address);
      await until(`${count} mails to ${address}`, () => of().length >= count);
      return of();
    },
    async read() {
      await Promise.all(reading);
    },
    stop() {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      return stopped.promise;
    },
  };
  return office;
}

function answer(
  code: Answer,
  { callback, end }: { callback: (error?: Error) => void; end: () => void },
): void {
  if (code === 250) callback();
  else if (code === 'drop') end();
  else if (code !== 'hang') callback(Object.assign(new Error('not now'), { responseCode: code }));
}
