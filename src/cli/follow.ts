import type { Cli } from './command.ts';
import type { EventEnvelope } from './event-rows.ts';
import { eventsOf } from './event-stream.ts';

/** The events of the stream. Where it is cut off, people are told. */
export function follow(
  { url, apiKey, notices }: Cli,
  of: {
    readonly after: string | undefined;
    readonly signal: AbortSignal;
    /** Called once, when the place where it begins is settled. */
    readonly onOpen?: () => Promise<void>;
  },
): AsyncGenerator<EventEnvelope> {
  return eventsOf({
    url,
    apiKey: apiKey(),
    after: of.after,
    signal: of.signal,
    onOpen: async (isFirst) => {
      if (isFirst) await of.onOpen?.();
      else await notices.line('connected again');
    },
    onLost: ({ message }) => notices.line(`${message}: connecting again`),
  });
}
