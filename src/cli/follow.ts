import type { Event } from '../client/types.ts';
import type { Cli } from './command.ts';

/** The events of the stream, until the signal. Where it is cut off, people are told. */
export function follow(
  { client, notices }: Cli,
  of: {
    readonly after: string | undefined;
    readonly signal: AbortSignal;
    /** Called once, when every event from then on comes. */
    readonly onOpen?: () => void;
  },
): AsyncIterable<Event> {
  const { after, signal, onOpen } = of;
  const hooked = client({
    onRetry: ({ attempt, error }) => {
      if (attempt === 1) notices.tell(`${error.message}: connecting again`);
    },
  });
  return hooked.events.stream({
    signal,
    ...(after !== undefined && { after }),
    ...(onOpen !== undefined && { onOpen }),
  });
}
