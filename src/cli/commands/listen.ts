// `tollhouse listen --forward-to URL`: the events of the stream, each as a signed webhook, to a
// receiver that the service cannot reach.
import { type Cli, command, EXIT, UsageError } from '../command.ts';
import { type EventEnvelope, eventLine, wanted } from '../event-rows.ts';
import { follow } from '../follow.ts';
import { type Delivery, forward } from '../forward.ts';
import { httpUrlOf, listOf } from '../values.ts';
import { isSecret, newSecret } from '../webhook.ts';

export const listen = command({
  about: 'Send events to a receiver on this machine as signed webhooks, until Ctrl-C',
  args: [],
  options: {
    'forward-to': { value: 'URL', about: 'the receiver (needed, but for --print-secret)' },
    events: { value: 'A,B', about: 'of these types alone' },
    after: { value: 'ID', about: 'begin behind this event (default: now)' },
    secret: { value: 'WHSEC', about: 'the secret to sign with (default: a new one, printed)' },
    'print-secret': { about: 'print a new secret for --secret, and end' },
  },
  notes: [
    'One event after the other. A delivery that fails is tried 3 more times within 4 seconds;',
    'then it counts as failed, and the next one follows.',
  ],
  async run(cli, { options }) {
    if (options['print-secret']) {
      await cli.out.line(newSecret());
      return EXIT.ok;
    }
    const { secret = newSecret(), events, after, 'forward-to': to } = options;
    if (to === undefined) throw new UsageError('listen needs --forward-to');
    if (!isSecret(secret)) throw new UsageError('--secret must be whsec_ and base64');
    const url = httpUrlOf('--forward-to', to, 'http://localhost:4000/webhooks');
    const isWanted = wanted('--events', listOf(events));
    const signal = cli.untilInterrupted();
    const onOpen = () => tellBegin(cli, url, secret);
    const told = { delivered: 0, failed: 0 };
    for await (const event of follow(cli, { after, signal, onOpen })) {
      if (!isWanted(event)) continue;
      const delivery = await forward(event, {
        url,
        secret,
        signal,
        pause: cli.pause,
        onFailure: (failed, waitMs) =>
          cli.notices.line(`${event.type} ${resultOf(failed)}: again in ${waitMs} ms`),
      });
      told[delivery.isDelivered ? 'delivered' : 'failed'] += 1;
      await tellDelivery(cli, event, delivery);
    }
    await tellEnd(cli, told);
    return EXIT.ok;
  },
});

function tellBegin({ out, isJson }: Cli, url: URL, secret: string): void {
  out.tell(
    isJson
      ? JSON.stringify({ kind: 'listening', forward_to: url.href, secret })
      : `forwarding to ${url.href}, signed with ${out.paint('bold', secret)}`,
  );
}

async function tellDelivery(
  { out, isJson }: Cli,
  event: EventEnvelope,
  delivery: Delivery,
): Promise<void> {
  const { isDelivered, attempts, statusCode, error, durationMs } = delivery;
  if (isJson) {
    const { id: event_id, type: event_type, data } = event;
    const row = {
      kind: 'delivery',
      event_id,
      event_type,
      object_id: data.objectId,
      status: isDelivered ? 'delivered' : 'failed',
      status_code: statusCode,
      error,
      attempts,
      duration_ms: durationMs,
    };
    return out.line(JSON.stringify(row));
  }
  const result = out.paint(isDelivered ? 'green' : 'red', resultOf(delivery));
  await out.line(`${eventLine(out, event)}  ${result}  ${durationMs} ms`);
}

const resultOf = ({ statusCode, error }: Pick<Delivery, 'statusCode' | 'error'>): string =>
  error ?? String(statusCode);

async function tellEnd(
  { out, isJson }: Cli,
  { delivered, failed }: { readonly delivered: number; readonly failed: number },
): Promise<void> {
  if (isJson) return out.line(JSON.stringify({ kind: 'summary', delivered, failed }));
  await out.line(`${delivered} delivered, ${failed} failed`);
}
