// `tollhouse events tail`: events as they happen.
import { command, EXIT } from '../command.ts';
import { eventLine, wanted } from '../event-rows.ts';
import { follow } from '../follow.ts';
import { listOf } from '../values.ts';

export const tailEvents = command({
  about: 'Print events as they happen, until Ctrl-C',
  args: [],
  options: {
    type: { value: 'A,B', about: 'of these types alone' },
    after: { value: 'ID', about: 'begin behind this event (default: now)' },
  },
  async run(cli, { options }) {
    const { out, isJson } = cli;
    const isWanted = wanted('--type', listOf(options.type));
    const signal = cli.untilInterrupted();
    for await (const event of follow(cli, { after: options.after, signal })) {
      if (!isWanted(event)) continue;
      await out.line(isJson ? JSON.stringify(event) : eventLine(out, event));
    }
    return EXIT.ok;
  },
});
